// The fused schedule: one launch a step, two with pivoting, or many steps in one on the buffers of
// CPUs; and nothing read back. Each element of the trailing matrix is read and written once per
// step; the same pass finds the next pivot, except with rook pivoting, whose search walks.
#pragma once

#include <string>

#include "dense/pivoting.hpp"
#include "dense/tiling.hpp"
#include "opencl/surface.hpp"

namespace lugpu {

enum class Elimination { lu, gauss_jordan };

/// Runs all steps of an elimination of n x n, or n x end for [A | B], on a pair of surfaces.
class Fused {
 public:
  /// Throws Unsupported on a CPU without long loops (DeviceContext::require_long_loops).
  Fused(DeviceContext& context, const Size& size, const DenseOptions& options, std::size_t end,
        Elimination elimination);

  /// From A in surfaces.src to the factors in surfaces.src (LU: finished, as LAPACK's), or to [I |
  /// X]. The columns before n of [I | X] are not written. Pivots and their places go to `pivoting`.
  void factor(PingPong& surfaces, Pivoting& pivoting);

 private:
  void step(PingPong& surfaces, Pivoting& pivoting, std::size_t k);
  // The steps first : last, in one launch where that can have several, or else a single one.
  void steps(PingPong& surfaces, Pivoting& pivoting, std::size_t first, std::size_t last);
  Tiling::Launch launch_of(std::size_t k) const;
  std::uint64_t bytes_of(std::size_t k, const Tiling::Launch& launch) const;
  std::size_t first_row(std::size_t k) const;
  std::size_t first_column(std::size_t k) const;

  DeviceContext& context_;
  Size size_;
  DenseOptions options_;
  std::size_t end_;
  std::string prefix_;  // of the kernels in dense/fused.cl
  bool is_lu_;
  Tiling tiling_;
  std::string build_options_;  // the same for building dense/fused.cl
  Candidates candidates_;
  cl::Buffer phases_;  // of cpu/phases.clh; none if a launch has one step
};

}  // namespace lugpu
