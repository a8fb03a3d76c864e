// Dense real matrices on the host: one that owns its elements, and views of anybody's.
#pragma once

#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "base/pages.hpp"
#include "lugpu/view.hpp"

namespace lugpu {

/// m x n matrix of doubles, column-major with leading dimension m: element (i, j), 0-based, is
/// data()[i + j * m].
class Matrix {
 public:
  Matrix() = default;
  /// rows x cols zeros.
  Matrix(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols) {
    values_.reserve(rows * cols);
    get_pages(values_.data(), rows * cols * sizeof(double));
    values_.resize(rows * cols);
  }
  /// Takes over rows * cols elements, column after column.
  Matrix(std::size_t rows, std::size_t cols, std::vector<double> values)
      : rows_(rows), cols_(cols), values_(std::move(values)) {}

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

  View<double> view() { return {values_.data(), rows_, cols_, rows_}; }
  View<const double> view() const { return {values_.data(), rows_, cols_, rows_}; }

 private:
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::vector<double> values_;
};

/// A matrix that is only read, in single or double precision, by columns or by rows. What it views
/// must outlive it.
class MatrixView {
 public:
  MatrixView(View<const float> view) : view_(view) {}
  MatrixView(View<const double> view) : view_(view) {}
  MatrixView(const Matrix& matrix) : view_(matrix.view()) {}

  /// What `action` returns for the View<const float> or View<const double>.
  template <typename Action>
  decltype(auto) visit(Action&& action) const {
    return std::visit(action, view_);
  }

  std::size_t rows() const {
    return visit([](const auto& view) { return view.rows; });
  }
  std::size_t cols() const {
    return visit([](const auto& view) { return view.columns; });
  }
  double operator()(std::size_t i, std::size_t j) const {
    return visit([=](const auto& view) { return static_cast<double>(view(i, j)); });
  }
  /// Of a matrix in double.
  View<const double> doubles() const { return std::get<View<const double>>(view_); }
  /// The columns first : first + count.
  MatrixView part(std::size_t first, std::size_t count) const {
    return visit([=](const auto& view) { return MatrixView(view.part(first, count)); });
  }

 private:
  std::variant<View<const float>, View<const double>> view_;
};

/// A copy in double.
Matrix widened(const MatrixView& from);

}  // namespace lugpu
