// The method of conjugate gradients (Hestenes, Stiefel 1952; Krueger, Westermann 2003,
// section 5.1).
#pragma once

#include "iterative/stopping.hpp"
#include "operators/grid_operator.hpp"

namespace lugpu {

/// Solves A x = b for a symmetric positive definite matrix A. x: the start, and the result. All
/// scalars stay on the device; the host looks at the residuals every few steps, and steps after the
/// last one do nothing. Uses scalars(0).
///
/// Where b . b would leave the range of the precision, b and x are multiplied by a power of two
/// meanwhile; of b = 0 the solution is 0. A step that finds p . A p <= 0, or a number that is not
/// finite, ends the iteration with that reason; x is then what the step before it has left.
///
/// In three passes a step, which move ten words for each unknown and the matrix: x += alpha p and
/// p = r + beta p; q = A p with p . q; r -= alpha q with r . r.
Iteration conjugate_gradients(const Operator& a, Vectors& vectors, const Surface& b, Surface& x,
                              const StoppingRule& rule);

/// The same for the matrix of a grid, in two passes, which move eight words: p = r + beta p with
/// p . A p, and x += alpha p, r -= alpha A p with r . r, each with its own A p.
Iteration conjugate_gradients(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                              const StoppingRule& rule);

}  // namespace lugpu
