// Small matrices of tests and plain loops over them, which lugpu's own code has no part in.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "matrix/matrix.hpp"

namespace lugpu {

/// Written row by row, as on paper.
inline Matrix matrix(std::initializer_list<std::initializer_list<double>> rows) {
  Matrix a(rows.size(), rows.begin()->size());
  std::size_t i = 0;
  for (const auto& row : rows) {
    std::size_t j = 0;
    for (const double value : row) a(i, j++) = value;
    ++i;
  }
  return a;
}

inline Matrix filled(std::size_t rows, std::size_t columns, double value) {
  Matrix a(rows, columns);
  std::fill(a.values().begin(), a.values().end(), value);
  return a;
}

/// `value` on the diagonal.
inline Matrix diagonal(std::size_t n, double value) {
  Matrix a(n, n);
  for (std::size_t i = 0; i < n; ++i) a(i, i) = value;
  return a;
}

inline Matrix identity(std::size_t n) {
  return diagonal(n, 1);
}

inline Matrix transposed(const Matrix& a) {
  Matrix t(a.cols(), a.rows());
  for (std::size_t j = 0; j < a.cols(); ++j) {
    for (std::size_t i = 0; i < a.rows(); ++i) t(j, i) = a(i, j);
  }
  return t;
}

/// A B
inline Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows(), b.cols());
  for (std::size_t j = 0; j < b.cols(); ++j) {
    for (std::size_t k = 0; k < a.cols(); ++k) {
      for (std::size_t i = 0; i < a.rows(); ++i) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

}  // namespace lugpu
