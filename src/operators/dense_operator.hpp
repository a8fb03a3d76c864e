// A dense matrix on a device (kernels/dense/product.cl). Source: J. Krueger, R. Westermann, "Linear
// Algebra Operators for GPU Implementation of Numerical Algorithms", ACM Transactions on Graphics
// 22, 908-916, 2003, sections 2 and 3.2.
#pragma once

#include "matrix/matrix.hpp"
#include "operators/operator.hpp"

namespace lugpu {

/// A square dense matrix times a vector on a device, as the sum of vectors: columns of A, each
/// times an element of x; or its diagonals, each times the elements of x that belong to it.
class DenseOperator : public Operator {
 public:
  enum class Order { columns, diagonals };

  /// Copies the matrix: n^2 values on the device, for diagonals as many doubles on the host too
  /// for as long as this takes. Throws InputError if it is not square or a value overflows the
  /// precision; Unsupported if the device cannot hold it or its vectors, as images of more rows
  /// than its largest.
  DenseOperator(DeviceContext& context, const MatrixView& a, Order order, Precision precision,
                Storage storage, Texel texel);

  /// Of the vectors of n elements that apply() takes.
  const VectorLayout& layout() const { return layout_; }

  /// x = inv(D + L) x, where A = L + D + U is stored by columns (dense/substitute.clh).
  void solve_lower(Vectors& vectors, Surface& x) const;

 private:
  void product(Vectors& vectors, const std::string& operation, const Surface& x, const Surface& y,
               Surface& result) const override;
  void product_with_curvature(Vectors& vectors, const Surface& x, Surface& result,
                              const Curvature& curvature) const override;
  void multiply(Vectors& vectors, const Surface& x) const;
  template <typename... More>
  void add_up(Vectors& vectors, const std::string& options, const Surface& x, const Surface& y,
              Surface& result, const More&... more) const;

  std::size_t n_;
  VectorLayout layout_;
  Surface a_;  // row k: column or diagonal k
  std::string options_;
  std::size_t group_x_, group_y_, block_;  // of multiply(): work-items, texels of each
  std::size_t texels_;                     // of a column
  std::size_t shares_, share_;             // of the columns: how many, and columns of each
  cl::Buffer sums_;                        // of each share
};

}  // namespace lugpu
