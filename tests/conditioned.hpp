// Matrices of a known condition, and badly scaled ones.
#pragma once

#include <cmath>
#include <cstdint>

#include "matrices.hpp"
#include "matrix/generate.hpp"

namespace lugpu {

/// (I - 2 v v') D (I - 2 w w') for unit vectors v, w and D from 1 to 1 / condition, geometrically.
inline Matrix with_condition(std::size_t n, double condition, std::uint64_t seed) {
  Matrix a(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    a(i, i) = std::pow(condition, -static_cast<double>(i) / static_cast<double>(n - 1));
  }
  const auto reflect = [&](std::uint64_t from) {
    Matrix v = random_matrix(n, 1, from);
    double square = 0;
    for (const double value : v.values()) square += value * value;
    for (std::size_t j = 0; j < n; ++j) {
      double product = 0;
      for (std::size_t i = 0; i < n; ++i) product += v(i, 0) * a(i, j);
      for (std::size_t i = 0; i < n; ++i) a(i, j) -= 2 / square * product * v(i, 0);
    }
  };
  reflect(seed);
  a = transposed(a);
  reflect(seed + 1);
  return a;
}

/// Scaled by powers of two from 2^-range to 2^range, at random.
inline Matrix badly_scaled(std::size_t n, int range, std::uint64_t seed) {
  const Matrix rows = random_matrix(n, 1, seed), columns = random_matrix(n, 1, seed + 1);
  Matrix a = random_matrix(n, n, seed + 2);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      const double shift = 2 * range * (rows(i, 0) + columns(j, 0)) / 2;
      a(i, j) = std::ldexp(a(i, j), static_cast<int>(shift));
    }
  }
  return a;
}

}  // namespace lugpu
