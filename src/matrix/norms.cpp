#include "matrix/norms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"

namespace lugpu {
namespace {

// Of `count` contiguous elements.
template <typename T>
double sum_of_magnitudes(const T* values, std::size_t count) {
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += std::abs(static_cast<double>(values[i]));
  return sum;
}

template <typename T>
double largest_magnitude(const T* values, std::size_t count) {
  // As integers magnitudes have the same order, and those of NaN come last.
  using Bits = std::conditional_t<sizeof(T) == sizeof(double), std::uint64_t, std::uint32_t>;
  Bits norm = 0;
  for (std::size_t i = 0; i < count; ++i) {
    norm = std::max(norm, std::bit_cast<Bits>(std::abs(values[i])));
  }
  return std::bit_cast<T>(norm);
}

// The lines of a view are its columns or, by rows, its rows: they are contiguous.
template <typename T>
struct Lines {
  explicit Lines(const View<const T>& view)
      : data(view.data),
        count(view.order == Order::columns ? view.columns : view.rows),
        length(view.order == Order::columns ? view.rows : view.columns),
        ld(view.ld) {}
  const T* line(std::size_t k) const { return data + k * ld; }

  const T* data;
  std::size_t count, length, ld;
};

template <typename T, typename Norm>
double largest_of_lines(const Lines<T>& lines, const Norm& norm) {
  std::vector<double> norms(lines.count);
  in_parallel(lines.count, lines.length * sizeof(T),
              [&](std::size_t k) { norms[k] = norm(lines.line(k), lines.length); });
  return std::accumulate(norms.begin(), norms.end(), 0.0, larger);
}

// The largest sum of magnitudes across the lines.
template <typename T>
double largest_cross_sum(const Lines<T>& lines) {
  constexpr std::size_t kPart = 256;  // places of a line
  std::vector<double> sums(lines.length, 0.0);
  in_parallel((lines.length + kPart - 1) / kPart, kPart * lines.count * sizeof(T),
              [&](std::size_t part) {
                const std::size_t end = std::min((part + 1) * kPart, lines.length);
                for (std::size_t k = 0; k < lines.count; ++k) {
                  const T* line = lines.line(k);
                  for (std::size_t i = part * kPart; i < end; ++i) {
                    sums[i] += std::abs(static_cast<double>(line[i]));
                  }
                }
              });
  return std::accumulate(sums.begin(), sums.end(), 0.0, larger);
}

template <typename T>
double norm_of(const View<const T>& view, bool along_lines) {
  const Lines<T> lines(view);
  return along_lines ? largest_of_lines(lines, sum_of_magnitudes<T>) : largest_cross_sum(lines);
}

// The largest norm of the entries of a row.
template <typename Norm>
double largest_of_rows(const Sparse& a, const Norm& norm) {
  constexpr std::size_t kRows = 1024;
  const std::size_t parts = (a.rows() + kRows - 1) / kRows;
  std::vector<double> norms(parts, 0.0);
  const std::size_t bytes = sizeof(double) * a.values().size();
  in_parallel(parts, bytes / std::max<std::size_t>(parts, 1), [&](std::size_t part) {
    const std::size_t end = std::min((part + 1) * kRows, a.rows());
    for (std::size_t i = part * kRows; i < end; ++i) {
      const std::int64_t begin = a.row_begin()[i];
      const auto count = static_cast<std::size_t>(a.row_begin()[i + 1] - begin);
      norms[part] = larger(norms[part], norm(a.values().data() + begin, count));
    }
  });
  return std::accumulate(norms.begin(), norms.end(), 0.0, larger);
}

}  // namespace

double larger(double a, double b) {
  if (std::isnan(a)) return a;
  return b <= a ? a : b;
}

double column_norm_1(const Matrix& a, std::size_t j) {
  return sum_of_magnitudes(a.column(j), a.rows());
}

double column_norm_max(const Matrix& a, std::size_t j) {
  return largest_magnitude(a.column(j), a.rows());
}

double norm_1(const MatrixView& a) {
  return a.visit([](const auto& view) { return norm_of(view, view.order == Order::columns); });
}

double norm_inf(const MatrixView& a) {
  return a.visit([](const auto& view) { return norm_of(view, view.order == Order::rows); });
}

double norm_max(const MatrixView& a) {
  return a.visit([](const auto& view) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(view.data)>>;
    return largest_of_lines(Lines<T>(view), largest_magnitude<T>);
  });
}

double norm_1(const Sparse& a) {
  std::vector<double> sums(a.cols(), 0.0);
  for (std::size_t k = 0; k < a.values().size(); ++k) {
    sums[static_cast<std::size_t>(a.columns()[k])] += std::abs(a.values()[k]);
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0, larger);
}

double norm_inf(const Sparse& a) {
  return largest_of_rows(a, sum_of_magnitudes<double>);
}

double norm_max(const Sparse& a) {
  return largest_of_rows(a, largest_magnitude<double>);
}

}  // namespace lugpu
