// Work of the host on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "base/cores.hpp"

namespace lugpu {

/// Calls work(i) for 0 <= i < count, where each call goes through about `bytes` of memory, by as
/// many threads as are worth starting. work must not throw, nor does this.
template <typename Work>
void in_parallel(std::size_t count, std::size_t bytes, const Work& work) {
  constexpr std::size_t kBytesOfThread = 4 << 20;
  const std::size_t most = std::clamp<std::size_t>(count, 1, cores().usable);
  const std::size_t threads = std::clamp<std::size_t>(count * bytes / kBytesOfThread, 1, most);
  const auto part = [&](std::size_t t) {
    for (std::size_t i = count * t / threads; i < count * (t + 1) / threads; ++i) work(i);
  };
  std::size_t started = 1;
  std::vector<std::jthread> others;
  try {
    others.reserve(threads);
    for (; started < threads; ++started) others.emplace_back(part, started);
  } catch (const std::exception&) {  // then this thread does the rest
  }
  part(0);
  for (std::size_t t = started; t < threads; ++t) part(t);
}

}  // namespace lugpu
