// How good a solution is: LAPACK's gerfs without its refinement. A: n x n, X and B: n x nrhs.
// Residuals are computed on the host in double with the matrix as it was given.
#pragma once

#include <vector>

#include "solvers/solver.hpp"

namespace lugpu {

/// B - A X. a: any number of rows.
Matrix residual(const Matrix& a, const Matrix& x, Matrix b);

/// |A| |X| + |B|, element by element: the size of what the residual is the difference of.
Matrix residual_sizes(const Matrix& a, const Matrix& x, const Matrix& b);

/// The componentwise backward error of each column of X: the smallest e for which x solves a system
/// (A + dA) x = b + db with |dA| <= e |A| and |db| <= e |b|, element by element (Oettli and Prager,
/// 1964; gerfs's berr). r and sizes: as above. NaN if an element of r is.
std::vector<double> backward_errors(const Matrix& r, const Matrix& sizes);

/// A bound on max |x - exact| / max |x| for each column of X: || |inv(A)| (|r| + (n + 1) eps
/// (|A| |x| + |b|)) ||_inf / ||x||_inf, where the norm is an estimate, inv(A) comes from the
/// factors and eps is double's, in which r was computed (Arioli, Demmel and Duff, 1989; gerfs's
/// ferr). 0 where the error is zero; infinite where nothing can be said.
std::vector<double> forward_error_bounds(const Matrix& r, const Matrix& sizes, const Matrix& x,
                                         const ApplyInverse& apply_inverse);

}  // namespace lugpu
