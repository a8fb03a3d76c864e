#include "accuracy/error_bounds.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "accuracy/condition.hpp"
#include "matrix/norms.hpp"

namespace lugpu {
namespace {

constexpr double kEpsilon = epsilon(Precision::double_precision);

// A row of |A| |x| + |b| below this is so near underflow that its residual says nothing without
// this added (gerfs's safe1 and safe2).
double tiny(std::size_t n) {
  return static_cast<double>(n + 1) * std::numeric_limits<double>::min();
}

// What rounding may have changed in r: (n + 1) eps (|A| |x| + |b|) when it was computed, and
// eps_of_factors |r| on its way to the factors.
Matrix roundings(const Matrix& r, const Matrix& sizes, double eps_of_factors) {
  const std::size_t n = r.rows();
  const double rounding = static_cast<double>(n + 1) * kEpsilon;
  Matrix w(n, r.cols());
  for (std::size_t k = 0; k < w.values().size(); ++k) {
    const double size = sizes.values()[k];
    w.values()[k] = eps_of_factors * std::abs(r.values()[k]) + rounding * size;
    if (size > 0 && size < tiny(n) / kEpsilon) w.values()[k] += tiny(n);
  }
  return w;
}

// Columns of w are divided by their largest elements, which are returned.
std::vector<double> normalize(Matrix& w) {
  std::vector<double> largest;
  for (std::size_t j = 0; j < w.cols(); ++j) {
    const double norm = column_norm_max(w, j);
    largest.push_back(norm);
    if (!std::isfinite(norm) || norm == 0) continue;
    for (std::size_t i = 0; i < w.rows(); ++i) w(i, j) /= norm;
  }
  return largest;
}

}  // namespace

std::vector<double> backward_errors(const Matrix& r, const Matrix& sizes) {
  const std::size_t n = r.rows();
  std::vector<double> errors(r.cols(), 0.0);
  for (std::size_t j = 0; j < errors.size(); ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      if (r(i, j) == 0) continue;
      const double added = sizes(i, j) > tiny(n) / kEpsilon ? 0 : tiny(n);
      errors[j] = larger(errors[j], (std::abs(r(i, j)) + added) / (sizes(i, j) + added));
    }
  }
  return errors;
}

std::vector<double> forward_error_bounds(const MatrixView& a, const Matrix& r, const Matrix& sizes,
                                         const Matrix& x, double eps_of_factors,
                                         const ApplyInverse& apply_inverse) {
  std::vector<double> bounds(x.cols(), 0.0);
  if (x.rows() == 0) return bounds;
  Matrix w = roundings(r, sizes, eps_of_factors);
  const std::vector<double> largest = normalize(w);
  // || |inv(A)| w ||_inf = ||inv(A) diag(w)||_inf = ||diag(w) inv(A')||_1
  const InverseNorms inverse = estimate_inverse_norms(a, Op::transpose, w, apply_inverse);
  const bool is_evidence = inverse.defect < kLargestDefect;
  Matrix correction = r;
  apply_inverse(correction, Op::none);
  for (std::size_t j = 0; j < x.cols(); ++j) {
    if (largest[j] == 0) continue;
    const double computed = column_norm_max(correction, j) + inverse.weighted[j] * largest[j];
    const double error = computed / (1 - inverse.defect) / column_norm_max(x, j);
    bounds[j] = is_evidence && error < 0.5 ? error / (1 - error) : INFINITY;
  }
  return bounds;
}

}  // namespace lugpu
