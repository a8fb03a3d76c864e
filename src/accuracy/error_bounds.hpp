// How good a solution is: LAPACK's gerfs without its refinement. A: n x n, X and B: n x nrhs.
// Residuals are computed on the host in double with the matrix as it was given.
#pragma once

#include <vector>

#include "dense/factorization.hpp"

namespace lugpu {

/// The componentwise backward error of each column of X: the smallest e for which x solves a system
/// (A + dA) x = b + db with |dA| <= e |A| and |db| <= e |b|, element by element (Oettli and Prager,
/// 1964; gerfs's berr). r: B - A X; sizes: |A| |X| + |B|. NaN if an element of r is.
std::vector<double> backward_errors(const Matrix& r, const Matrix& sizes);

/// A bound on max |x - exact| / max |exact| for each column of X, from inv(A) as the factors have
/// it and eps_of_factors, their unit round-off:
///   (||inv(A) r||_inf + || |inv(A)| w ||_inf) / (1 - defect) / ||x||_inf,
/// where w holds what rounding may have changed in r; the second norm and the defect (||I - inv(A)
/// A||_inf, condition.hpp) are estimates (Arioli, Demmel and Duff, 1989, and gerfs's ferr, which
/// takes |r| + w for w and the factors for exact). 0 where r and w are; infinite where nothing can
/// be said, because the factors are no evidence or the bound leaves not a single digit. A NaN gives
/// infinity.
std::vector<double> forward_error_bounds(const MatrixView& a, const Matrix& r, const Matrix& sizes,
                                         const Matrix& x, double eps_of_factors,
                                         const ApplyInverse& apply_inverse);

}  // namespace lugpu
