// Blocked right-looking LU: P A = L U with no or partial pivoting, in place on a buffer (LAPACK's
// getrf), and the solution with its factors (getrs). Two launches a panel; the next panel is
// factored while the rest is updated (look-ahead). One class for CPUs, one for GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "opencl/surface.hpp"
#include "solvers/solver.hpp"

namespace lugpu {

/// What is to be factored: m x n, any m and n.
struct Shape {
  std::size_t m = 0, n = 0;
  Pivot pivot = Pivot::partial;  ///< none or partial
  Precision precision = Precision::double_precision;
  std::size_t nb = 0;  ///< columns of a block; 0 for the fastest
};

/// Factors and solves; for one shape and precision.
class Blocked {
 public:
  /// For the class of the context's device. Throws Unsupported for a block size that its kernels
  /// cannot work with, or a device without the local memory that they need.
  static std::unique_ptr<Blocked> make(DeviceContext& context, const Shape& shape);

  /// The fastest number of columns of a block for matrices of order n, as measured.
  static std::size_t block_size(const Device& device, std::size_t n);
  /// Bytes of device memory beside the matrix, at most: panels, a block row of U, the pivots.
  static std::uint64_t workspace(const Shape& shape);

  virtual ~Blocked() = default;

  /// Enqueues the factorization of `a`, m x n. L (unit, below the diagonal) and U overwrite it.
  virtual void factor(Surface& a) = 0;
  /// Enqueues X = inv(U) inv(L) X for the n x n factors `lu`; x: n rows, any number of columns, a
  /// buffer whose padding holds finite numbers (LAPACK's getrs after the interchanges).
  virtual void solve(const Surface& lu, Surface& x) = 0;
  /// Which kernels run, where there is a choice.
  virtual std::optional<std::string> variant() const { return std::nullopt; }

  /// min(m, n) ints: row k was interchanged with row ipiv(k), 0-based, in this order.
  const cl::Buffer& ipiv() const { return ipiv_; }
  /// One int: k > 0 if the k-th pivot (1-based) is the first that is exactly zero, otherwise 0.
  const cl::Buffer& info() const { return info_; }

 protected:
  Blocked(DeviceContext& context, const Shape& shape);

  DeviceContext& context_;
  Shape shape_;
  cl::Buffer ipiv_, info_;
};

/// ceil(count / divisor)
constexpr std::size_t ceiling(std::size_t count, std::size_t divisor) {
  return (count + divisor - 1) / divisor;
}

}  // namespace lugpu
