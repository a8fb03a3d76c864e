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
  /// nb: columns of a panel, 0 for block_size(). Throws Unsupported unless this device's kernels can work with it.
  Blocked(DeviceContext& context, std::size_t m, std::size_t n, Pivot pivot, Precision precision,
          std::size_t nb);

  /// The fastest number of columns of a panel for matrices of order n.
  static std::size_t block_size(const Device& device, std::size_t n, Precision precision);
  /// Bytes of device memory beside the matrix: two panels, U of one block row, the pivots.
  static std::uint64_t workspace(std::size_t m, std::size_t n, Precision precision,
                                 std::size_t nb);

  /// Enqueues the factorization of `a`, m x n. L (unit, below the diagonal) and U overwrite it.
  void factor(Surface& a);

  /// Enqueues X = inv(U) inv(L) X for the n x n factors `lu`; x: n rows, any number of columns, a buffer
  /// whose padding holds finite numbers (LAPACK's getrs after the interchanges).
  void solve(const Surface& lu, Surface& x);

  /// min(m, n) ints: row k was interchanged with row ipiv(k), 0-based, in this order.
  const cl::Buffer& ipiv() const { return ipiv_; }
  /// One int: k > 0 if the k-th pivot (1-based) is the first that is exactly zero, otherwise 0.
  const cl::Buffer& info() const { return info_; }

 private:
  KernelId kernel(const char* file, const char* function) const;
  void subtract_block(const Surface& lu, Surface& x, std::size_t k, std::size_t first,
                      std::size_t last);

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
