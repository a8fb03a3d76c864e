// Bytes that come in one order only: what a decompressor gives.
#pragma once

#include <cstddef>
#include <span>

namespace lugpu {

class Stream {
 public:
  virtual ~Stream() = default;
  /// Goes back to the first byte.
  virtual void rewind() = 0;
  /// Fills the beginning of `to`, which is not empty, with the next bytes. Returns how many these
  /// are: none only at the end, once the checksums there have agreed. Throws InputError if the
  /// compressed bytes are damaged or end too early.
  virtual std::size_t next(std::span<char> to) = 0;
};

}  // namespace lugpu
