// Pivots on the device: the search, the interchanges, the record (LU-GPU, sections 4.3 and 4.4).
#pragma once

#include "dense/factorization.hpp"
#include "opencl/transfer.hpp"

namespace lugpu {

/// The pivots of one factorization of an n x n matrix, whose columns may be followed by others.
class Pivoting {
 public:
  Pivoting(DeviceContext& context, const Size& size, const DenseOptions& options);

  /// Bytes of device memory that this takes besides the surfaces.
  static std::uint64_t workspace(const Size& size, const DenseOptions& options);

  /// Steps k = 0, 1, ..., n-1 in turn. Finds the pivot of step k in src(k:n, k:n) (rook and full)
  /// or in src(k:n, k) (partial), reads its place back, and interchanges row k with the pivot's
  /// over the columns first : end, and column k with the pivot's over all rows. Both surfaces then
  /// hold the interchanged rows and columns. Does nothing without pivoting.
  void step(PingPong& surfaces, std::size_t k, std::size_t first, std::size_t end);

  /// Finds the pivot of step k in `source` and leaves its place on the device.
  void search(const Surface& source, std::size_t k);

  /// n elements: the value of each pivot, which the kernels of the elimination write.
  const cl::Buffer& values() const { return values_; }
  /// n pairs (row, column), 0-based: the place of each pivot.
  const cl::Buffer& places() const { return places_; }

  /// Reads the pivots and their places back.
  Outcome outcome();

 private:
  void interchange_rows(PingPong& surfaces, int a, int b, std::size_t first, std::size_t end);
  void interchange_columns(PingPong& surfaces, int a, int b);
  DeviceContext& context_;
  Size size_;
  DenseOptions options_;
  cl::Buffer values_;      // n elements
  cl::Buffer places_;      // n pairs (row, column), 0-based
  cl::Buffer magnitudes_;  // slices x n elements: candidates of the full search
  cl::Buffer rows_;        // slices x n ints: the rows of the candidates
};

}  // namespace lugpu
