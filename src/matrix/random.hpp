// Random numbers, the same on every machine, and random matrices.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "matrix/matrix.hpp"

namespace lugpu {

/// splitmix64 (Steele, Lea and Flood, OOPSLA 2014; Vigna's constants). Integer arithmetic only, so
/// that every machine draws the same numbers; the distributions of std:: may differ by library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    state_ += kStep;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// Uniform in [-0.5, 0.5): a multiple of 2^-53, no step rounds.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53 - 0.5; }

  /// m x n uniform elements, column after column. By several threads: the state before number k is
  /// known, state_ + k kStep.
  Matrix matrix(std::size_t m, std::size_t n);

  /// 0 .. n-1 in random order (Fisher and Yates).
  std::vector<std::size_t> permutation(std::size_t n) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t k = n; k > 1; --k) std::swap(order[k - 1], order[bits() % k]);
    return order;
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;
  std::uint64_t state_;
};

/// m x n elements uniform in [-0.5, 0.5) (LINPACK's matgen range), the same on every machine.
/// Independent of generate() with the same seed, so that both sides of a system can share one.
Matrix random_matrix(std::size_t m, std::size_t n, std::uint64_t seed);

}  // namespace lugpu
