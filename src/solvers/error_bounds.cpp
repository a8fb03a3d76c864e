#include "solvers/error_bounds.hpp"

#include <cblas.h>

#include <cmath>
#include <limits>
#include <utility>

#include "matrix/norms.hpp"
#include "solvers/condition.hpp"

namespace lugpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = epsilon(Precision::double_precision);

// A row of |A| |x| + |b| below this is so near underflow that its residual says nothing without
// this added (gerfs's safe1 and safe2).
double tiny(std::size_t n) {
  return static_cast<double>(n + 1) * std::numeric_limits<double>::min();
}

// |r| + (n + 1) eps (|A| |x| + |b|): the residual, and what rounding may have hidden of it.
Matrix weights(const Matrix& r, const Matrix& sizes) {
  const std::size_t n = r.rows();
  const double rounding = static_cast<double>(n + 1) * kEpsilon;
  Matrix w(n, r.cols());
  for (std::size_t k = 0; k < w.values().size(); ++k) {
    const double size = sizes.values()[k];
    w.values()[k] = std::abs(r.values()[k]) + rounding * size;
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

Matrix magnitudes(Matrix a) {
  for (double& value : a.values()) value = std::abs(value);
  return a;
}

// C + alpha A B; for one column by gemv, which does not copy A as gemm may.
Matrix add_product(Matrix c, double alpha, const Matrix& a, const Matrix& b) {
  if (c.values().empty()) return c;
  if (b.cols() == 1) {
    cblas_dgemv(CblasColMajor, CblasNoTrans, static_cast<int>(a.rows()), static_cast<int>(a.cols()),
                alpha, a.values().data(), a.ld(), b.values().data(), 1, 1.0, c.values().data(), 1);
    return c;
  }
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(a.rows()),
              static_cast<int>(b.cols()), static_cast<int>(a.cols()), alpha, a.values().data(),
              a.ld(), b.values().data(), b.ld(), 1.0, c.values().data(), c.ld());
  return c;
}

}  // namespace

Matrix residual(const Matrix& a, const Matrix& x, Matrix b) {
  return add_product(std::move(b), -1, a, x);
}

Matrix residual_sizes(const Matrix& a, const Matrix& x, const Matrix& b) {
  return add_product(magnitudes(b), 1, magnitudes(a), magnitudes(x));
}

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

std::vector<double> forward_error_bounds(const Matrix& r, const Matrix& sizes, const Matrix& x,
                                         const ApplyInverse& apply_inverse) {
  Matrix w = weights(r, sizes);
  const std::vector<double> largest = normalize(w);
  std::vector<std::size_t> bounded;  // columns to which the estimate applies
  std::vector<double> bounds(x.cols(), 0.0);
  for (std::size_t j = 0; j < x.cols(); ++j) {
    if (largest[j] == 0) continue;
    bounds[j] = kInfinity;
    if (std::isfinite(largest[j]) && column_norm_max(x, j) > 0) bounded.push_back(j);
  }
  const auto scale = [&](Matrix& y, const std::vector<std::size_t>& which) {
    for (std::size_t c = 0; c < which.size(); ++c) {
      const double* weight = w.column(bounded[which[c]]);
      for (std::size_t i = 0; i < y.rows(); ++i) y(i, c) *= weight[i];
    }
  };
  // || |inv(A)| w ||_inf = ||inv(A) diag(w)||_inf = ||M||_1 with M = diag(w) inv(A')
  const std::vector<double> norms = estimate_norms_1(
      x.rows(), bounded.size(), [&](Matrix& y, const std::vector<std::size_t>& which, Op op) {
        if (op == Op::transpose) scale(y, which);
        apply_inverse(y, op == Op::none ? Op::transpose : Op::none);
        if (op == Op::none) scale(y, which);
      });
  for (std::size_t c = 0; c < bounded.size(); ++c) {
    const std::size_t j = bounded[c];
    const double bound = norms[c] * (largest[j] / column_norm_max(x, j));
    bounds[j] = std::isnan(bound) ? kInfinity : bound;
  }
  return bounds;
}

}  // namespace lugpu
