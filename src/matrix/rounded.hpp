// A host matrix in another precision.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "matrix/matrix.hpp"

namespace lugpu {

/// Throws InputError that names a finite value beyond the range of Real.
template <typename Real>
[[noreturn]] void refuse_overflow(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  throw InputError("The value " + std::string(text) + " overflows single precision",
                   {"precision", "double"});
}

/// Whether rounding to Real would make a finite value infinite.
template <typename Real, typename T>
bool overflows(T value) {
  if constexpr (sizeof(Real) >= sizeof(T)) return false;
  return std::abs(value) > std::numeric_limits<Real>::max() && std::isfinite(value);
}

/// The matrix, column after column or, for Order::rows, row after row, rounded to Real (float or
/// double) in `to`. Throws InputError if a finite element overflows it.
template <typename Real, typename T>
void round_to(const View<const T>& from, Real* to) {
  const bool by_columns = from.order == Order::columns;
  const std::size_t lines = by_columns ? from.columns : from.rows;
  const std::size_t length = by_columns ? from.rows : from.columns;
  constexpr std::size_t kPart = 512;  // of a line: small enough to be read twice from the cache
  std::atomic<const T*> overflow = nullptr;
  in_parallel(lines, length * sizeof(T), [&](std::size_t k) {
    const T* const line = from.data + k * from.ld;
    for (std::size_t first = 0; first < length; first += kPart) {
      const T* const part = line + first;
      const T* const end = part + std::min(kPart, length - first);
      if constexpr (sizeof(Real) < sizeof(T)) {
        const T* const found = std::find_if(part, end, overflows<Real, T>);
        if (found != end) {
          overflow = found;
          return;
        }
      }
      std::transform(part, end, to + k * length + first,
                     [](T value) { return static_cast<Real>(value); });
    }
  });
  if (overflow) refuse_overflow<Real>(*overflow);
}

/// The elements as round_to leaves them.
template <typename Real>
std::vector<Real> rounded(const MatrixView& matrix) {
  std::vector<Real> values(matrix.rows() * matrix.cols());
  matrix.visit([&](const auto& view) { round_to(view, values.data()); });
  return values;
}

/// The columns or rows of `to`, in its order, from contiguous elements.
template <typename T, typename Real>
void assign(const View<T>& to, const Real* from) {
  const bool by_columns = to.order == Order::columns;
  const std::size_t lines = by_columns ? to.columns : to.rows;
  const std::size_t length = by_columns ? to.rows : to.columns;
  in_parallel(lines, length * sizeof(T), [&](std::size_t k) {
    std::transform(from + k * length, from + (k + 1) * length, to.data + k * to.ld,
                   [](Real value) { return static_cast<T>(value); });
  });
}

}  // namespace lugpu
