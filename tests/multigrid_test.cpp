// Conjugate gradients with multigrid: iterations, solutions and the cycle itself.

#include "iterative/multigrid.hpp"

#include <limits>

#include "base/error.hpp"
#include "matrix/random.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

constexpr Wall kDirichlet = Wall::dirichlet, kNeumann = Wall::neumann, kPeriodic = Wall::periodic;

using Size = std::array<std::size_t, 3>;
using Walls = std::array<Wall, 3>;

// A Laplacian; neighbours only along axes of several points.
Grid laplacian(const Size& size, const Walls& walls, double shift = 0) {
  Grid grid{size, walls, {}, shift};
  for (int axis = 0; axis < 3; ++axis) grid.coefficients[axis] = size[axis] > 1 ? 1 : 0;
  return grid;
}

// The place of an unknown, in 0 : 1 along each axis.
std::array<double, 3> place_of(const Grid& grid, std::size_t i) {
  const auto [nx, ny, nz] = grid.size;
  const auto part = [](std::size_t at, std::size_t count) {
    return (static_cast<double>(at) + 0.5) / static_cast<double>(count);
  };
  return {part(i % nx, nx), part(i / nx % ny, ny), part(i / (nx * ny), nz)};
}

// Three discs or balls of another conductivity.
void add_bubbles(Grid& grid, double conductivity) {
  const double bubbles[][4] = {{0.3, 0.3, 0.5, 0.2}, {0.6, 0.7, 0.5, 0.15}, {0.8, 0.2, 0.5, 0.08}};
  grid.conductivity.assign(grid.unknowns(), 1.0);
  for (std::size_t i = 0; i < grid.unknowns(); ++i) {
    const auto [x, y, z] = place_of(grid, i);
    for (const auto& [a, b, c, radius] : bubbles) {
      const double square = (x - a) * (x - a) + (y - b) * (y - b) + (z - c) * (z - c);
      if (square < radius * radius) grid.conductivity[i] = conductivity;
    }
  }
}

// A thin wall with a gap.
void add_wall(Grid& grid) {
  if (grid.conductivity.empty()) grid.conductivity.assign(grid.unknowns(), 1.0);
  for (std::size_t i = 0; i < grid.unknowns(); ++i) {
    const auto [x, y, z] = place_of(grid, i);
    if (x > 0.45 && x < 0.5 && y < 0.7) grid.conductivity[i] = 0;
  }
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}
double norm(const std::vector<double>& x) { return std::sqrt(dot(x, x)); }

std::vector<double> product(const Grid& grid, const std::vector<double>& x) {
  Matrix columns(x.size(), 1);
  columns.values() = x;
  return multiply(grid, columns).values();
}

double true_residual(const Grid& grid, const std::vector<double>& b, const std::vector<double>& x) {
  std::vector<double> r = product(grid, x);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  return norm(r) / norm(b);
}

void take_mean_off(std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  for (double& value : x) value -= sum / static_cast<double>(x.size());
}

struct Solved {
  Iteration iteration;
  std::vector<double> x;
};

Solved solve(const Grid& grid, const std::vector<double>& b, Precision precision,
             const StoppingRule& rule, const std::vector<double>& start = {}) {
  MultigridCg solver(shared_context(), grid, precision, Storage::buffer, Texel::r);
  Surface x = solver.vectors().take(), on_b = solver.vectors().take();
  solver.vectors().upload(start, x);
  solver.vectors().upload(b, on_b);
  Solved solved;
  solved.iteration = solver.solve(on_b, x, rule);
  solved.x = solver.vectors().download(x, grid.unknowns());
  return solved;
}

using Multigrid = SurfaceKindTest;
INSTANTIATE_TEST_SUITE_P(Kinds, Multigrid,
                         testing::Values(SurfaceKind{Precision::single_precision, Storage::buffer},
                                         SurfaceKind{Precision::double_precision, Storage::buffer}),
                         testing::PrintToStringParamName());

TEST_P(Multigrid, TakesFewIterations) {
  if (const char* list = std::getenv("MG_SIZES")) {
    std::size_t nx, ny, nz; int kind; std::string text = list;
    std::sscanf(list, "%zu,%zu,%zu,%d", &nx, &ny, &nz, &kind);
    for (const Wall wall : {kDirichlet, kNeumann, kPeriodic}) {
      Grid grid = laplacian({nx, ny, nz}, {wall, wall, wall});
      if (kind == 1) add_bubbles(grid, 1000);
      if (kind == 2) add_bubbles(grid, 0.001);
      if (kind == 3) add_wall(grid);
      std::vector<double> b = random_in(precision, grid.unknowns(), 1, 1).values();
      for (std::size_t i = 0; i < b.size() && kind == 3; ++i) if (grid.conductivity[i] == 0) b[i] = 0;
      if (wall != kDirichlet) take_mean_off(b);
      const Solved solved = solve(grid, b, precision, {1e-6, 100});
      std::printf("%d: %zu %s residual %g\n", (int)wall, solved.iteration.iterations, solved.iteration.reason.c_str(), true_residual(grid, b, solved.x));
    }
  }
}

}  // namespace
}  // namespace lugpu
