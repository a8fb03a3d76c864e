// LU with full and rook pivoting of small matrices, whose columns stay in the registers of a GPU:
// gpu/resident_full.cl.
#pragma once

#include "dense/pivoting.hpp"

namespace lugpu {

/// P A Q = L U of n x n matrices in one launch, and one that puts rows and columns in their places.
class ResidentFull {
 public:
  /// Whether systems of this size fit into the registers of a GPU, and all work-groups run at the
  /// same time; with full and rook pivoting, on the fused schedule.
  static bool fits(const Device& device, const Size& size, const DenseOptions& options);
  /// Whether they fit, and the kernels solve a test system right on this device; tried once.
  static bool suits(DeviceContext& context, const Size& size, const DenseOptions& options);
  /// Bytes of device memory besides the surfaces; 0 for systems that do not fit.
  static std::uint64_t workspace(const Device& device, const Size& size,
                                 const DenseOptions& options);

  ResidentFull(DeviceContext& context, const Size& size, const DenseOptions& options);

  /// From A in surfaces.src to the factors in surfaces.src, as LAPACK's getc2 leaves them. Pivots
  /// and their places go to `pivoting`: of equal magnitudes the first column and, there, the first
  /// row. False if the work-groups waited for one another in vain; then A is as it was.
  bool factor(PingPong& surfaces, Pivoting& pivoting);

 private:
  DeviceContext& context_;
  Size size_;
  DenseOptions options_;
  cl::Buffer messages_;  // between work-groups, see gpu/resident_full.cl
  cl::Buffer slots_;     // n pairs of ints: which row and column of A come to each position
  cl::Buffer status_;    // one int
};

}  // namespace lugpu
