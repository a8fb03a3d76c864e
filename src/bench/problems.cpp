#include "bench/problems.hpp"

#include <cmath>

#include "base/error.hpp"
#include "matrix/random.hpp"
#include "operators/product.hpp"

namespace lugpu {
namespace {

// f(0) = f(1) = 0, and no finite sum of the eigenvectors of -f''.
double profile(double x) {
  return x * (1 - x) * std::exp(x);
}
double minus_second_derivative(double x) {
  return x * (3 + x) * std::exp(x);
}

// coefficient h^2 (-Laplacian of u) + shift u on the unit square or cube with Dirichlet walls, for
// u = profile(x) profile(y) (profile(z)). h is the distance of two points, and of the first one
// from the wall.
GridSystem smooth(std::size_t n, int dimensions, double coefficient, double shift,
                  std::size_t nrhs) {
  GridSystem system;
  Grid& grid = system.grid;
  for (int axis = 0; axis < dimensions; ++axis) {
    grid.size[axis] = n;
    grid.coefficients[axis] = coefficient;
  }
  grid.shift = shift;
  const double h = 1 / static_cast<double>(n + 1);
  std::vector<double> f(n), f2(n);
  for (std::size_t i = 0; i < n; ++i) {
    f[i] = profile(static_cast<double>(i + 1) * h);
    f2[i] = minus_second_derivative(static_cast<double>(i + 1) * h);
  }
  system.b = random_matrix(grid.unknowns(), nrhs, 1);
  system.exact.resize(grid.unknowns());
  for (std::size_t i = 0; i < grid.unknowns(); ++i) {
    const std::size_t x = i % n, y = i / n % n, z = i / n / n;
    const double fz = dimensions == 3 ? f[z] : 1, fz2 = dimensions == 3 ? f2[z] : 0;
    const double laplacian = f2[x] * f[y] * fz + f[x] * f2[y] * fz + f[x] * f[y] * fz2;
    system.exact[i] = f[x] * f[y] * fz;
    system.b(i, 0) = coefficient * h * h * laplacian + shift * system.exact[i];
  }
  return system;
}

GridSystem poisson2d(std::size_t n, std::size_t nrhs) {
  return smooth(n, 2, 1, 0, nrhs);
}

GridSystem poisson3d(std::size_t n, std::size_t nrhs) {
  return smooth(n, 3, 1, 0, nrhs);
}

// A time step in which a wave goes 5 points far: (c dt / h)^2 / 2 = 12.5.
GridSystem implicit2d(std::size_t n, std::size_t nrhs) {
  return smooth(n, 2, 12.5, 1, nrhs);
}

// 150 is between the eigenvalues 13 pi^2 and 17 pi^2 of the square: several are below it.
GridSystem helmholtz2d(std::size_t n, std::size_t nrhs) {
  constexpr double kSquareOfWaveNumber = 150;
  const double h = 1 / static_cast<double>(n + 1);
  return smooth(n, 2, 1, -kSquareOfWaveNumber * h * h, nrhs);
}

// The pressure in water with bubbles of air: div(1 / density grad p), the density of air 1/1000.
GridSystem bubbles(std::size_t n, std::size_t nrhs) {
  struct Circle {
    double x, y, radius;
  };
  constexpr Circle kBubbles[] = {{0.3, 0.25, 0.12},
                                 {0.7, 0.35, 0.08},
                                 {0.5, 0.62, 0.15},
                                 {0.2, 0.75, 0.06},
                                 {0.82, 0.78, 0.1}};
  constexpr double kAir = 1000;
  GridSystem system = smooth(n, 2, 1, 0, nrhs);
  Grid& grid = system.grid;
  grid.walls[0] = Wall::periodic;
  grid.conductivity.assign(grid.unknowns(), 1);
  const double h = 1 / static_cast<double>(n + 1);
  for (std::size_t i = 0; i < grid.unknowns(); ++i) {
    const double x = static_cast<double>(i % n + 1) * h, y = static_cast<double>(i / n + 1) * h;
    for (const Circle& bubble : kBubbles) {
      if (std::hypot(x - bubble.x, y - bubble.y) < bubble.radius) grid.conductivity[i] = kAir;
    }
  }
  Matrix exact(grid.unknowns(), 1);
  exact.values() = system.exact;
  const Matrix b = multiply(grid, exact);
  std::copy(b.values().begin(), b.values().end(), system.b.column(0));
  return system;
}

}  // namespace

std::span<const GridProblem> grid_problems() {
  static const GridProblem table[] = {
      {"poisson2d", "Poisson's equation on a square, Dirichlet walls", 2, poisson2d},
      {"poisson3d", "Poisson's equation on a cube, Dirichlet walls", 3, poisson3d},
      {"implicit2d", "an implicit step in time: of the wave equation, 5 points wide", 2,
       implicit2d},
      {"helmholtz2d", "Helmholtz' equation on a square, indefinite", 2, helmholtz2d},
      {"bubbles", "pressure in water with bubbles, densities 1 : 1000, periodic in x", 2, bubbles},
  };
  return table;
}

StoredSystem system_of(Sparse a, std::size_t nrhs) {
  const Matrix x = random_matrix(a.rows(), nrhs, 1);
  return {a, multiply(a, Op::none, x), {x.column(0), x.column(0) + x.rows()}};
}

const GridProblem& find_grid_problem(const std::string& name) {
  std::string known;
  for (const GridProblem& problem : grid_problems()) {
    if (name == problem.name) return problem;
    known += (known.empty() ? "" : ", ") + std::string(problem.name);
  }
  throw InputError("There is no problem \"" + name + "\"; there are: " + known + ".");
}

}  // namespace lugpu
