// LU with partial pivoting of matrices with few rows, whose columns stay in the registers of a GPU:
// gpu/resident_lu.cl.
#pragma once

#include "opencl/surface.hpp"

namespace lugpu {

/// P A = L U (LAPACK's getrf) of a matrix or of the last rows and columns of one: a launch and one
/// for the interchanges, twice if there are many rows, so that the last ones take less time.
class ResidentLu {
 public:
  /// More do not fit into the registers of a work-group.
  static constexpr std::size_t kMostRows = 2048;

  /// For up to `rows` (at most kMostRows) and `columns`. nvidia: with NVIDIA's instructions.
  ResidentLu(DeviceContext& context, std::size_t rows, std::size_t columns, Precision precision,
             bool nvidia);
  /// Bytes of device memory that such an object has, at most.
  static std::uint64_t workspace(std::size_t rows, std::size_t columns, Precision precision);

  /// Enqueues the factorization of the rows and columns of `a`, m x n, from `first` (a multiple of
  /// 8) on. L (unit, below the diagonal) and U overwrite them; the interchanges are made in all
  /// columns. ipiv[k], for k from `first` on: the row that was interchanged with row k, 0-based.
  /// info, one int: set to k > 0 if it was 0 and the k-th pivot (1-based) is the first that is
  /// exactly zero, to -1 if the work-groups waited for one another in vain.
  void factor(Surface& a, std::size_t first, const cl::Buffer& ipiv, const cl::Buffer& info);

 private:
  /// Columns first : stop are eliminated, and what is right of them gets their products.
  void factor_columns(Surface& a, std::size_t first, std::size_t stop, const cl::Buffer& ipiv,
                      const cl::Buffer& info);

  DeviceContext& context_;
  Precision precision_;
  bool nvidia_;
  cl::Buffer messages_, goes_to_;
};

}  // namespace lugpu
