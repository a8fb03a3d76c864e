// A matrix of few diagonals on a device (kernels/sparse/banded.cl). Source: J. Krueger,
// R. Westermann, "Linear Algebra Operators for GPU Implementation of Numerical Algorithms", ACM
// Transactions on Graphics 22, 908-916, 2003, sections 2 and 4.1.
#pragma once

#include "operators/operator.hpp"
#include "operators/slices.hpp"

namespace lugpu {

/// A square sparse matrix, each of whose diagonals with entries is stored whole, times a vector on
/// a device. Only entries are multiplied: NaN and infinity in x spread along them alone.
class BandedOperator : public Operator {
 public:
  /// Copies the matrix: facts(a).diagonals n values on the device, and as many doubles on the host
  /// for as long as this takes, whatever the entries. Throws InputError if it is not square or a
  /// value overflows the precision; Unsupported if the device cannot hold it or its vectors.
  BandedOperator(DeviceContext& context, const Sparse& a, Precision precision, Storage storage,
                 Texel texel);

  /// Of the vectors of n elements that apply() takes.
  const VectorLayout& layout() const { return layout_; }

 private:
  void product(Vectors& vectors, const std::string& operation, const Surface& x, const Surface& y,
               Surface& result) const override;
  void product_with_curvature(Vectors& vectors, const Surface& x, Surface& result,
                              const Curvature& curvature) const override;
  template <typename... More>
  void run(Vectors& vectors, const std::string& options, const Surface& x, const Surface& y,
           Surface& result, const More&... more) const;

  std::size_t n_;
  VectorLayout layout_;
  Slices slices_;
  std::size_t diagonals_ = 0;
  cl::Buffer offsets_, values_;
};

}  // namespace lugpu
