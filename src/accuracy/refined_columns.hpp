// X and R = B - A X in double, and what refinement in mixed precision does with their columns: on
// the host or on a device. A: n x n; X, B: n x nrhs.
#pragma once

#include <memory>
#include <vector>

#include "dense/factorization.hpp"
#include "operators/residual.hpp"

namespace lugpu {

/// Numbers of columns.
using Columns = std::vector<std::size_t>;
/// X(:, which)
Matrix chosen(const Matrix& x, const Columns& which);
/// X(:, j) = from(:, c)
void set_column(Matrix& x, std::size_t j, const Matrix& from, std::size_t c);

class RefinedColumns {
 public:
  /// max |x| and max |r| of a column; NaN if an element is.
  struct Sizes {
    double x, r;
  };

  virtual ~RefinedColumns() = default;

  virtual std::size_t rows() const = 0;
  virtual std::size_t count() const = 0;

  /// X = 0 and R = B. The sizes of every column.
  virtual std::vector<Sizes> begin() = 0;
  /// X(:, j) += inv(A) R(:, j), then R(:, j) = B(:, j) - A X(:, j), for the columns j of `which`,
  /// whose sizes it returns.
  virtual std::vector<Sizes> correct(const Columns& which) = 0;
  /// X(:, j) as before the last correct(), which was for these columns and others.
  virtual void undo(const Columns& which) = 0;

  /// X(:, j) and B(:, j), n x 1.
  virtual Matrix x(std::size_t j) = 0;
  virtual Matrix b(std::size_t j) = 0;
  virtual void set_x(std::size_t j, const Matrix& x) = 0;
  /// X.
  virtual Matrix solution() = 0;

  /// B - A X and inv(A) X for others.
  const Residual& residual() const { return residual_; }
  const ApplyInverse& inverse() const { return inverse_; }

 protected:
  RefinedColumns(Residual residual, ApplyInverse inverse)
      : residual_(std::move(residual)), inverse_(std::move(inverse)) {}

 private:
  Residual residual_;
  ApplyInverse inverse_;
};

/// On the host.
std::unique_ptr<RefinedColumns> host_columns(Residual residual, Matrix b, ApplyInverse inverse);

/// On the device of A and of the factors, which must outlive them. Columns of R are scaled by
/// powers of two to the size of A's elements before they are rounded to single precision (see
/// inverse_by()).
std::unique_ptr<RefinedColumns> device_columns(const DoubleMatrix& a, const MatrixView& b,
                                               DenseFactorization& factors);

/// Bytes that device_columns() and inverses of them take on the device, at most.
std::uint64_t device_columns_bytes(std::size_t n, std::size_t nrhs);

}  // namespace lugpu
