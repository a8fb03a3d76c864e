// The checks that accompany every timing: LAPACK's and HPL's scaled residuals, computed on the host
// in double with the original matrix. A NaN never passes. A ratio is NaN if an input holds a NaN or
// a norm overflows, 0 if the residual is exactly zero, and infinite if only its denominator is zero
// (where LAPACK has 1/eps). 0 for an empty matrix or no right-hand side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dense/solver.hpp"
#include "matrix/matrix.hpp"
#include "matrix/norms.hpp"
#include "opencl/element.hpp"

namespace lugpu {

/// Unit round-off of the precision that was tested: 2^-53 (double) or 2^-24 (single).
inline constexpr double kEpsilonDouble = epsilon(Precision::double_precision);
inline constexpr double kEpsilonSingle = epsilon(Precision::single_precision);

/// Limits below which a ratio passes.
inline constexpr double kFactorRatioLimit = 30.0;  ///< LAPACK TESTING/LIN
inline constexpr double kSolveRatioLimit = 30.0;   ///< LAPACK TESTING/LIN
inline constexpr double kHplResidualLimit = 16.0;  ///< HPL

/// ||P A Q - L U||_1 / (N ||A||_1 eps)  (LAPACK TESTING/LIN dget01).
/// a: N x N; lu: N x N, unit lower L below the diagonal and U on and above it; ipiv: row k was
/// interchanged with row ipiv[k] (1-based, as dgetrf), empty for none; jpiv: likewise the columns
/// (as dgetc2), empty for none. Infinite if ipiv or jpiv holds anything but N indices in 1 .. N.
double lu_factor_ratio(const Matrix& a, const Matrix& lu, const std::vector<int>& ipiv,
                       const std::vector<int>& jpiv, double epsilon);

/// ||I - A inv(A)||_1 / (N ||A||_1 ||inv(A)||_1 eps)  (LAPACK TESTING/LIN dget03).
double inverse_ratio(const Matrix& a, const Matrix& inverse, double epsilon);

/// ||b - A x||_1 / (||A||_1 ||x||_1 eps), the largest over the columns (LAPACK TESTING/LIN dget02).
double solve_ratio(const Matrix& a, const Matrix& x, const Matrix& b, double epsilon);

/// ||A x - b||_inf / (eps (||A||_inf ||x||_inf + ||b||_inf) N), the largest over the columns (HPL).
double hpl_residual(const Matrix& a, const Matrix& x, const Matrix& b, double epsilon);

/// Pivot growth max |U| / max |A|; U is read from the upper triangle of lu.
double pivot_growth(const Matrix& a, const Matrix& lu);

/// inv(A) by factors on the host (LAPACK's getrs), which must outlive it. lu, ipiv and jpiv as in
/// lu_factor_ratio; the pivots must be valid, and U without a zero on its diagonal.
ApplyInverse inverse_by_lu(const Matrix& lu, const std::vector<int>& ipiv,
                           const std::vector<int>& jpiv);

/// What a result was checked against. A value that does not apply is absent.
struct Checks {
  std::optional<double> factor_ratio;
  std::optional<double> solve_ratio;
  std::optional<double> hpl_residual;
  std::optional<double> growth;
  std::optional<double> rcond;          ///< absent where the factors cannot support it
  std::optional<double> rcond_at_most;  ///< what is known of it nevertheless
  std::vector<double> berr;             ///< backward_errors(), one for each right-hand side
  std::vector<double> ferr;  ///< forward_error_bounds(), infinite where nothing is known; empty for
                             ///< a method that keeps no factors
  int info = 0;              ///< LAPACK's: k > 0 means that the k-th pivot is exactly zero

  /// One sentence that names the first ratio that is not under its limit, or empty if all pass.
  std::string failure() const;
  /// How many decimal digits of the largest element of every column of X are certainly correct, by
  /// ferr, at most as many as X has; absent if not even one is.
  std::optional<int> digits(Precision precision_of_x) const;
};

}  // namespace lugpu
