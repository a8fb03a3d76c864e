#include "accuracy/equilibrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/parallel.hpp"
#include "matrix/norms.hpp"

namespace lugpu {
namespace {

constexpr double kThreshold = 0.1;  // laqge's
// Within these a number has all its digits, and so have the products that are added to it.
constexpr double kLeastSingle = 0x1p-103, kMostSingle = 0x1p103;
constexpr double kLeastHalf = 0x1p-10;  // relative to the largest, of 2^-14 to 2^16

double smallest_normal(Precision precision) {
  return precision == Precision::double_precision ? std::numeric_limits<double>::min()
                                                  : std::numeric_limits<float>::min();
}

// 1 / size, rounded to a power of two, within the range of double.
double reciprocal(double size) {
  return std::ldexp(1.0, -std::max(std::ilogb(size), -1022));
}

// The largest sizes become scale factors; returns the smallest over the largest of them.
double to_factors(std::vector<double>& sizes) {
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  const double ratio = *least / *most;
  std::transform(sizes.begin(), sizes.end(), sizes.begin(), reciprocal);
  return ratio;
}

// Empty factors scale nothing.
template <typename T>
void scale_rows(View<T> a, const std::vector<double>& factors) {
  if (factors.empty()) return;
  for (std::size_t j = 0; j < a.columns; ++j) {
    for (std::size_t i = 0; i < a.rows; ++i) a(i, j) = static_cast<T>(a(i, j) * factors[i]);
  }
}

void scale_columns(View<double> a, const std::vector<double>& factors) {
  if (factors.empty()) return;
  for (std::size_t j = 0; j < a.columns; ++j) {
    for (std::size_t i = 0; i < a.rows; ++i) a(i, j) *= factors[j];
  }
}

// Lines are contiguous: columns or, by rows, rows. along[k]: of line k, with the places times their
// weights; across[i]: of place i, with the lines times their weights. No weights are ones.
template <typename T>
void along_lines(const T* data, std::size_t ld, const std::vector<double>& weights,
                 std::vector<double>& along, std::size_t length) {
  in_parallel(along.size(), length * sizeof(T), [&](std::size_t k) {
    const T* line = data + k * ld;
    double largest = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const double size = std::abs(static_cast<double>(line[i]));
      largest = std::max(largest, weights.empty() ? size : size * weights[i]);
    }
    along[k] = largest;
  });
}

template <typename T>
void across_lines(const T* data, std::size_t ld, const std::vector<double>& weights,
                  std::vector<double>& across, std::size_t lines) {
  constexpr std::size_t kPart = 1024;
  in_parallel(
      (across.size() + kPart - 1) / kPart, kPart * lines * sizeof(T), [&](std::size_t part) {
        const std::size_t end = std::min((part + 1) * kPart, across.size());
        for (std::size_t k = 0; k < lines; ++k) {
          const T* line = data + k * ld;
          const double weight = weights.empty() ? 1 : weights[k];
          for (std::size_t i = part * kPart; i < end; ++i) {
            across[i] = std::max(across[i], std::abs(static_cast<double>(line[i])) * weight);
          }
        }
      });
}

std::vector<double> row_sizes(const MatrixView& a) {
  std::vector<double> sizes(a.rows(), 0.0);
  a.visit([&](const auto& view) {
    if (view.order == Order::columns) {
      across_lines(view.data, view.ld, {}, sizes, view.columns);
    } else {
      along_lines(view.data, view.ld, {}, sizes, view.columns);
    }
  });
  return sizes;
}

// Of diag(weights) A.
std::vector<double> column_sizes(const MatrixView& a, const std::vector<double>& weights) {
  std::vector<double> sizes(a.cols(), 0.0);
  a.visit([&](const auto& view) {
    if (view.order == Order::columns) {
      along_lines(view.data, view.ld, weights, sizes, view.rows);
    } else {
      across_lines(view.data, view.ld, weights, sizes, view.rows);
    }
  });
  return sizes;
}

}  // namespace

Scaling equilibration(const MatrixView& a, double amax, Precision precision) {
  Scaling found;
  found.amax = amax;
  if (a.rows() == 0 || !std::isfinite(amax)) return found;
  const auto has_zero = [](const std::vector<double>& sizes) {
    return std::count(sizes.begin(), sizes.end(), 0.0) > 0;
  };
  std::vector<double> rows = row_sizes(a);
  if (has_zero(rows)) return found;
  const double rowcnd = to_factors(rows);
  std::vector<double> columns = column_sizes(a, rows);
  if (has_zero(columns)) return found;
  found.rowcnd = rowcnd;
  found.colcnd = to_factors(columns);

  const double small = smallest_normal(precision) / (2 * epsilon(precision));
  const bool extreme = found.amax < small || found.amax > 1 / small;
  if (found.rowcnd < kThreshold || extreme) found.r = std::move(rows);
  if (found.colcnd < kThreshold) found.c = std::move(columns);
  return found;
}

bool is_needed(const Scaling& advice, bool half_products) {
  if (!advice.helps()) return false;
  const double least = half_products ? kLeastHalf : 0;
  return advice.rowcnd < least || advice.colcnd < least || advice.colcnd < kLeastSingle ||
         advice.rowcnd * advice.amax < kLeastSingle || advice.amax > kMostSingle;
}

Scaling into_range(std::size_t n, double amax, Precision precision) {
  // Beyond the sizes of LAPACK's test matrices near under- and overflow.
  const int end = precision == Precision::double_precision ? 1000 : 115;
  const double most = precision == Precision::double_precision ? std::numeric_limits<double>::max()
                                                               : std::numeric_limits<float>::max();
  Scaling found;
  found.amax = amax;
  if (!(amax > 0 && amax <= most)) return found;
  const int order = std::ilogb(amax);
  if (std::abs(order) <= end) return found;
  found.r.assign(n, std::ldexp(1.0, (order > 0 ? end : -end) - order));
  return found;
}

Matrix scaled_matrix(const Scaling& scaling, const MatrixView& a) {
  Matrix result = widened(a);
  scale_rows(result.view(), scaling.r);
  scale_columns(result.view(), scaling.c);
  return result;
}

Matrix scaled_right_hand_sides(const Scaling& scaling, const MatrixView& b) {
  Matrix result = widened(b);
  scale_rows(result.view(), scaling.r);
  return result;
}

template <typename T>
void unscale_solution(const Scaling& scaling, View<T> y) {
  scale_rows(y, scaling.c);
}
template void unscale_solution(const Scaling&, View<float>);
template void unscale_solution(const Scaling&, View<double>);

void unscale_inverse(const Scaling& scaling, Matrix& inverse) {
  scale_rows(inverse.view(), scaling.c);
  scale_columns(inverse.view(), scaling.r);
}

ApplyInverse unscaled_inverse(const Scaling& scaling, ApplyInverse of_scaled) {
  return [&scaling, of_scaled = std::move(of_scaled)](Matrix& x, Op op) {
    scale_rows(x.view(), op == Op::none ? scaling.r : scaling.c);
    of_scaled(x, op);
    scale_rows(x.view(), op == Op::none ? scaling.c : scaling.r);
  };
}

}  // namespace lugpu
