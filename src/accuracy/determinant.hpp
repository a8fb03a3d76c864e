// The determinant from the pivots.
#pragma once

#include "dense/options.hpp"
#include "lugpu/solve.hpp"

namespace lugpu {

/// The product of the pivots, with the sign of the interchanges: of A for P A Q = L U. Zero for
/// info > 0, one for n = 0. As accurate as the pivots.
Determinant determinant(const Outcome& outcome);

}  // namespace lugpu
