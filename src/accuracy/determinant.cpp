#include "accuracy/determinant.hpp"

#include <cmath>

namespace lugpu {
namespace {

// Every interchange changes the sign.
bool is_odd(const std::vector<int>& interchanges) {
  bool odd = false;
  for (std::size_t k = 0; k < interchanges.size(); ++k) {
    odd ^= static_cast<std::size_t>(interchanges[k]) != k + 1;
  }
  return odd;
}

}  // namespace

void Determinant::multiply(double factor) {
  mantissa *= factor;
  if (mantissa == 0 || !std::isfinite(mantissa)) {
    exponent = 0;
    return;
  }
  const int shift = std::ilogb(mantissa);
  mantissa = std::ldexp(mantissa, -shift);
  exponent += shift;
}

Determinant determinant(const Outcome& outcome) {
  if (outcome.info > 0) return {0, 0};
  Determinant det;
  for (const double pivot : outcome.pivots) det.multiply(pivot);
  if (is_odd(outcome.ipiv) != is_odd(outcome.jpiv)) det.multiply(-1);
  return det;
}

}  // namespace lugpu
