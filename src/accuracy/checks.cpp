// LAPACK's and HPL's scaled residuals. NaN is propagated by hand where a comparison, or a BLAS that
// skips products with zero, would lose it.
#include "accuracy/checks.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <utility>

#include "accuracy/error_bounds.hpp"

namespace lugpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// residual / size with 0/0 = 0. NaN where a norm overflowed: dividing by infinity would make any
/// residual pass.
double relative(double residual, double size) {
  if (!std::isfinite(size)) return kNaN;
  return residual == 0.0 ? 0.0 : residual / size;
}

/// L U from the factors in one matrix.
Matrix multiply_factors(const Matrix& lu) {
  const std::size_t n = lu.rows();
  Matrix product(n, n);
  for (std::size_t j = 0; j < n; ++j)
    std::copy(lu.column(j), lu.column(j) + j + 1, product.column(j));
  cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, static_cast<int>(n),
              static_cast<int>(n), 1.0, lu.values().data(), lu.ld(), product.values().data(),
              product.ld());
  return product;
}

/// Empty, or n indices within 1 .. n: a broken device may return anything.
bool is_valid_pivots(const std::vector<int>& pivots, std::size_t n) {
  const auto within = [n](int p) { return p >= 1 && static_cast<std::size_t>(p) <= n; };
  return pivots.empty() ||
         (pivots.size() == n && std::all_of(pivots.begin(), pivots.end(), within));
}

enum class Order { first_to_last, last_to_first };

/// Rows k and pivots[k] of x, 1-based, change places, one pair after another (LAPACK's laswp).
void interchange_rows(Matrix& x, const std::vector<int>& pivots, Order order) {
  for (std::size_t j = 0; j < x.cols(); ++j) {
    double* column = x.column(j);
    for (std::size_t step = 0; step < pivots.size(); ++step) {
      const std::size_t k = order == Order::first_to_last ? step : pivots.size() - 1 - step;
      std::swap(column[k], column[static_cast<std::size_t>(pivots[k]) - 1]);
    }
  }
}

/// P A Q becomes A.
void undo_interchanges(Matrix& a, const std::vector<int>& ipiv, const std::vector<int>& jpiv) {
  const std::size_t n = a.rows();
  for (std::size_t k = jpiv.size(); k-- > 0;) {
    const std::size_t other = static_cast<std::size_t>(jpiv[k]) - 1;
    if (other != k) std::swap_ranges(a.column(k), a.column(k) + n, a.column(other));
  }
  interchange_rows(a, ipiv, Order::last_to_first);
}

}  // namespace

double lu_factor_ratio(const Matrix& a, const Matrix& lu, const std::vector<int>& ipiv,
                       const std::vector<int>& jpiv, double epsilon) {
  const std::size_t n = a.rows();
  if (n == 0) return 0.0;
  if (!is_valid_pivots(ipiv, n) || !is_valid_pivots(jpiv, n)) return kInfinity;
  if (std::isnan(norm_max(lu))) return kNaN;
  Matrix residual = multiply_factors(lu);
  // ||P A Q - L U||_1 = ||A - P' L U Q'||_1: a permutation does not change the norm, and A stays as
  // it is.
  undo_interchanges(residual, ipiv, jpiv);
  for (std::size_t k = 0; k < residual.values().size(); ++k) residual.values()[k] -= a.values()[k];
  return relative(norm_1(residual), norm_1(a)) / (static_cast<double>(n) * epsilon);
}

double inverse_ratio(const Matrix& a, const Matrix& inverse, double epsilon) {
  const std::size_t n = a.rows();
  if (n == 0) return 0.0;
  Matrix identity(n, n);
  for (std::size_t k = 0; k < n; ++k) identity(k, k) = 1.0;
  const Matrix residual = lugpu::residual(a, inverse, std::move(identity));
  return relative(norm_1(residual), norm_1(a) * norm_1(inverse)) /
         (static_cast<double>(n) * epsilon);
}

