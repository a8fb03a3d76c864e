// Blocked right-looking LU: P A = L U with no or partial pivoting, in place on a buffer (LAPACK's
// getrf). Two launches a panel; the next panel is factored while the rest is updated (look-ahead).
#pragma once

#include <cstdint>
#include <string>

#include "opencl/surface.hpp"
#include "solvers/solver.hpp"

namespace lugpu {

/// Factors m x n matrices of one shape and precision, any m and n.
class Blocked {
 public:
  /// nb: columns of a panel; 0 for what is fastest. Throws InputError unless this device's kernels
  /// can work with it.
  Blocked(DeviceContext& context, std::size_t m, std::size_t n, Pivot pivot, Precision precision,
          std::size_t nb = 0);

  /// Bytes of device memory beside the matrix: two panels, U of one block row, the pivots.
  static std::uint64_t workspace(const Device& device, std::size_t m, std::size_t n,
                                 Precision precision, std::size_t nb = 0);

  /// Enqueues the factorization of `a`, m x n. L (unit, below the diagonal) and U overwrite it.
  void factor(Surface& a);

  /// min(m, n) ints: row k was interchanged with row ipiv(k), 0-based, in this order.
  const cl::Buffer& ipiv() const { return ipiv_; }
  /// One int: k > 0 if the k-th pivot (1-based) is the first that is exactly zero, otherwise 0.
  const cl::Buffer& info() const { return info_; }
  std::size_t nb() const { return nb_; }

 private:
  KernelId kernel(const char* function) const;

  DeviceContext& context_;
  std::size_t m_, n_;
  Precision precision_;
  bool pivoted_;
  std::size_t nb_;
  std::size_t strip_;        // columns of a register tile
  std::string options_;      // build options of the kernels
  cl::Buffer panel_, next_;  // W of lu_blocked_cpu.cl, for this panel and the next
  cl::Buffer block_row_;     // V
  cl::Buffer ipiv_, info_;
};

}  // namespace lugpu
