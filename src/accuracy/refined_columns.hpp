// X and R = B - A X in double, and what refinement in mixed precision does with their columns: on
// the host or on a device. A: n x n; X, B: n x nrhs.
#pragma once

#include <memory>
#include <vector>

#include "dense/factorization.hpp"
#include "operators/double_matrix.hpp"
#include "operators/residual.hpp"

namespace lugpu {

/// Numbers of columns.
using Columns = std::vector<std::size_t>;
/// 0, 1, ..., count - 1
Columns all_columns(std::size_t count);
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

  /// X = 0 and R = B.
  virtual void begin() = 0;
  /// X(:, j) += inv(A) R(:, j), then R(:, j) = B(:, j) - A X(:, j), for the columns j of `which`.
  /// It may be enqueued only.
  virtual void correct(const Columns& which) = 0;
  /// After correct(), for those of its columns with max |r| > tolerance max |x|: X(:, j) and R(:,
  /// j) become those of the least ||R(:, j)||_2 among X(:, j) before that correction plus any
  /// combination of the last 8 corrections (of many columns fewer, at least 2). R is updated, not
  /// computed anew. A step of GCR: Eisenstat, Elman and Schultz, SIAM J. Numer. Anal. 20, 1983. It
  /// may be enqueued only.
  virtual void minimize_residual(double tolerance) = 0;
  /// The sizes of columns that begin() or the last correct() was for, as that left them.
  virtual std::vector<Sizes> sizes(const Columns& which) = 0;
  /// X.
  virtual Matrix solution() = 0;
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
