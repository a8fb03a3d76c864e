// Eigenvalues and eigenvectors of the one-dimensional matrices of grids, in closed form.
#pragma once

#include <cstddef>
#include <vector>

#include "matrix/grid.hpp"

namespace lugpu {

/// Eigenvectors of
///   (T u)(i) = 2 u(i) - u(i-1) - u(i+1),  0 <= i < n,
/// with the walls of an axis of a grid: sines (Dirichlet), cosines at half steps (Neumann), or both
/// at half steps (periodic), which are all even or odd, q(n-1-i) = q(i) or -q(i). Those of one of
/// the two kinds: ceil(n / 2) are even, floor(n / 2) are odd.
struct AxisModes {
  Matrix vectors;                   ///< element (i, j): point i < ceil(n / 2) (odd: floor) of the
                                    ///< j-th, whose 2-norm is 1; the other points follow from it
  std::vector<double> eigenvalues;  ///< ascending, >= 0; the constant's is exactly zero
};

/// Each element to within a few units of the last place of the largest one. n >= 1. Throws
/// std::bad_alloc. Source: W. L. Briggs, V. E. Henson, "The DFT", SIAM, 1995, chapter 4; G. Strang,
/// "The Discrete Cosine Transform", SIAM Review 41, 1999.
AxisModes axis_modes(std::size_t n, Wall wall, bool odd);

/// sin(2 pi part / whole) and the cosine, to the last place or two, whatever multiple of `whole` is
/// in `part`. part < 2^60, 0 < whole < 2^60.
double sine_of(std::size_t part, std::size_t whole);
double cosine_of(std::size_t part, std::size_t whole);

}  // namespace lugpu
