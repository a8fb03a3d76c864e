#include "matrix/norms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/parallel.hpp"

namespace lugpu {
namespace {

// The largest norm(a, j) over the columns j.
double largest_of_columns(const Matrix& a, double (*norm)(const Matrix&, std::size_t)) {
  std::vector<double> norms(a.cols());
  in_parallel(a.cols(), a.rows() * sizeof(double), [&](std::size_t j) { norms[j] = norm(a, j); });
  return std::accumulate(norms.begin(), norms.end(), 0.0, larger);
}

}  // namespace

double larger(double a, double b) {
  if (std::isnan(a)) return a;
  return b <= a ? a : b;
}

double column_norm_1(const Matrix& a, std::size_t j) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.rows(); ++i) sum += std::abs(a(i, j));
  return sum;
}

double column_norm_max(const Matrix& a, std::size_t j) {
  // As integers magnitudes have the same order, and those of NaN come last.
  std::uint64_t norm = 0;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    norm = std::max(norm, std::bit_cast<std::uint64_t>(std::abs(a(i, j))));
  }
  return std::bit_cast<double>(norm);
}

double norm_1(const Matrix& a) {
  return largest_of_columns(a, column_norm_1);
}

double norm_inf(const Matrix& a) {
  constexpr std::size_t kRows = 256;  // of a part
  std::vector<double> sums(a.rows(), 0.0);
  in_parallel((a.rows() + kRows - 1) / kRows, kRows * a.cols() * sizeof(double),
              [&](std::size_t part) {
                const std::size_t end = std::min((part + 1) * kRows, a.rows());
                for (std::size_t j = 0; j < a.cols(); ++j)
                  for (std::size_t i = part * kRows; i < end; ++i) sums[i] += std::abs(a(i, j));
              });
  return std::accumulate(sums.begin(), sums.end(), 0.0, larger);
}

double norm_max(const Matrix& a) {
  return largest_of_columns(a, column_norm_max);
}

}  // namespace lugpu
