// Jacobi's method, Gauss-Seidel with red and black points and conjugate gradients, as rivals that
// run on one thread of the host (Amador, Gomes 2010, section 5).
#pragma once

#include <memory>

#include "baselines/plain_iteration.hpp"
#include "iterative/prepared_solver.hpp"
#include "solve/structured_methods.hpp"

namespace lugpu {

/// Throws Unsupported for a matrix of no grid, if its arrays take more than half of this machine's
/// memory, or for Gauss-Seidel on a periodic axis with an odd number of points, where neighbours
/// have the same colour.
void require_plain(PlainMethod method, const StructuredMatrix& a, Precision precision);

/// Takes the steps of jacobi(), gauss_seidel() and conjugate_gradients() of src/iterative, from the
/// same start to the same rule; sums are carried along in double. Throws as require_plain().
std::unique_ptr<PreparedSolver> make_plain(PlainMethod method, const StructuredMatrix& a,
                                           Precision precision, const StoppingRule& rule);

}  // namespace lugpu
