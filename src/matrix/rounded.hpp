// A host matrix in another precision.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "matrix/matrix.hpp"

namespace lugpu {

/// Columns first : first + count, one after the other, rounded to Real (float or double) in `to`.
/// Throws InputError if a finite element overflows it.
template <typename Real>
void round_columns(const Matrix& matrix, std::size_t first, std::size_t count, Real* to) {
  const auto overflows = [](double value) {
    return std::abs(value) > std::numeric_limits<Real>::max() && std::isfinite(value);
  };
  const std::size_t rows = matrix.rows();
  std::atomic<bool> overflow = false;
  in_parallel(count, rows * sizeof(double), [&](std::size_t j) {
    const double* column = matrix.column(first + j);
    if (std::any_of(column, column + rows, overflows)) overflow = true;
    std::transform(column, column + rows, to + j * rows,
                   [](double value) { return static_cast<Real>(value); });
  });
  if (!overflow) return;
  char text[32];
  std::snprintf(text, sizeof text, "%g",
                *std::find_if(matrix.column(first), matrix.column(first + count), overflows));
  throw InputError("The value " + std::string(text) +
                   " overflows single precision; use --precision double.");
}

/// The elements, column after column, rounded to Real. Throws as round_columns.
template <typename Real>
std::vector<Real> rounded(const Matrix& matrix) {
  std::vector<Real> values(matrix.values().size());
  round_columns(matrix, 0, matrix.cols(), values.data());
  return values;
}

}  // namespace lugpu
