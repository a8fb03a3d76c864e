// Relaxation on grids: Jacobi's method and the Gauss-Seidel method with red and black points.
#pragma once

#include <vector>

#include "iterative/stopping.hpp"
#include "operators/grid_operator.hpp"

namespace lugpu {

/// The points of one colour at the places begin : end along an axis.
struct ColourPart {
  int colour, begin, end;
};

/// A sweep over an axis of so many places, which may be a ring, in blocks of places_each >= 1. In
/// this order the parts give what all red points, then all black ones would, and both colours of a
/// block meet in the cache: a block's black points follow as soon as its red ones and its
/// neighbours' are done.
std::vector<ColourPart> parts_of_sweep(std::size_t places, std::size_t places_each);

/// x = (b - (A - diagonal) x) / diagonal at every point, all from the x before. x: the start, and
/// the result. The residuals are those that the host looked at, not one for each sweep.
Iteration jacobi(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                 const StoppingRule& rule);

/// The same at the red points, (x + y + z) even, then at the black ones, each with the latest
/// values of its neighbours. Throws InputError for a periodic axis with an odd number of points,
/// where neighbours have the same colour.
Iteration gauss_seidel(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                       const StoppingRule& rule);

}  // namespace lugpu
