// LU with full pivoting on the fused schedule: two launches a step, or many steps in one on the
// buffers of CPUs; and nothing read back. Each step
// reads the trailing matrix once, updates it on the way and finds the next pivot; but only every
// fourth step writes it, with the updates of four steps at once.
#pragma once

#include <string>

#include "dense/pivoting.hpp"
#include "dense/tiling.hpp"
#include "opencl/surface.hpp"

namespace lugpu {

/// Factors n x n matrices of one problem: P A Q = L U.
class FullPivoting {
 public:
  /// Throws Unsupported on a CPU without long loops (DeviceContext::require_long_loops).
  FullPivoting(DeviceContext& context, const Size& size, const DenseOptions& options);

  /// Bytes of device memory besides the surfaces that grow with n.
  static std::uint64_t workspace(const Size& size, const DenseOptions& options);

  /// From A in surfaces.src to the factors in surfaces.src, as LAPACK's getc2 leaves them. Pivots
  /// and their places go to `pivoting`. Each element is the same to the last bit as if every step
  /// had written it.
  void factor(PingPong& surfaces, Pivoting& pivoting);

 private:
  void step(PingPong& surfaces, Pivoting& pivoting, std::size_t k);
  // The steps first : last, in one launch where that can have several, or else a single one.
  void steps(PingPong& surfaces, Pivoting& pivoting, std::size_t first, std::size_t last);
  std::size_t first_written(std::size_t k) const;
  bool writes(std::size_t k) const;
  std::uint64_t bytes_of(std::size_t k, const Tiling::Launch& launch) const;

  DeviceContext& context_;
  Size size_;
  DenseOptions options_;
  Tiling tiling_;
  Candidates candidates_;
  std::size_t candidate_count_ = 0;  // of the last step
  std::size_t choosers_;             // work-items of take_pivot, at most
  std::string build_options_;        // for building dense/full_pivoting.cl
  cl::Buffer l_, u_;                 // columns of L and rows of U of steps not written yet
  cl::Buffer phases_;                // of cpu/phases.clh; none if a launch has one step
};

}  // namespace lugpu