double solve_ratio(const Matrix& a, const Matrix& x, const Matrix& b, double epsilon) {
  if (a.rows() == 0) return 0.0;
  const Matrix residual = lugpu::residual(a, x, b);
  const double a_norm = norm_1(a);
  double ratio = 0.0;
  for (std::size_t j = 0; j < x.cols(); ++j)
    ratio = larger(ratio, relative(column_norm_1(residual, j), a_norm * column_norm_1(x, j)));
  return ratio / epsilon;
}

double hpl_residual(const Matrix& a, const Matrix& x, const Matrix& b, double epsilon) {
  const std::size_t n = a.rows();
  if (n == 0) return 0.0;
  const Matrix residual = lugpu::residual(a, x, b);
  const double a_norm = norm_inf(a);
  // Numerator and denominator are divided by ||A|| when it is large: the product with ||x|| could
  // overflow.
  const double scale = larger(a_norm, 1.0);
  double ratio = 0.0;
  for (std::size_t j = 0; j < x.cols(); ++j) {
    const double size = (a_norm / scale) * column_norm_max(x, j) + column_norm_max(b, j) / scale;
    ratio = larger(ratio, relative(column_norm_max(residual, j) / scale, size));
  }
  return ratio / (static_cast<double>(n) * epsilon);
}

double pivot_growth(const Matrix& a, const Matrix& lu) {
  double u_max = 0.0;
  for (std::size_t j = 0; j < lu.cols(); ++j)
    for (std::size_t i = 0; i <= j; ++i) u_max = larger(u_max, std::abs(lu(i, j)));
  return relative(u_max, norm_max(a));
}

ApplyInverse inverse_by_lu(const Matrix& lu, const std::vector<int>& ipiv,
                           const std::vector<int>& jpiv) {
  return [&](Matrix& x, Op op) {
    const auto solve = [&](CBLAS_UPLO triangle, CBLAS_TRANSPOSE transposed, CBLAS_DIAG diagonal) {
      if (x.values().empty()) return;
      cblas_dtrsm(CblasColMajor, CblasLeft, triangle, transposed, diagonal,
                  static_cast<int>(x.rows()), static_cast<int>(x.cols()), 1.0, lu.values().data(),
                  lu.ld(), x.values().data(), x.ld());
    };
    if (op == Op::none) {
      // Q inv(U) inv(L) P x
      interchange_rows(x, ipiv, Order::first_to_last);
      solve(CblasLower, CblasNoTrans, CblasUnit);
      solve(CblasUpper, CblasNoTrans, CblasNonUnit);
      interchange_rows(x, jpiv, Order::last_to_first);
    } else {
      // P' inv(L') inv(U') Q' x
      interchange_rows(x, jpiv, Order::first_to_last);
      solve(CblasUpper, CblasTrans, CblasNonUnit);
      solve(CblasLower, CblasTrans, CblasUnit);
      interchange_rows(x, ipiv, Order::last_to_first);
    }
  };
}

std::optional<int> Checks::digits(Precision precision_of_x) const {
  if (ferr.empty()) return std::nullopt;
  const double error =
      std::max(std::accumulate(ferr.begin(), ferr.end(), 0.0, larger), epsilon(precision_of_x));
  if (!(error < 0.1)) return std::nullopt;
  return static_cast<int>(-std::log10(error));
}

std::string Checks::failure() const {
  const struct {
    const char* name;
    std::optional<double> ratio;
    double limit;
  } limited[] = {
      {"factor_ratio", factor_ratio, kFactorRatioLimit},
      {"solve_ratio", solve_ratio, kSolveRatioLimit},
      {"hpl_residual", hpl_residual, kHplResidualLimit},
  };
  for (const auto& [name, ratio, limit] : limited) {
    if (!ratio || *ratio < limit) continue;  // NaN < limit is false: NaN fails
    char sentence[80];
    // The magnitude, since the C library prints a NaN with its sign.
    std::snprintf(sentence, sizeof sentence, "%s %.3g is not under %g", name, std::abs(*ratio),
                  limit);
    return sentence;
  }
  return {};
}

}  // namespace lugpu
