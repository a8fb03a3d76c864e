// The checks that accompany every answer: LAPACK's and HPL's scaled residuals, computed on the host
// in double with the original matrix. A NaN never passes. A ratio is NaN if an input holds a NaN or
// a norm overflows, 0 if the residual is exactly zero, and infinite if only its denominator is zero
// (where LAPACK has 1/eps). 0 for an empty matrix or no right-hand side.
#pragma once

#include "dense/factorization.hpp"
#include "lugpu/solve.hpp"
#include "matrix/norms.hpp"
#include "operators/residual.hpp"

namespace lugpu {

/// Unit round-off of the precision that was tested: 2^-53 (double) or 2^-24 (single).
inline constexpr double kEpsilonDouble = epsilon(Precision::double_precision);
inline constexpr double kEpsilonSingle = epsilon(Precision::single_precision);

/// Limits below which a ratio passes.
inline constexpr double kFactorRatioLimit = 30.0;  ///< LAPACK TESTING/LIN
inline constexpr double kSolveRatioLimit = 30.0;   ///< LAPACK TESTING/LIN
inline constexpr double kHplResidualLimit = 16.0;  ///< HPL

/// residual / size with 0/0 = 0. NaN where a norm overflowed: dividing by infinity would make any
/// residual pass.
double relative(double residual, double size);

/// ||b - A x||_1 / (||A||_1 ||x||_1 eps), the largest over the columns (LAPACK TESTING/LIN dget02).
/// a_norm_1: ||A||_1; r: B - A X.
double solve_ratio(double a_norm_1, const Matrix& x, const Matrix& r, double epsilon);

/// ||A x - b||_inf / (eps (||A||_inf ||x||_inf + ||b||_inf) N), the largest over the columns (HPL).
double hpl_residual(double a_norm_inf, const Matrix& x, const Matrix& b, const Matrix& r,
                    double epsilon);

/// ||I - A inv(A)||_1 / (N ||A||_1 ||inv(A)||_1 eps)  (LAPACK TESTING/LIN dget03). residual: I - A
/// X.
double inverse_ratio(const MatrixView& a, const Matrix& inverse, const Residual& residual,
                     double epsilon);

/// max |u_ij| over the columns of L and U that begin with column `first`.
double largest_of_u(const View<const double>& columns, std::size_t first);

/// max |U| / max |A| of a factorization, which comes to the host in parts. a_max: max |A|.
double pivot_growth(DenseFactorization& factorization, double a_max);

/// What a solution is checked against: A, and its inverse by the factors.
struct CheckedSystem {
  MatrixView a;
  double largest;        ///< max |a_ij|
  ApplyInverse inverse;  ///< empty if there is none
};

/// Sets solve_ratio, hpl_residual, berr and, if there is an inverse, ferr: infinite unless
/// checks.rcond is there, since factors that say nothing about the condition say nothing about the
/// error. b, x: n x nrhs. eps: of X; factors_eps: of the factors.
void check_solution(const CheckedSystem& system, const MatrixView& b, const MatrixView& x,
                    double eps, double factors_eps, Checks& checks);

/// Sets rcond or rcond_at_most.
void check_condition(const MatrixView& a, double factors_eps, const ApplyInverse& inverse,
                     Checks& checks);

}  // namespace lugpu
