// Matrices of regular grids, which are not stored: Laplacians in up to three dimensions, shifted.
#pragma once

#include <array>
#include <cstddef>

#include "matrix/matrix.hpp"

namespace lugpu {

/// What is beyond the first and the last point of an axis.
enum class Wall {
  dirichlet,  ///< zero, at the next point
  neumann,    ///< what the wall's own point has: no flux
  periodic,   ///< the point at the other end
};

/// The matrix A of order nx ny nz with
///   (A u)(x, y, z) = shift u + cx (2 u - u(x-1) - u(x+1)) + cy (2 u - u(y-1) - u(y+1))
///                  + cz (2 u - u(z-1) - u(z+1)),
/// symmetric, and positive definite for shift >= 0, positive coefficients and a Dirichlet wall or
/// shift > 0. Unknown (x, y, z) is number x + nx (y + ny z).
struct Grid {
  std::array<std::size_t, 3> size = {1, 1, 1};  ///< nx, ny, nz
  std::array<Wall, 3> walls = {Wall::dirichlet, Wall::dirichlet, Wall::dirichlet};
  std::array<double, 3> coefficients = {0, 0, 0};  ///< cx, cy, cz; 0 along an axis of one point
  double shift = 0;

  std::size_t unknowns() const { return size[0] * size[1] * size[2]; }
};

/// The place after (step 1) or before (step -1) `at` on an axis of `count` points; absent (count)
/// where zero stands.
std::size_t beside(std::size_t at, std::size_t count, int step, Wall wall);

/// A X in double. x: unknowns() x any number of columns.
Matrix multiply(const Grid& grid, const Matrix& x);

}  // namespace lugpu
