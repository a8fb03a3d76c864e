// Blocked right-looking LU: P A = L U with no or partial pivoting, in place on a buffer (LAPACK's
// getrf), and the solution with its factors (getrs). Two launches a panel; the next panel is
// factored while the rest is updated (look-ahead). One class for CPUs, one for GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

/// Which system the factors are to solve.
enum class Op { none, transpose };

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
  void factor(Surface& a);
  /// Enqueues X = inv(L U) X or X = inv((L U)') X for the n x n factors `lu`: LAPACK's getrs
  /// without the interchanges. x: n rows, any number of columns, a buffer whose padding holds
  /// finite numbers; its memory may be another afterwards. The first solution with the transpose
  /// keeps the transpose of `lu` on the device for those to come, until the next factor().
  void solve(const Surface& lu, Surface& x, Op op = Op::none);
  /// Which kernels run, where there is a choice.
  virtual std::optional<std::string> variant() const { return std::nullopt; }

  /// min(m, n) ints: row k was interchanged with row ipiv(k), 0-based, in this order.
  const cl::Buffer& ipiv() const { return ipiv_; }
  /// One int: k > 0 if the k-th pivot (1-based) is the first that is exactly zero, otherwise 0.
  const cl::Buffer& info() const { return info_; }

 protected:
  /// A triangle of a square surface, with the diagonal of that or (unit) with ones.
  struct Triangle {
    const Surface& of;
    bool upper, unit;
  };

  Blocked(DeviceContext& context, const Shape& shape);

  virtual void factorize(Surface& a) = 0;
  /// X = inv(T) X, by blocks of solve_rows() rows.
  virtual void solve_triangle(const Triangle& t, Surface& x);
  /// x(first:first+rows, :) = inv(T(first:first+rows, first:first+rows)) x(first:first+rows, :)
  virtual void solve_block(const Triangle& t, Surface& x, std::size_t first, std::size_t rows) = 0;
  /// x(first:last, :) -= T(first:last, k:k+rows) x(k:k+rows, :)
  virtual void subtract_block(const Triangle& t, Surface& x, std::size_t k, std::size_t rows,
                              std::size_t first, std::size_t last) = 0;
  /// NB of the kernels that solve.
  virtual std::size_t solve_rows() const = 0;

  DeviceContext& context_;
  Shape shape_;
  cl::Buffer ipiv_, info_;

 private:
  std::optional<Surface> transposed_;  // the factors, see solve()
};

/// ceil(count / divisor)
constexpr std::size_t ceiling(std::size_t count, std::size_t divisor) {
  return (count + divisor - 1) / divisor;
}

}  // namespace lugpu
