// Checks of factors on the host, for the benchmark, by the host's BLAS.
#pragma once

#include <vector>

#include "dense/factorization.hpp"
#include "operators/residual.hpp"

namespace lugpu {

/// ||P A Q - L U||_1 / (N ||A||_1 eps)  (LAPACK TESTING/LIN dget01).
/// a: N x N, in double by columns; lu: N x N, unit lower L below the diagonal and U on and above
/// it; ipiv: row k was interchanged with row ipiv[k] (1-based, as dgetrf), empty for none; jpiv:
/// likewise the columns (as dgetc2), empty for none. Infinite if ipiv or jpiv holds anything but N
/// indices in 1 .. N.
double lu_factor_ratio(const MatrixView& a, const Matrix& lu, const std::vector<int>& ipiv,
                       const std::vector<int>& jpiv, double epsilon);

/// The same with an estimate of ||P A Q - L U||_1, a lower bound that is seldom less than a third
/// of it (estimate_norms_1()): some 30 products of a matrix and a vector instead of 2 N^3
/// operations.
double estimated_factor_ratio(const MatrixView& a, const Matrix& lu, const std::vector<int>& ipiv,
                              const std::vector<int>& jpiv, double epsilon);

/// inv(A) by factors on the host (LAPACK's getrs), which must outlive it. lu, ipiv and jpiv as in
/// lu_factor_ratio; the pivots must be valid, and U without a zero on its diagonal.
ApplyInverse inverse_by_lu(const Matrix& lu, const std::vector<int>& ipiv,
                           const std::vector<int>& jpiv);

/// B - A X by the host's BLAS. What `a` views must outlive it.
Residual blas_residual(const MatrixView& a);

}  // namespace lugpu
