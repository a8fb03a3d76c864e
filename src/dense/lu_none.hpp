// LU without pivoting in one launch on a GPU: gpu/lu_none.cl.
#pragma once

#include "opencl/surface.hpp"

namespace lugpu {

/// A = L U by blocks of 64 rows and columns, left-looking, by work-groups that take tasks in order
/// and wait for earlier ones alone: as many of them as the device has compute units.
///
/// L and U are products with the inverses of the factors of the blocks on the diagonal, and so as
/// accurate as by substitution where these blocks are well-conditioned. Where an inverse overflows
/// or nearly so, they are made by substitution.
class LuNone {
 public:
  /// The largest order that is faster so than by launches for each panel, as measured.
  static std::size_t most_order(const Device& device, Precision precision);
  /// In larger matrices work-groups take squares of two by two blocks instead of single blocks.
  static constexpr std::size_t kMostWithoutSquares = 2048;

  /// For matrices order x order. nvidia: with NVIDIA's matrix units. most_without_squares: another
  /// limit, so that tests need no large matrices. Throws Error or cl::Error if the device's memory
  /// does not suffice.
  LuNone(DeviceContext& context, std::size_t order, Precision precision, bool nvidia,
         std::size_t most_without_squares = kMostWithoutSquares);
  /// Bytes of device memory that such an object has.
  static std::uint64_t workspace(std::size_t order, Precision precision);

  /// Enqueues the factorization of `a`, a buffer, order x order: L (unit, below the diagonal) and U
  /// overwrite it. ipiv[k] becomes k. info, one int: set to k > 0 if it was 0 and the k-th pivot
  /// (1-based) is the first that is exactly zero, to -1 if the work-groups waited for one another
  /// in vain. Throws Unsupported if the kernel cannot be built, cl::Error if it cannot be run.
  void factor(Surface& a, const cl::Buffer& ipiv, const cl::Buffer& info);

 private:
  DeviceContext& context_;
  std::size_t order_;
  Precision precision_;
  bool nvidia_, in_squares_;
  cl::Buffer inverses_, progress_;
};

}  // namespace lugpu
