// A matrix of doubles on a device as two planes of words, which come one after the other: work that
// needs no more than the first half of each element's bits begins when half of the matrix is there.
#pragma once

#include <future>

#include "matrix/matrix.hpp"
#include "opencl/context.hpp"

namespace lugpu {

/// An n x n matrix. Of the 64 bits of an element the upper word is the upper 32, rounded to
/// nearest: a double of 21 significant bits. The lower word is the lower 32 bits. As integers, of
/// which the lower word has a sign, bits = 2^32 upper + lower.
class WordPlanes {
 public:
  /// Returns when all words have come or, with `upper_first`, the upper ones; then the lower ones
  /// follow by a queue of their own, and the host's memory must stay as it is until lower() has
  /// returned, or this is gone.
  WordPlanes(DeviceContext& context, const MatrixView& a, bool upper_first);

  std::size_t n() const { return n_; }
  /// Element (i, j) of a plane is its word j * pitch + i.
  std::size_t pitch() const { return pitch_of(n_); }
  const cl::Buffer& upper() const { return upper_; }
  /// Waits for them. Throws what sending them threw.
  const cl::Buffer& lower();
  /// Seconds that lower() has waited.
  double waited() const { return waited_; }

  /// Bytes of the planes on the device.
  static std::uint64_t bytes(std::size_t n);

 private:
  static std::size_t pitch_of(std::size_t n);
  void transpose(const cl::Buffer& plane);

  DeviceContext& context_;
  std::size_t n_;
  cl::Buffer upper_, lower_;
  bool is_transposed_ = false;  // the plane of the lower words, by rows as on the host
  double waited_ = 0;
  std::shared_future<void> sent_;  // the lower words, where they come later; waits for its thread
};

}  // namespace lugpu
