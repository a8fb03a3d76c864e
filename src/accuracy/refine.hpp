// Iterative refinement: LAPACK's gerfs in one precision, GMRES with factors in a lower one. A: n x
// n, X and B: n x nrhs, in double.
#pragma once

#include "accuracy/refined_columns.hpp"
#include "lugpu/solve.hpp"

namespace lugpu {

/// Improves X until its componentwise backward error is at most eps of `precision`, to which X is
/// rounded, for as long as a step halves it, and at most 5 times (gerfs). No column gets worse. On
/// the host.
/// steps: of the column that took most. Always `converged`.
Refinement refine(const MatrixView& a, const Matrix& b, Matrix& x, Precision precision,
                  const ApplyInverse& apply_inverse);

/// Whose rules solve_mixed() follows.
enum class MixedRules {
  by_column,  ///< each column until its residual is small, given up if 10 corrections do not halve
              ///< that; 16 <= n <= 100 in the tolerance
  lapack,     ///< dsgesv's: all columns until the last is done, with n in the tolerance
};

/// What max |b - A x| / max |x| may be for an x to be as good as double's: ||A||_inf eps sqrt(n),
/// as LAPACK's dsgesv has it; by_column with n between 16 and 100.
double mixed_tolerance(double a_norm_inf, std::size_t n, MixedRules rules);

/// Solves A X = B to double's accuracy with an inverse from factors in single precision: until
/// max |b - A x| <= max |x| mixed_tolerance() for every column. Each correction begins where the
/// ones before it leave the least residual, RefinedColumns::minimize_residual(). At most 30
/// corrections a column; not `converged` if one is given up. steps: the corrections after the first
/// solution, of the column that took most. a_norm_inf: ||A||_inf. With MixedRules::lapack it throws
/// InputError for a B or a residual that overflows single precision.
Refinement solve_mixed(RefinedColumns& columns, double a_norm_inf,
                       MixedRules rules = MixedRules::by_column);

}  // namespace lugpu
