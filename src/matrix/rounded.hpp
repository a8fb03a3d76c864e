// A host matrix in another precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "error.hpp"
#include "matrix/matrix.hpp"

namespace lugpu {

/// The elements, column after column, rounded to Real (float or double). Throws InputError if a
/// finite one overflows it.
template <typename Real>
std::vector<Real> rounded(const Matrix& matrix) {
  std::vector<Real> values(matrix.values().size());
  std::transform(matrix.values().begin(), matrix.values().end(), values.begin(), [](double value) {
    if (std::abs(value) > std::numeric_limits<Real>::max() && std::isfinite(value)) {
      char text[32];
      std::snprintf(text, sizeof text, "%g", value);
      throw InputError("The value " + std::string(text) +
                       " overflows single precision; use --precision double.");
    }
    return static_cast<Real>(value);
  });
  return values;
}

}  // namespace lugpu
