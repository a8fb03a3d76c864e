// Numbers as a file has them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>

namespace lugpu {

/// The T whose bytes are at `bytes`, in this machine's order or, with `swap`, in the other one.
template <typename T>
T load(const char* bytes, bool swap) {
  std::array<char, sizeof(T)> raw;
  std::copy_n(bytes, sizeof(T), raw.begin());
  if (swap) std::reverse(raw.begin(), raw.end());
  return std::bit_cast<T>(raw);
}

}  // namespace lugpu
