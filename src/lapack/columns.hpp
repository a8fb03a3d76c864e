// The matrices of a LAPACK call.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/parallel.hpp"

namespace lugpu::lapack {

/// A matrix of the caller, column-major: element (i, j), 0-based, is data[i + j * ld], ld >= rows.
template <typename Real>
struct Columns {
  Real* data;
  std::size_t rows, columns, ld;

  Real* column(std::size_t j) const { return data + j * ld; }
  operator Columns<const Real>() const { return {data, rows, columns, ld}; }
};

/// A, m x n, with the leading dimension lda.
template <typename Real>
Columns<Real> columns(Real* a, int m, int n, int lda) {
  return {a, static_cast<std::size_t>(m), static_cast<std::size_t>(n),
          static_cast<std::size_t>(lda)};
}

/// to = from, of the same shape.
template <typename Real>
void copy(Columns<const Real> from, Columns<Real> to) {
  in_parallel(to.columns, to.rows * sizeof(Real),
              [&](std::size_t j) { std::copy_n(from.column(j), to.rows, to.column(j)); });
}

}  // namespace lugpu::lapack
