// Norms of vectors on a device whose squares leave the range of their precision.
#pragma once

#include "operators/vectors.hpp"

namespace lugpu {

/// (scale x) . (scale x) in double with a power of two as the scale: 1, unless x . x is so small or
/// so large that iterations on it would leave the range of the precision. NaN or infinity, with
/// scale 1, if x has one. Uses scalars(0) and waits for it.
struct ScaledSquare {
  double scale = 1;
  double square = 0;

  double norm() const;
};
ScaledSquare scaled_square(Vectors& vectors, const Surface& x);

/// ||x||_2
inline double norm(Vectors& vectors, const Surface& x) {
  return scaled_square(vectors, x).norm();
}

/// x becomes factor x.
void scale(Vectors& vectors, double factor, Surface& x);

}  // namespace lugpu
