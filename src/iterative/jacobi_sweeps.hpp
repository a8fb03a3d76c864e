// Sweeps of Jacobi's method on a grid without a look at the residual between them.
#pragma once

#include "operators/grid_operator.hpp"

namespace lugpu {

/// How a launch of kernels/cpu/jacobi_sweeps.cl is cut. Planes: those of z, or rows where there is
/// one plane.
struct SweepsCut {
  std::size_t share;   ///< planes of a work-item, at least 1
  std::size_t sweeps;  ///< of a launch, at least 1

  /// For the buffers of a CPU as many sweeps as pay off, elsewhere 1.
  static SweepsCut make(const Device& device, const Grid& grid, const Surface& x);
};

/// `count` sweeps, up to cut.sweeps in a launch: x = (b - (A - diagonal) x) / diagonal at every
/// point, all from the x before. scratch: may be swapped with x. The result has the same bits for
/// each cut; one of 1 sweep is for all devices, others are for the buffers of a CPU.
void sweep(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x, Surface& scratch,
           std::size_t count, const SweepsCut& cut);

}  // namespace lugpu
