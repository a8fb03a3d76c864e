// Relaxation on grids: Jacobi's method and the Gauss-Seidel method with red and black points.
#pragma once

#include "iterative/stopping.hpp"
#include "operators/grid_operator.hpp"

namespace lugpu {

/// x += (b - A x) / diagonal at every point, all from the x before. x: the start, and the result.
/// The residuals are those that the host looked at, not one for each sweep.
Iteration jacobi(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                 const StoppingRule& rule);

/// The same at the red points, (x + y + z) even, then at the black ones, each with the latest
/// values of its neighbours. Throws InputError for a periodic axis with an odd number of points,
/// where neighbours have the same colour.
Iteration gauss_seidel(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                       const StoppingRule& rule);

}  // namespace lugpu
