// LU with partial pivoting of band matrices on a device, and solutions with the factors: LAPACK's
// gbtrf and gbtrs. One class for CPUs, one for GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dense/options.hpp"
#include "matrix/sparse.hpp"
#include "opencl/transfer.hpp"

namespace lugpu {

/// n x n, zero but for `lower` diagonals below the main one and `upper` above it, any number; nrhs
/// right-hand sides.
struct BandSize {
  std::size_t n = 0, lower = 0, upper = 0, nrhs = 0;
};

/// One system A X = B of a fixed size: upload and factor A once, then any number of times upload B,
/// solve and download X. Device memory is allocated once. Calls may return before the device is
/// done, but for those that give something to the host.
class BandedLu {
 public:
  /// For the class of the context's device. Throws Unsupported if that lacks the precision or has
  /// no room; nothing is allocated then.
  static std::unique_ptr<BandedLu> make(DeviceContext& context, const BandSize& size,
                                        Precision precision);
  virtual ~BandedLu() = default;
  BandedLu(const BandedLu&) = delete;
  BandedLu& operator=(const BandedLu&) = delete;

  const BandSize& size() const { return size_; }

  /// A, n x n. Throws InputError if an entry is outside the band or overflows the precision.
  void upload(const Sparse& a);
  /// P A = L U, in place: once for each upload.
  void factor();
  /// Of the last factor(): info and ipiv as dgbtrf's; the diagonal of U is not part of it.
  Outcome outcome();

  /// B, n x nrhs. Throws InputError if a value overflows the precision.
  void upload_rhs(const MatrixView& b);
  /// X = inv(A) B; only after a factor() with info = 0.
  void solve();
  /// The same for B on the device, column-major, which becomes X.
  void solve(cl::Buffer& b) { substitute(b); }
  /// X, n x nrhs, of the last solve().
  template <typename T>
  void download(View<T> x) {
    lugpu::download(context_, x_, precision_, x);
  }

  /// The factors as dgbtrf leaves them: (2 lower + upper + 1) x n, element (i, j) of U, and of the
  /// multipliers below it, in row lower + upper + i - j of column j. Takes a copy of all that the
  /// device has of the band.
  Matrix factors();

 protected:
  /// Element (i, j) of the band is at i * row_stride + j * column_stride.
  struct Layout {
    std::size_t row_stride = 0, column_stride = 0;
    std::size_t elements = 0;
    std::size_t nb = 1;  ///< L of so many columns is interchanged by all their pivots
  };

  /// size: with at most n - 1 diagonals on either side, see clipped(). workspace: elements besides
  /// the band, B and X. Throws as make().
  BandedLu(DeviceContext& context, const BandSize& size, Precision precision, const Layout& layout,
           std::uint64_t workspace);

  virtual void factorize() = 0;
  /// x = inv(A) x, n x nrhs, column-major.
  virtual void substitute(cl::Buffer& x) = 0;

  std::size_t element() const { return element_size(precision_); }

  DeviceContext& context_;
  const BandSize size_;
  const Precision precision_;
  const Layout layout_;
  cl::Buffer a_;
  cl::Buffer ipiv_;  // n ints, from 0
  cl::Buffer info_;  // one int, as LAPACK's

 private:
  template <typename Real>
  void place_entries(const Sparse& a);
  template <typename Real>
  Matrix read_factors();

  cl::Buffer b_, x_;  // n x nrhs, column-major
};

/// The same band with no more diagonals than the matrix has.
BandSize clipped(const BandSize& size);

}  // namespace lugpu
