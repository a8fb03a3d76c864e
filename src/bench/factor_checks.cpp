#include "bench/factor_checks.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "accuracy/checks.hpp"
#include "accuracy/condition.hpp"
#include "operators/product.hpp"

namespace lugpu {
namespace {

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

/// X = L X or U X, or with the transpose, for a few columns.
void multiply_triangle(const Matrix& lu, CBLAS_UPLO triangle, Op op, Matrix& x) {
  for (std::size_t c = 0; c < x.cols(); ++c) {
    cblas_dtrmv(CblasColMajor, triangle, op == Op::none ? CblasNoTrans : CblasTrans,
                triangle == CblasLower ? CblasUnit : CblasNonUnit, static_cast<int>(lu.rows()),
                lu.values().data(), lu.ld(), x.column(c), 1);
  }
}

enum class Sequence { first_to_last, last_to_first };

/// Rows k and pivots[k] of x, 1-based, change places, one pair after another (LAPACK's laswp).
void interchange_rows(Matrix& x, const std::vector<int>& pivots, Sequence order) {
  for (std::size_t j = 0; j < x.cols(); ++j) {
    double* column = x.column(j);
    for (std::size_t step = 0; step < pivots.size(); ++step) {
      const std::size_t k = order == Sequence::first_to_last ? step : pivots.size() - 1 - step;
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
  interchange_rows(a, ipiv, Sequence::last_to_first);
}

/// The ratio for a way to find ||P A Q - L U||_1 of pivots that are valid and numbers.
template <typename ResidualNorm>
double ratio_by(const ResidualNorm& residual_norm, const MatrixView& a, const Matrix& lu,
                const std::vector<int>& ipiv, const std::vector<int>& jpiv, double epsilon) {
  const std::size_t n = a.rows();
  if (n == 0) return 0.0;
  if (!is_valid_pivots(ipiv, n) || !is_valid_pivots(jpiv, n))
    return std::numeric_limits<double>::infinity();
  if (std::isnan(norm_max(lu))) return std::numeric_limits<double>::quiet_NaN();
  return relative(residual_norm(), norm_1(a)) / (static_cast<double>(n) * epsilon);
}

}  // namespace

// ||P A Q - L U||_1 = ||A - P' L U Q'||_1: a permutation does not change the norm, and A stays as
// it is.
double lu_factor_ratio(const MatrixView& a, const Matrix& lu, const std::vector<int>& ipiv,
                       const std::vector<int>& jpiv, double epsilon) {
  const auto residual_norm = [&] {
    Matrix residual = multiply_factors(lu);
    undo_interchanges(residual, ipiv, jpiv);
    const View<const double> given = a.doubles();
    for (std::size_t j = 0; j < residual.cols(); ++j) {
      for (std::size_t i = 0; i < residual.rows(); ++i) residual(i, j) -= given(i, j);
    }
    return norm_1(residual);
  };
  return ratio_by(residual_norm, a, lu, ipiv, jpiv, epsilon);
}

double estimated_factor_ratio(const MatrixView& a, const Matrix& lu, const std::vector<int>& ipiv,
                              const std::vector<int>& jpiv, double epsilon) {
  // R = A - P' L U Q' and R' = A' - Q U' L' P
  const auto residual = [&](Matrix& x, const std::vector<std::size_t>&, Op op) {
    const Matrix r = multiply(a, op, x);
    const bool plain = op == Op::none;
    interchange_rows(x, plain ? jpiv : ipiv, Sequence::first_to_last);
    multiply_triangle(lu, plain ? CblasUpper : CblasLower, op, x);
    multiply_triangle(lu, plain ? CblasLower : CblasUpper, op, x);
    interchange_rows(x, plain ? ipiv : jpiv, Sequence::last_to_first);
    for (std::size_t j = 0; j < x.cols(); ++j) {
      for (std::size_t i = 0; i < x.rows(); ++i) x(i, j) = r(i, j) - x(i, j);
    }
  };
  const auto residual_norm = [&] { return estimate_norms_1(a.rows(), 1, residual).front(); };
  return ratio_by(residual_norm, a, lu, ipiv, jpiv, epsilon);
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
      interchange_rows(x, ipiv, Sequence::first_to_last);
      solve(CblasLower, CblasNoTrans, CblasUnit);
      solve(CblasUpper, CblasNoTrans, CblasNonUnit);
      interchange_rows(x, jpiv, Sequence::last_to_first);
    } else {
      // P' inv(L') inv(U') Q' x
      interchange_rows(x, jpiv, Sequence::first_to_last);
      solve(CblasUpper, CblasTrans, CblasNonUnit);
      solve(CblasLower, CblasTrans, CblasUnit);
      interchange_rows(x, ipiv, Sequence::last_to_first);
    }
  };
}

Residual blas_residual(const MatrixView& a) {
  return [a = a.doubles()](const Matrix& x, const Matrix& b) {
    Matrix r = b;
    if (r.values().empty()) return r;
    const auto rows = static_cast<int>(a.rows), columns = static_cast<int>(a.columns);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rows, static_cast<int>(x.cols()),
                columns, -1.0, a.data, static_cast<int>(a.ld), x.values().data(), x.ld(), 1.0,
                r.values().data(), r.ld());
    return r;
  };
}

}  // namespace lugpu
