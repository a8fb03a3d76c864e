#include "matrix/random.hpp"

#include "base/parallel.hpp"

namespace lugpu {

Matrix Random::matrix(std::size_t m, std::size_t n) {
  Matrix a(m, n);
  in_parallel(n, m * sizeof(double), [&](std::size_t j) {
    Random of_column(state_ + j * m * kStep);
    for (std::size_t i = 0; i < m; ++i) a(i, j) = of_column.uniform();
  });
  state_ += m * n * kStep;
  return a;
}

Matrix random_matrix(std::size_t m, std::size_t n, std::uint64_t seed) {
  // A different stream from the one the kinds draw from: a right-hand side made with the seed of A
  // must not be the first columns of A, whose solution is trivial.
  constexpr std::uint64_t kStream = 0x6c75677075000000;
  return Random(seed ^ kStream).matrix(m, n);
}

}  // namespace lugpu
