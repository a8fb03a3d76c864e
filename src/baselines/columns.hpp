// What the solvers of whole systems share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "iterative/stopping.hpp"
#include "solve/structured_methods.hpp"

namespace lugpu {

/// Calls solve(j), which returns an Iteration, for every column j < count. Returns what
/// PreparedSolver::solve() reports of them.
template <typename Solve>
Iteration solve_columns(std::size_t count, const Solve& solve) {
  Iteration reported;
  reported.converged = true;
  for (std::size_t j = 0; j < count; ++j) {
    Iteration own = solve(j);
    if (!reported.converged) continue;
    if (j == 0 || !own.converged || own.iterations > reported.iterations) reported = own;
  }
  return reported;
}

/// What a direct method found out about its pivots when it factored.
struct Pivots {
  std::string obstacle;   ///< why there are no factors
  bool doubtful = false;  ///< one is no larger than rounding alone can have made it
};

/// Rounding leaves in place of a zero pivot up to about n errors of the diagonal.
constexpr double doubtful_pivot(std::size_t n, double epsilon) {
  return 10 * static_cast<double>(n) * epsilon;
}

/// Of a direct method that has solved A x = b: no steps. Converged unless there are no factors, or
/// its pivots are doubtful and the residual is not below the tolerance.
Iteration direct_solution(const Pivots& pivots, const Sparse& a, const Matrix& b, const Matrix& x,
                          double tolerance);

/// Of the stored matrix at most: of a grid 7 for each unknown.
std::size_t most_entries(const StructuredMatrix& a);

/// Throws Unsupported if a matrix is not symmetric with a positive diagonal, as the rival, the
/// start of a sentence, needs it; grids are taken for such.
void require_symmetric(const StructuredMatrix& a, const std::string& rival);

/// Throws Unsupported if `what`, the start of a sentence, takes more than half of this machine's
/// memory.
void require_half_of_memory(double bytes, const std::string& what);

}  // namespace lugpu
