// The method of conjugate gradients (Hestenes, Stiefel 1952; Krueger, Westermann 2003,
// section 5.1).
#pragma once

#include "iterative/stopping.hpp"
#include "operators/grid_operator.hpp"

namespace lugpu {

/// Solves A x = b for a symmetric positive definite matrix of a grid. x: the start, and the result.
/// In two passes a step, which move eight words for each unknown: p = r + beta p with p . A p, and
/// x += alpha p, r -= alpha A p with r . r, each with its own A p. All scalars stay on the device;
/// the host looks at the residuals every few steps, and steps after the last one do nothing.
Iteration conjugate_gradients(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                              const StoppingRule& rule);

}  // namespace lugpu
