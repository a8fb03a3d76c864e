// A matrix in double on a device: its norms, residuals, and its columns for factors in either
// precision.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "matrix/matrix.hpp"
#include "opencl/transfer.hpp"
#include "opencl/word_planes.hpp"

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
  /// Sends A once. With `rough_first`, a GPU gets the first half of each element's bits first, and
  /// this returns when they have come; the rest follows while the device works, and what needs it
  /// waits. Then the host's memory must stay as it is as long as this matrix. Throws Unsupported if
  /// the device has no doubles or cannot hold A.
  DoubleMatrix(DeviceContext& context, const MatrixView& a, bool rough_first = false);

  std::size_t n() const { return n_; }
  DeviceContext& context() const { return context_; }
  /// ||A||_inf and max |a_ij|; NaN if an element is.
  double norm_inf() const { return sizes().norm_inf; }
  double largest() const { return sizes().largest; }
  /// Seconds for which calls have waited for the rest of A.
  double waited() const { return words_ ? words_->waited() : 0; }

  /// Enqueues R(:, which) = (B - A X)(:, which) for double_columns(); an element is off by at most
  /// (n + 1) eps (|A| |X| + |B|). which: `count` ints.
  void subtract_product(const Surface& x, const Surface& b, Surface& r, const cl::Buffer& which,
                        std::size_t count) const;
  /// Gives the columns of A, in the precision, to `take`, a piece at a time; in single they are
  /// rounded, and what overflows that becomes infinite. Enqueued only.
  void give_columns(Precision precision, const TakePiece& take) const;
  /// The same in single; on a GPU without waiting for all of A, by the first half of each element's
  /// bits, which is rounded to 21 significant ones. For factors that need not be more exact.
  void give_rough_columns(const TakePiece& take) const;

  /// Bytes that it takes on the device, at most, while it is loaded or gives its columns.
  static std::uint64_t bytes(std::size_t n);

 private:
  struct Sizes {
    double norm_inf = 0, largest = 0;
  };
  Sizes sizes() const;
  Sizes measure() const;
  /// make(piece, first, count): enqueues columns first : first + count, `element` bytes each.
  void give(std::size_t element, const TakePiece& make, const TakePiece& take) const;

  DeviceContext& context_;
  std::size_t n_;
  std::optional<Surface> doubles_;      // double_columns(), on a CPU
  std::unique_ptr<WordPlanes> words_;   // elsewhere
  mutable std::optional<Sizes> sizes_;  // once they are asked for
};

}  // namespace lugpu
