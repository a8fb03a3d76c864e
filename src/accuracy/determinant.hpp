// The determinant from the pivots.
#pragma once

#include <cstdint>

#include "dense/solver.hpp"

namespace lugpu {

/// mantissa * 2^exponent, which neither overflows nor underflows; 1 <= |mantissa| < 2, or 0, or not
/// finite.
struct Determinant {
  double mantissa = 1;
  std::int64_t exponent = 0;

  void multiply(double factor);
};

/// The product of the pivots, with the sign of the interchanges: of A for P A Q = L U. Zero for
/// info > 0, one for n = 0. As accurate as the pivots.
Determinant determinant(const Outcome& outcome);

}  // namespace lugpu
