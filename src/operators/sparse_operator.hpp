// A sparse matrix on a device in sliced ELLPACK (kernels/sparse/sell.cl). Source of the format:
// M. Kreutzer, G. Hager, G. Wellein, H. Fehske, A. R. Bishop, "A Unified Sparse Matrix Data Format
// for Efficient General Sparse Matrix-Vector Multiplication on Modern Processors with Wide SIMD
// Units", SIAM Journal on Scientific Computing 36, C401-C423, 2014; here the rows stay in order,
// long ones are cut into parts, and slots whose entries follow one another store no columns.
#pragma once

#include "operators/operator.hpp"
#include "operators/slices.hpp"

namespace lugpu {

/// A square sparse matrix times a vector on a device. Only entries are multiplied: NaN and infinity
/// in x spread along them alone.
class SparseOperator : public Operator {
 public:
  /// Copies the matrix: about 4 (entries + 3 n) values and as many integers on the device at most,
  /// and on the host, as doubles and integers, for as long as this takes. Throws InputError if it
  /// is not square or a value overflows the precision; Unsupported if the device cannot hold it or
  /// its vectors.
  SparseOperator(DeviceContext& context, const Sparse& a, Precision precision, Storage storage,
                 Texel texel);

  /// Of the vectors of n elements that apply() takes.
  const VectorLayout& layout() const { return layout_; }

  /// x += inverse_diagonal (b - A x) in the rows first : end, none of which refers to another of
  /// them: Gauss-Seidel's step for unknowns of one colour. scratch: any vector where x is an image;
  /// not used where it is a buffer.
  void relax(Vectors& vectors, const Surface& inverse_diagonal, const Surface& b, std::size_t first,
             std::size_t end, Surface& x, Surface& scratch) const;

 private:
  void product(Vectors& vectors, const std::string& operation, const Surface& x, const Surface& y,
               Surface& result) const override;
  void product_with_curvature(Vectors& vectors, const Surface& x, Surface& result,
                              const Curvature& curvature) const override;
  template <typename... More>
  void run(Vectors& vectors, const std::string& options, const Surface& x, const Surface& y,
           Surface& result, const More&... more) const;
  void sum_parts(Vectors& vectors, const Surface& x) const;

  VectorLayout layout_;
  Slices slices_;
  cl::Buffer begins_, starts_, values_, places_;
  std::size_t parts_ = 0;  // of long rows
  cl::Buffer part_begins_, part_values_, part_places_, sums_;
};

}  // namespace lugpu
