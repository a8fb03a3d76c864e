#include "matrix/norms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace lugpu {

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
  double norm = 0.0;
  for (std::size_t j = 0; j < a.cols(); ++j) norm = larger(norm, column_norm_1(a, j));
  return norm;
}

double norm_inf(const Matrix& a) {
  std::vector<double> sums(a.rows(), 0.0);
  for (std::size_t j = 0; j < a.cols(); ++j)
    for (std::size_t i = 0; i < a.rows(); ++i) sums[i] += std::abs(a(i, j));
  double norm = 0.0;
  for (const double sum : sums) norm = larger(norm, sum);
  return norm;
}

double norm_max(const Matrix& a) {
  double norm = 0.0;
  for (std::size_t j = 0; j < a.cols(); ++j) norm = larger(norm, column_norm_max(a, j));
  return norm;
}

}  // namespace lugpu
