// The systems of the benchmark of problems: partial differential equations on a square or a cube,
// discretized on a regular grid, and sparse matrices of files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "solve/structured_methods.hpp"

namespace lugpu {

/// A system that is solved, whatever holds it.
struct SystemView {
  StructuredMatrix a;
  const Matrix& b;                ///< order x nrhs
  std::span<const double> exact;  ///< X of the first column, as far as it is known
};

/// One of the equations on one grid.
struct GridSystem {
  Grid grid;
  Matrix b;                   ///< unknowns() x nrhs
  std::vector<double> exact;  ///< the solution of the equation for the first column, at the points

  SystemView view() const { return {grid, b, exact}; }
};

/// A matrix of a file, n x n.
struct StoredSystem {
  Sparse a;
  Matrix b;                   ///< n x nrhs: of a random X, so that no precision holds it exactly
  std::vector<double> exact;  ///< the first column of X

  SystemView view() const { return {a, b, exact}; }
};

struct GridProblem {
  const char* name;         ///< as on the command line, e.g. "poisson2d"
  const char* description;  ///< the equation, its walls and its solution; one line
  int dimensions;
  /// n points along each axis. Columns of b after the first one are random.
  GridSystem (*make)(std::size_t n, std::size_t nrhs);
};

std::span<const GridProblem> grid_problems();

StoredSystem system_of(Sparse a, std::size_t nrhs);

/// Throws InputError that lists the problems if there is no such problem.
const GridProblem& find_grid_problem(const std::string& name);

}  // namespace lugpu
