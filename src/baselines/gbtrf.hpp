// LAPACK's gbtrf and gbtrs: banded LU with partial pivoting.
#pragma once

#include <memory>

#include "iterative/prepared_solver.hpp"
#include "solve/structured_methods.hpp"

namespace lugpu {

/// Throws Unsupported if the band, the diagonals below the main one twice, takes more than
/// half of this machine's memory, or if there are 2^31 unknowns or more. The unknowns stay in their
/// order.
void require_gbtrf(const StructuredMatrix& a, Precision precision);

/// Factored by LAPACKE_?gbtrf here. A pivot that is zero is the reason
/// with which solve() ends; X stays the start then. Where rounding alone can have made a pivot, it
/// looks at the residual, which must be below the tolerance of the rule. Throws as require_gbtrf(),
/// and InputError if a value overflows the precision.
std::unique_ptr<PreparedSolver> make_gbtrf(const StructuredMatrix& a, const Sparse& stored,
                                           Precision precision, const StoppingRule& rule);

}  // namespace lugpu
