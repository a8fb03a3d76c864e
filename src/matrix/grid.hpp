// Matrices of regular grids, which are not stored: Laplacians in up to three dimensions, shifted,
// with coefficients that may vary.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "matrix/matrix.hpp"
#include "matrix/sparse.hpp"

namespace lugpu {

/// What is beyond the first and the last point of an axis.
enum class Wall {
  dirichlet,       ///< zero, at the next point
  neumann,         ///< what the wall's own point has: no flux
  periodic,        ///< the point at the other end
  dirichlet_half,  ///< zero, half a point on: where the cell of the wall's own point ends
};

/// The matrix A of order nx ny nz with
///   (A u)(x, y, z) = shift u + cx (2 u - u(x-1) - u(x+1)) + cy (2 u - u(y-1) - u(y+1))
///                  + cz (2 u - u(z-1) - u(z+1)),
/// symmetric, and positive definite for shift >= 0, positive coefficients and a Dirichlet wall or
/// shift > 0. Unknown (x, y, z) is number x + nx (y + ny z).
///
/// Beyond a wall at half a point stands -u of the wall's own point.
///
/// With a conductivity the term of two neighbours i and j, cx (u_i - u_j), is multiplied by the
/// harmonic mean of theirs, 2 k_i k_j / (k_i + k_j) (finite volumes; Patankar, Numerical Heat
/// Transfer and Fluid Flow, 1980, section 4.2-3), and that of a Dirichlet wall by the point's own.
/// A point of conductivity 0 is an obstacle: nothing flows into it; where the shift is 0 too, its
/// row is that of the identity.
struct Grid {
  std::array<std::size_t, 3> size = {1, 1, 1};  ///< nx, ny, nz
  std::array<Wall, 3> walls = {Wall::dirichlet, Wall::dirichlet, Wall::dirichlet};
  std::array<double, 3> coefficients = {0, 0, 0};  ///< cx, cy, cz; 0 along an axis of one point
  double shift = 0;
  std::vector<double> conductivity = {};  ///< of every unknown, >= 0; empty: 1 everywhere

  std::size_t unknowns() const { return size[0] * size[1] * size[2]; }
};

/// Whether a wall holds zero.
constexpr bool is_dirichlet(Wall wall) {
  return wall == Wall::dirichlet || wall == Wall::dirichlet_half;
}

/// The place after (step 1) or before (step -1) `at` on an axis of `count` points; absent (count)
/// where zero stands.
std::size_t beside(std::size_t at, std::size_t count, int step, Wall wall);

/// What the term of two neighbours is multiplied by: the harmonic mean of their conductivities.
constexpr double between(double k_i, double k_j) {
  return k_i + k_j > 0 ? 2 * k_i * k_j / (k_i + k_j) : 0;
}

/// The largest |i - j| of neighbours i and j, obstacles or not.
std::size_t bandwidth(const Grid& grid);

/// The diagonal of A.
std::vector<double> diagonal(const Grid& grid);

/// A X in double. x: unknowns() x any number of columns.
Matrix multiply(const Grid& grid, const Matrix& x);

/// A, stored. Throws std::bad_alloc.
Sparse sparse(const Grid& grid);

}  // namespace lugpu
