// The systems of the benchmark of problems: partial differential equations on a square or a cube,
// discretized on a regular grid.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "matrix/grid.hpp"

namespace lugpu {

/// One of them on one grid.
struct GridSystem {
  Grid grid;
  Matrix b;                   ///< unknowns() x nrhs
  std::vector<double> exact;  ///< the solution of the equation for the first column, at the points
};

struct GridProblem {
  const char* name;         ///< as on the command line, e.g. "poisson2d"
  const char* description;  ///< the equation, its walls and its solution; one line
  int dimensions;
  /// n points along each axis. Columns of b after the first one are random.
  GridSystem (*make)(std::size_t n, std::size_t nrhs);
};

std::span<const GridProblem> grid_problems();

/// Throws InputError that lists the problems if there is no such problem.
const GridProblem& find_grid_problem(const std::string& name);

}  // namespace lugpu
