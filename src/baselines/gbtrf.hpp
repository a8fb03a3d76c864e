// LAPACK's gbtrf and gbtrs: banded LU with partial pivoting.
#pragma once

#include <memory>

#include "iterative/prepared_solver.hpp"
#include "matrix/grid.hpp"
#include "opencl/element.hpp"

namespace lugpu {

/// Throws Unsupported if the band, 3 bandwidths and the diagonal of every column, takes more than
/// half of this machine's memory, or if there are 2^31 unknowns or more. The unknowns stay in their
/// order, so the bandwidth is that of the last axis with neighbours.
void require_gbtrf(const Grid& grid, Precision precision);

/// Factored by LAPACKE_?gbtrf here. a: the matrix of the grid. A pivot that is zero is the reason
/// with which solve() ends; X stays the start then. Where rounding alone can have made a pivot, it
/// looks at the residual, which must be below the tolerance of the rule. Throws as require_gbtrf(),
/// and InputError if a value overflows the precision.
std::unique_ptr<PreparedSolver> make_gbtrf(const Grid& grid, const Sparse& a, Precision precision,
                                           const StoppingRule& rule);

}  // namespace lugpu
