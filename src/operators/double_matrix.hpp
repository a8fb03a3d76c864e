// A matrix in double on a device: its norms, residuals, and its columns for factors in either
// precision.
#pragma once

#include <cstdint>

#include "matrix/matrix.hpp"
#include "opencl/transfer.hpp"

namespace lugpu {

/// Columns of n doubles on a device: column j is row j of the surface. What follows a column is
/// zero.
Surface double_columns(DeviceContext& context, std::size_t n, std::size_t count);
/// The first columns of such a surface, from and to the host.
void upload_columns_of(DeviceContext& context, const MatrixView& from, Surface& to);
Matrix read_columns(DeviceContext& context, const Surface& from, std::size_t first,
                    std::size_t count);

/// Work-items that add up a column in dense/mixed.cl: 1024 on GPUs that have so many, since one
/// work-group waits for memory most of the time; 256 elsewhere.
std::size_t items_of_column(const Device& device);
/// A kernel of dense/mixed.cl.
KernelId mixed_kernel(const Device& device, const char* function);

/// An n x n matrix A.
class DoubleMatrix {
 public:
  /// Sends A once. Throws Unsupported if the device has no doubles or cannot hold A.
  DoubleMatrix(DeviceContext& context, const MatrixView& a);

  std::size_t n() const { return a_.rows(); }
  DeviceContext& context() const { return context_; }
  /// ||A||_inf and max |a_ij|; NaN if an element is.
  double norm_inf() const { return norm_inf_; }
  double largest() const { return largest_; }

  /// Enqueues R(:, which) = (B - A X)(:, which) for double_columns(); an element is off by at most
  /// (n + 1) eps (|A| |X| + |B|). which: `count` ints.
  void subtract_product(const Surface& x, const Surface& b, Surface& r, const cl::Buffer& which,
                        std::size_t count) const;
  /// Gives the columns of A, in the precision, to `take`, a piece at a time; in single they are
  /// rounded, and what overflows that becomes infinite. Enqueued only.
  void give_columns(Precision precision, const TakePiece& take) const;

  /// Bytes that it takes on the device, at most, while it is loaded or gives its columns.
  static std::uint64_t bytes(std::size_t n);

 private:
  void measure();

  DeviceContext& context_;
  Surface a_;  // double_columns()
  double norm_inf_ = 0, largest_ = 0;
};

}  // namespace lugpu
