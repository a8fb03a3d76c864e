// Relaxation: Jacobi's method and the Gauss-Seidel method, on grids with red and black points, on
// sparse matrices by colours, on dense ones by columns.
//
// x: the start, and the result; of b = 0 the solution is 0. The residuals are those that the host
// looked at, not one for each sweep. One that is not finite, or 1e10 times the first, ends the
// iteration with that reason. Uses scalars(0).
#pragma once

#include <span>
#include <vector>

#include "iterative/stopping.hpp"
#include "operators/dense_operator.hpp"
#include "operators/grid_operator.hpp"
#include "operators/sparse_operator.hpp"

namespace lugpu {

/// x = (b - (A - diagonal) x) / diagonal at every point, all from the x before.
Iteration jacobi(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                 const StoppingRule& rule);
/// inverse_diagonal: 1 / a(i, i), all finite.
Iteration jacobi(const Operator& a, const Surface& inverse_diagonal, Vectors& vectors,
                 const Surface& b, Surface& x, const StoppingRule& rule);

/// Throws InputError for a periodic axis with an odd number of points, where neighbours have the
/// same colour: red, (x + y + z) even, or black.
void require_two_colours(const Grid& grid);

/// The same at the red points, then at the black ones, each with the latest values of its
/// neighbours. While it runs, x and b are stored by colours too. Throws as require_two_colours().
Iteration gauss_seidel(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                       const StoppingRule& rule);
/// Colour c is the rows begins[c] : begins[c + 1], none of which refers to another of them (see
/// colours.hpp).
Iteration gauss_seidel(const SparseOperator& a, const std::vector<std::size_t>& begins,
                       const Surface& inverse_diagonal, Vectors& vectors, const Surface& b,
                       Surface& x, const StoppingRule& rule);
/// inverse_diagonals: 1 / a(i, i) at the points of one colour, 0 at the others; no point refers to
/// another one of its colour.
Iteration gauss_seidel(const Operator& a, std::span<const Surface> inverse_diagonals,
                       Vectors& vectors, const Surface& b, Surface& x, const StoppingRule& rule);
/// In the order of the rows, by columns of A (Krueger, Westermann 2003, section 5.2): x += inv(D +
/// L) (b - A x) with A = L + D + U. A is stored by columns, with a diagonal without zeros.
Iteration gauss_seidel(const DenseOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                       const StoppingRule& rule);

}  // namespace lugpu
