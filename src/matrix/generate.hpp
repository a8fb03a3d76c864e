// Test matrices by name.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "matrix/matrix.hpp"
#include "matrix/random.hpp"

namespace lugpu {

/// One kind of test matrix.
struct MatrixKind {
  const char* name;         ///< as on the command line, e.g. "dominant"
  const char* description;  ///< one line for --help: what it is and what it is good for
  Matrix (*make)(std::size_t n, std::uint64_t seed);
};

/// Every kind, in the order in which help texts list them.
std::span<const MatrixKind> matrix_kinds();

/// The n x n matrix of the named kind; the same seed gives the same matrix on every machine, for
/// the kinds with a prescribed condition up to rounding: LAPACK computes their orthogonal factors.
/// Kinds whose definition leaves nothing to chance (wilkinson, hilbert, kahan, diagonal) ignore the
/// seed. Throws InputError that lists the kinds if there is no such kind.
Matrix generate(const std::string& kind, std::size_t n, std::uint64_t seed);

}  // namespace lugpu
