// The matrices of a LAPACK call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace lugpu::lapack {

/// A matrix of the caller, column-major: element (i, j), 0-based, is data[i + j * ld], ld >= rows.
template <typename Real>
struct Columns {
  Real* data;
  std::size_t rows, columns, ld;

  Real* column(std::size_t j) const { return data + j * ld; }
  operator Columns<const Real>() const { return {data, rows, columns, ld}; }
};

/// A, m x n, with the leading dimension lda.
template <typename Real>
Columns<Real> columns(Real* a, int m, int n, int lda) {
  return {a, static_cast<std::size_t>(m), static_cast<std::size_t>(n),
          static_cast<std::size_t>(lda)};
}

/// Calls work(j) for 0 <= j < count, where each call takes about `bytes` of memory, by as many
/// threads as are worth starting. work must not throw, nor does this.
template <typename Work>
void for_columns(std::size_t count, std::size_t bytes, const Work& work) {
  constexpr std::size_t kBytesOfThread = 4 << 20, kMostThreads = 8;
  const std::size_t cores = std::max(std::thread::hardware_concurrency(), 1u);
  const std::size_t threads =
      std::clamp<std::size_t>(count * bytes / kBytesOfThread, 1, std::min(cores, kMostThreads));
  const auto part = [&](std::size_t t) {
    for (std::size_t j = count * t / threads; j < count * (t + 1) / threads; ++j) work(j);
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

}  // namespace lugpu::lapack
