// Iterative refinement: LAPACK's gerfs in one precision, dsgesv and GMRES with factors in a lower
// one. A: n x n, X and B: n x nrhs, on the host in double.
#pragma once

#include <string>

#include "dense/solver.hpp"
#include "operators/residual.hpp"

namespace lugpu {

/// Improves X until its componentwise backward error is at most eps of `precision`, to which X is
/// rounded, for as long as a step halves it, and at most 5 times (gerfs). No column gets worse.
/// steps: of the column that took most. Always `converged`.
Refinement refine(const Matrix& a, const Matrix& b, Matrix& x, Precision precision,
                  const ApplyInverse& apply_inverse);

/// Solves A X = B to double's accuracy with an inverse from factors in single precision: until
/// max |b - A x| <= max |x| ||A||_inf eps sqrt(n) for every column (dsgesv), with 16 <= n <= 100
/// there. A column whose residual a step does not halve goes on with GMRES (gmres.hpp), unless
/// there are many of those. At most 30 corrections a column; not `converged` if one is not done
/// then. steps: the corrections after the first solution, of the column that took most. residual:
/// B - A X; a_norm_inf: ||A||_inf.
Refinement solve_mixed(const Residual& residual, double a_norm_inf, const Matrix& b, Matrix& x,
                       const ApplyInverse& apply_inverse);

}  // namespace lugpu
