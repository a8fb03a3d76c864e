// A dense real matrix on the host, column-major as in LAPACK.
#pragma once

#include <cstddef>
#include <vector>

namespace lugpu {

/// m x n matrix of doubles, column-major with leading dimension m: element (i, j), 0-based, is
/// data()[i + j * m]. Single precision lives on the device only; the host keeps what the user gave.
class Matrix {
 public:
  Matrix() = default;
  /// rows x cols zeros.
  Matrix(std::size_t rows, std::size_t cols)
      : rows_(rows), cols_(cols), values_(rows * cols, 0.0) {}

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }

  double& operator()(std::size_t i, std::size_t j) { return values_[i + j * rows_]; }
  double operator()(std::size_t i, std::size_t j) const { return values_[i + j * rows_]; }

  /// Column j, rows() contiguous elements.
  double* column(std::size_t j) { return values_.data() + j * rows_; }
  const double* column(std::size_t j) const { return values_.data() + j * rows_; }

  /// All rows() * cols() elements, column after column.
  std::vector<double>& values() { return values_; }
  const std::vector<double>& values() const { return values_; }

  /// Leading dimension for LAPACK calls: max(1, rows()).
  int ld() const { return rows_ > 0 ? static_cast<int>(rows_) : 1; }

 private:
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::vector<double> values_;
};

}  // namespace lugpu
