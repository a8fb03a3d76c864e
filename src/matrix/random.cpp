#include "matrix/random.hpp"

namespace lugpu {

Matrix random_matrix(std::size_t m, std::size_t n, std::uint64_t seed) {
  // A different stream from the one the kinds draw from: a right-hand side made with the seed of A
  // must not be the first columns of A, whose solution is trivial.
  constexpr std::uint64_t kStream = 0x6c75677075000000;
  return Random(seed ^ kStream).matrix(m, n);
}

}  // namespace lugpu
