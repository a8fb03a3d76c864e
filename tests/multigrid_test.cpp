// Conjugate gradients with multigrid: iterations, solutions and the cycle itself.

#include "iterative/multigrid.hpp"

#include <lapacke.h>

#include <limits>

#include "base/error.hpp"
#include "matrix/random.hpp"
#include "opencl_fixture.hpp"
#include "operators/conductivity_operator.hpp"
#include "operators/grid_operator.hpp"

namespace lugpu {
namespace {

constexpr Wall kDirichlet = Wall::dirichlet, kNeumann = Wall::neumann, kPeriodic = Wall::periodic,
               kHalf = Wall::dirichlet_half;

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
double norm(const std::vector<double>& x) {
  return std::sqrt(dot(x, x));
}

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
             const StoppingRule& rule, const std::vector<double>& start = {},
             DeviceContext& context = shared_context()) {
  MultigridCg solver(context, grid, precision, Storage::buffer, Texel::r);
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

constexpr Walls kAll[] = {{kDirichlet, kDirichlet, kDirichlet},
                          {kNeumann, kNeumann, kNeumann},
                          {kPeriodic, kPeriodic, kPeriodic},
                          {kDirichlet, kNeumann, kPeriodic},
                          {kPeriodic, kDirichlet, kNeumann},
                          {kNeumann, kPeriodic, kDirichlet},
                          {kHalf, kHalf, kHalf},
                          {kNeumann, kHalf, kDirichlet}};

std::string text(const Grid& grid) {
  std::string words;
  for (int axis = 0; axis < 3; ++axis) {
    words += std::to_string(grid.size[axis]) + "DNPH"[static_cast<int>(grid.walls[axis])] + " ";
  }
  return words;
}

bool is_singular(const Grid& grid) {
  for (int axis = 0; axis < 3; ++axis) {
    if (grid.walls[axis] == kDirichlet && grid.coefficients[axis] > 0) return false;
  }
  return grid.shift == 0;
}

// The steps that a random right-hand side takes, after checks of the solution.
std::size_t steps(const Grid& grid, Precision precision) {
  std::vector<double> b = random_in(precision, grid.unknowns(), 1, 1).values();
  if (is_singular(grid)) take_mean_off(b);
  const Solved solved = solve(grid, b, precision, {1e-6, 40});
  EXPECT_TRUE(solved.iteration.converged) << solved.iteration.reason;
  EXPECT_LE(solved.iteration.residuals.back(), 1e-6);
  // The residual that is carried along is another one by the rounding of A x.
  const std::vector<double> on_diagonal = diagonal(grid);
  const double largest = *std::max_element(on_diagonal.begin(), on_diagonal.end());
  const double rounding = 4 * epsilon(precision) * largest * norm(solved.x) / norm(b);
  EXPECT_LT(true_residual(grid, b, solved.x), 1.01e-6 + rounding) << text(grid);
  return solved.iteration.iterations;
}

TEST_P(Multigrid, TakesFewIterationsOnAnyGrid) {
  const Size sizes[] = {{64, 64, 1},  {63, 65, 1},  {101, 37, 1}, {600, 7, 1},
                        {2, 600, 1},  {1, 40, 33},  {1100, 1, 1}, {128, 129, 1},
                        {16, 16, 16}, {17, 15, 13}, {50, 20, 7},  {5, 31, 29}};
  for (const Size& size : sizes) {
    for (const Walls& walls : kAll) {
      const Grid grid = laplacian(size, walls);
      EXPECT_LE(steps(grid, precision), 9u) << text(grid);
    }
  }
}

// The work-groups and the kernels that other devices than CPUs get.
TEST_P(Multigrid, KernelsWithoutVectorsDoTheSame) {
  Device device = context.device();
  device.type = "gpu";
  DeviceContext other(device);
  for (const Size& size : {Size{90, 37, 1}, Size{128, 64, 1}, Size{1, 40, 33}, Size{17, 16, 13}}) {
    for (const Walls& walls : kAll) {
      for (const bool bubbles : {false, true}) {
        Grid grid = laplacian(size, walls);
        if (bubbles) add_bubbles(grid, 50);
        std::vector<double> b = random_in(precision, grid.unknowns(), 1, 1).values();
        const StoppingRule rule{precision == Precision::double_precision ? 1e-12 : 1e-5, 40};
        const Solved on_cpu = solve(grid, b, precision, rule);
        const Solved on_gpu = solve(grid, b, precision, rule, {}, other);
        EXPECT_TRUE(on_gpu.iteration.converged) << on_gpu.iteration.reason;
        EXPECT_NEAR(static_cast<double>(on_gpu.iteration.iterations),
                    static_cast<double>(on_cpu.iteration.iterations), 1);
        std::vector<double> difference = on_gpu.x;
        for (std::size_t i = 0; i < b.size(); ++i) difference[i] -= on_cpu.x[i];
        EXPECT_LT(norm(difference), 100 * rule.tolerance * norm(on_cpu.x)) << text(grid);
      }
    }
  }
}

TEST_P(Multigrid, TakesAsFewOnLargerGrids) {
  for (const Size& size :
       {Size{512, 512, 1}, Size{509, 383, 1}, Size{64, 64, 64}, Size{53, 64, 71}}) {
    for (const Walls& walls : {kAll[0], kAll[1], kAll[2], kAll[3]}) {
      const Grid grid = laplacian(size, walls);
      EXPECT_LE(steps(grid, precision), 9u) << text(grid);
    }
  }
}

TEST_P(Multigrid, TakesFewIterationsWithAShiftAndUnequalCoefficients) {
  for (const Walls& walls : kAll) {
    for (const double shift : {0.001, 1.0, 1000.0}) {
      Grid grid = laplacian({70, 50, 1}, walls, shift);
      EXPECT_LE(steps(grid, precision), 9u) << text(grid) << shift;
      grid.coefficients = {1, 30, 0.5};
      EXPECT_LE(steps(grid, precision), 14u) << text(grid) << shift;
      grid.coefficients = {0.01, 1, 0};
      EXPECT_LE(steps(grid, precision), 14u) << text(grid) << shift;
    }
  }
  Grid grid = laplacian({30, 40, 50}, kAll[3]);
  grid.coefficients = {1, 10, 100};
  EXPECT_LE(steps(grid, precision), 20u);
  grid.coefficients = {0, 0, 0};  // A is diagonal
  grid.shift = 2;
  EXPECT_LE(steps(grid, precision), 1u);
}

TEST_P(Multigrid, TakesFewIterationsWithBubblesAndObstacles) {
  for (const Size& size : {Size{128, 120, 1}, Size{127, 65, 1}, Size{32, 30, 33}}) {
    for (const Walls& walls : {kAll[0], kAll[3], kAll[4]}) {
      Grid grid = laplacian(size, walls);
      add_bubbles(grid, 1000);
      EXPECT_LE(steps(grid, precision), 16u) << text(grid);
      add_bubbles(grid, 0.001);
      EXPECT_LE(steps(grid, precision), 14u) << text(grid);
      add_wall(grid);
      EXPECT_LE(steps(grid, precision), 16u) << text(grid);
      add_bubbles(grid, 0);
      EXPECT_LE(steps(grid, precision), 12u) << text(grid);
      for (const double shift : {0.001, 0.1, 10.0}) {
        grid.shift = shift;
        EXPECT_LE(steps(grid, precision), 12u) << text(grid) << shift;
      }
      grid.shift = 0;
    }
  }
}

// Of grids that are inverted at once: A G = I, less the constants if A is singular; and G is as
// small as the small links let it be: no rounding of the large ones passes for a link of a floating
// part.
TEST_P(Multigrid, InverseOfTheLastGridIsAccurateForAnyConductivity) {
  for (const Walls& walls : {kAll[1], kAll[2], kAll[3]}) {
    for (const double conductivity : {0.02, 1.0, 999.9999, 1e6, 1e12}) {
      Grid grid = laplacian({8, 7, 1}, walls);
      add_bubbles(grid, conductivity);
      const std::size_t n = grid.unknowns();
      const double constants = is_singular(grid) ? 1 / static_cast<double>(n) : 0;
      const double rounding = 200 * epsilon(precision);
      MultigridCg solver(context, grid, precision, storage, texel);
      Surface r = solver.vectors().take();
      Matrix inverse(n, n);
      for (std::size_t j = 0; j < n; ++j) {
        std::vector<double> unit(n);
        unit[j] = 1;
        solver.vectors().upload(unit, r);
        const std::vector<double> column = solver.preconditioned(r);
        std::copy(column.begin(), column.end(), inverse.column(j));
      }
      const Matrix product = multiply(grid, inverse);
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < n; ++i) {
          EXPECT_LT(std::abs(inverse(i, j)), 20) << text(grid) << conductivity;
          EXPECT_NEAR(inverse(i, j), inverse(j, i), rounding) << text(grid) << conductivity;
          EXPECT_NEAR(product(i, j), (i == j) - constants, rounding * std::max(conductivity, 1.0))
              << text(grid) << conductivity;
        }
      }
    }
  }
}

// The solution of least norm, by a singular value decomposition.
std::vector<double> direct_solution(const Grid& grid, std::vector<double> b) {
  const auto n = static_cast<lapack_int>(grid.unknowns());
  Matrix a(grid.unknowns(), grid.unknowns()), unit(grid.unknowns(), 1);
  for (std::size_t j = 0; j < grid.unknowns(); ++j) {
    unit(j, 0) = 1;
    const Matrix column = multiply(grid, unit);
    std::copy_n(column.column(0), n, &a(0, j));
    unit(j, 0) = 0;
  }
  std::vector<double> singular_values(grid.unknowns());
  lapack_int rank = 0;
  EXPECT_EQ(LAPACKE_dgelsd(LAPACK_COL_MAJOR, n, n, 1, a.column(0), n, b.data(), n,
                           singular_values.data(), 1e-11, &rank),
            0);
  return b;
}

void expect_direct_solution(const Grid& grid, Precision precision) {
  const std::vector<double> b = random_in(precision, grid.unknowns(), 1, 3).values();
  const bool single = precision == Precision::single_precision;
  const Solved solved = solve(grid, b, precision, {single ? 1e-6 : 1e-13, 60});
  EXPECT_TRUE(solved.iteration.converged) << solved.iteration.reason << text(grid);
  const std::vector<double> expected = direct_solution(grid, b);
  std::vector<double> error = solved.x;
  for (std::size_t i = 0; i < error.size(); ++i) error[i] -= expected[i];
  EXPECT_LE(norm(error), (single ? 5e-4 : 1e-9) * norm(expected)) << text(grid) << grid.shift;
}

TEST_P(Multigrid, FindsTheSolutionOfLapack) {
  const Size sizes[] = {{1, 1, 1}, {2, 1, 1}, {1, 3, 1},  {1, 1, 4},   {5, 7, 1}, {2, 2, 2},
                        {3, 1, 5}, {4, 3, 5}, {6, 1, 11}, {17, 11, 1}, {7, 6, 5}};
  for (const Size& size : sizes) {
    for (const Walls& walls : kAll) {
      for (const double shift : {0.0, 0.5}) {
        Grid grid{size, walls, {1, 0.5, 2}, shift};
        expect_direct_solution(grid, precision);
        grid.conductivity = random_matrix(grid.unknowns(), 1, 5).values();
        for (double& k : grid.conductivity) k = std::abs(k) < 0.3 ? 0 : 0.1 + std::abs(k);
        expect_direct_solution(grid, precision);
      }
    }
  }
}

TEST_P(Multigrid, TakesTheMeanOffEveryFloatingPart) {
  // Above the size of one work-group: two halves of a box and a wall of obstacles between them.
  Grid grid = laplacian({41, 40, 1}, kAll[1]);
  grid.conductivity.assign(grid.unknowns(), 1.0);
  for (std::size_t y = 0; y < 40; ++y) grid.conductivity[20 + 41 * y] = 0;
  std::vector<double> b = random_in(precision, grid.unknowns(), 1, 4).values();
  const Solved solved = solve(grid, b, precision, {1e-6, 40});
  EXPECT_TRUE(solved.iteration.converged) << solved.iteration.reason;
  double means[2] = {}, of_b[2] = {};
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (i % 41 == 20) continue;
    means[i % 41 > 20] += solved.x[i] / 800;
    of_b[i % 41 > 20] += b[i] / 800;
  }
  for (std::size_t i = 0; i < b.size(); ++i) b[i] -= i % 41 == 20 ? 0 : of_b[i % 41 > 20];
  EXPECT_LT(true_residual(grid, b, solved.x), 1e-4);
  for (const double mean : means) EXPECT_NEAR(mean, 0, 1e-5);
  for (std::size_t i = 20; i < b.size(); i += 41) EXPECT_EQ(solved.x[i], b[i]);
}

TEST_P(Multigrid, CycleIsSymmetricAndPositive) {
  for (const Size& size : {Size{45, 37, 1}, Size{9, 12, 13}, Size{20, 30, 1}, Size{7, 7, 1}}) {
    for (const Walls& walls : kAll) {
      for (const bool bubbles : {false, true}) {
        Grid grid = laplacian(size, walls);
        if (bubbles) add_bubbles(grid, 100);
        MultigridCg solver(context, grid, precision, storage, texel);
        Surface r = solver.vectors().take();
        const auto cycle = [&](const std::vector<double>& u) {
          solver.vectors().upload(u, r);
          return solver.preconditioned(r);
        };
        std::vector<double> u = random_in(precision, grid.unknowns(), 1, 1).values();
        std::vector<double> v = random_in(precision, grid.unknowns(), 1, 2).values();
        for (auto* vector : {&u, &v}) {
          if (is_singular(grid)) take_mean_off(*vector);
          *vector = rounded_to(precision,
                               [&] {
                                 Matrix one(vector->size(), 1);
                                 one.values() = *vector;
                                 return one;
                               }())
                        .values();
        }
        const std::vector<double> mu = cycle(u), mv = cycle(v);
        const double bound = 1e4 * epsilon(precision) * norm(u) * norm(mv);
        EXPECT_NEAR(dot(u, mv), dot(v, mu), bound) << text(grid) << bubbles;
        EXPECT_GT(dot(u, mu), 0) << text(grid);
        EXPECT_GT(dot(v, mv), 0) << text(grid);
      }
    }
  }
}

// The largest error of the solution of -u'' = f for a smooth u on n x n points.
double error_on(std::size_t n, Wall wall) {
  const double pi = std::acos(-1.0);
  const double h = 1 / static_cast<double>(wall == kDirichlet ? n + 1 : n);
  Grid grid = laplacian({n, n, 1}, {wall, wall, wall});
  grid.coefficients = {1 / (h * h), 1 / (h * h), 0};
  std::vector<double> u(n * n), b(n * n);
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double first = wall == kDirichlet ? 1 : 0.5;
    const double x = h * (static_cast<double>(i % n) + first);
    const double y = h * (static_cast<double>(i / n) + first);
    u[i] = wall == kDirichlet ? std::sin(pi * x) * std::sin(2 * pi * y)
           : wall == kNeumann ? std::cos(pi * x) * std::cos(2 * pi * y)
                              : std::sin(2 * pi * x) * std::cos(4 * pi * y);
    b[i] = u[i] * pi * pi * (wall == kPeriodic ? 20 : 5);
  }
  const Solved solved = solve(grid, b, Precision::double_precision, {1e-10, 40});
  EXPECT_TRUE(solved.iteration.converged);
  double largest = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    largest = std::max(largest, std::abs(u[i] - solved.x[i]));
  }
  return largest;
}

TEST(MultigridErrors, AreOfSecondOrder) {
  if (!shared_context().device().double_precision) GTEST_SKIP();
  for (const Wall wall : {kDirichlet, kNeumann, kPeriodic}) {
    double last = error_on(24, wall);
    for (const std::size_t n : {49, 99}) {
      const double now = error_on(n, wall);
      EXPECT_NEAR(last / now, 4, 0.4) << n << " points, wall " << static_cast<int>(wall);
      last = now;
    }
  }
}

TEST_P(Multigrid, ResidualsAreTheTrueOnes) {
  for (const Size& size : {Size{100, 70, 1}, Size{20, 20, 1}}) {
    const Grid grid = laplacian(size, kAll[0]);
    const std::vector<double> b = random_in(precision, grid.unknowns(), 1, 1).values();
    const std::vector<double> start = random_in(precision, grid.unknowns(), 1, 2).values();
    for (const std::size_t count : {0, 1, 2, 3, 5}) {
      const Solved solved = solve(grid, b, precision, {1e-20, count}, start);
      EXPECT_FALSE(solved.iteration.converged);
      EXPECT_NE(solved.iteration.reason, "");
      ASSERT_EQ(solved.iteration.iterations, count);
      ASSERT_EQ(solved.iteration.residuals.size(), count + 1);
      const double is = true_residual(grid, b, solved.x);
      EXPECT_NEAR(solved.iteration.residuals.back(), is, 0.05 * is + 1e-12) << count;
    }
  }
}

TEST_P(Multigrid, StopsAtOnceAtTheSolution) {
  const Grid grid = laplacian({60, 50, 1}, kAll[0]);
  const std::vector<double> b = random_in(precision, grid.unknowns(), 1, 1).values();
  const Solved first = solve(grid, b, precision, {1e-5, 40});
  const Solved again = solve(grid, b, precision, {1e-4, 40}, first.x);
  EXPECT_TRUE(again.iteration.converged);
  EXPECT_EQ(again.iteration.iterations, 0u);
  EXPECT_EQ(again.x, first.x);
}

TEST_P(Multigrid, SolutionOfZeroIsZero) {
  for (const Walls& walls : {kAll[0], kAll[1]}) {
    const Grid grid = laplacian({50, 30, 1}, walls);
    const std::vector<double> start(grid.unknowns(), 1.0);
    const Solved solved =
        solve(grid, std::vector<double>(grid.unknowns()), precision, {1e-6, 10}, start);
    EXPECT_TRUE(solved.iteration.converged);
    EXPECT_EQ(solved.iteration.iterations, 0u);
    EXPECT_EQ(norm(solved.x), 0);
  }
  // Nothing but the mean.
  const Grid floating = laplacian({50, 31, 1}, kAll[1]);
  const Solved constant =
      solve(floating, std::vector<double>(floating.unknowns(), 0.1), precision, {1e-6, 10});
  EXPECT_TRUE(constant.iteration.converged);
  EXPECT_EQ(norm(constant.x), 0);
  EXPECT_TRUE(solve(laplacian({0, 5, 1}, kAll[0]), {}, precision, {1e-6, 10}).iteration.converged);
}

TEST_P(Multigrid, SquaresOfTheRightHandSideMayLeaveTheRange) {
  const double least = precision == Precision::double_precision ? 1e-200 : 1e-28;
  for (const Walls& walls : {kAll[0], kAll[1]}) {
    const Grid grid = laplacian({50, 31, 1}, walls);
    const std::vector<double> b = random_in(precision, grid.unknowns(), 1, 1).values();
    const Solved expected = solve(grid, b, precision, {1e-5, 40});
    for (const double factor : {least, 1 / least}) {
      std::vector<double> rhs = b;
      for (double& value : rhs) value *= factor;
      const Solved solved = solve(grid, rhs, precision, {1e-5, 40});
      EXPECT_TRUE(solved.iteration.converged) << solved.iteration.reason << text(grid) << factor;
      std::vector<double> error = solved.x;
      for (std::size_t i = 0; i < error.size(); ++i) error[i] = error[i] / factor - expected.x[i];
      EXPECT_LT(norm(error), 1e-2 * norm(expected.x)) << text(grid) << factor;
    }
  }
}

// Where nothing holds the grid, the rounding of the products has a mean that no step takes away;
// the residual falls all the same, and does not grow again.
TEST_P(Multigrid, DoesNotPileUpRounding) {
  for (const Walls& walls : {kAll[1], kAll[2]}) {
    const Grid floating = laplacian({50, 30, 1}, walls);
    const std::vector<double> rhs = random_in(precision, floating.unknowns(), 1, 1).values();
    const Iteration iteration = solve(floating, rhs, precision, {1e-14, 40}).iteration;
    EXPECT_TRUE(iteration.converged) << iteration.reason;
    for (std::size_t k = 1; k < iteration.residuals.size(); ++k) {
      EXPECT_LT(iteration.residuals[k], iteration.residuals[k - 1]);
    }
  }
}

TEST_P(Multigrid, SaysWhyItEnds) {
  Grid grid = laplacian({50, 30, 1}, kAll[0]);
  std::vector<double> b(grid.unknowns(), 1.0);
  grid.shift = -20;
  const Iteration indefinite = solve(grid, b, precision, {1e-6, 40}).iteration;
  EXPECT_FALSE(indefinite.converged);
  EXPECT_NE(indefinite.reason.find("not positive definite"), std::string::npos);
  grid.shift = 0;
  for (const double wrong :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    b[77] = wrong;
    for (const Walls& walls : {kAll[0], kAll[1]}) {
      grid.walls = walls;
      const Iteration iteration = solve(grid, b, precision, {1e-6, 40}).iteration;
      EXPECT_FALSE(iteration.converged);
      EXPECT_NE(iteration.reason.find("not finite"), std::string::npos);
    }
  }
  b[77] = 1;
  grid.walls = kAll[0];
  std::vector<double> start(grid.unknowns());
  start[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(solve(grid, b, precision, {1e-6, 40}, start).iteration.reason, "");
}

// X is that of the last step before, and so is the last residual.
TEST_P(Multigrid, LeavesXBeforeTheStepThatShowsAnIndefiniteMatrix) {
  const Grid grid = laplacian({50, 30, 1}, kAll[0], -0.03);  // Laplace's least eigenvalue is 0.014
  const std::vector<double> b = random_in(precision, grid.unknowns(), 1, 1).values();
  const Solved solved = solve(grid, b, precision, {1e-6, 40});
  EXPECT_NE(solved.iteration.reason.find("in step 2"), std::string::npos)
      << solved.iteration.reason;
  ASSERT_EQ(solved.iteration.residuals.size(), 2u);
  const double last = solved.iteration.residuals.back();
  EXPECT_NEAR(true_residual(grid, b, solved.x), last, 1e-3 * last);
}

TEST_P(Multigrid, RefusesWhatItDoesNotTake) {
  Grid grid = laplacian({50, 30, 1}, kAll[0]);
  EXPECT_THROW(MultigridCg(context, grid, precision, Storage::image, Texel::r), Unsupported);
  EXPECT_THROW(MultigridCg(context, grid, precision, storage, Texel::rgba), Unsupported);
  const Grid large = laplacian({1u << 20, 1u << 14, 1}, kAll[0]);
  EXPECT_THROW(MultigridCg(context, large, precision, storage, texel), Unsupported);
  grid.conductivity.assign(7, 1.0);
  EXPECT_THROW(MultigridCg(context, grid, precision, storage, texel), InputError);
  grid.conductivity.assign(grid.unknowns(), 1.0);
  for (const double wrong :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    grid.conductivity[3] = wrong;
    EXPECT_THROW(MultigridCg(context, grid, precision, storage, texel), InputError);
  }
}

// The preconditioner and the solution with a conductivity that is set on the device, against those
// with one from the host.
void expect_as_from_the_host(const Grid& grid, Precision precision, DeviceContext& context) {
  const bool single = precision == Precision::single_precision;
  const double rounding = single ? 2e-2 : 1e-9;  // times the condition
  Grid other = grid;
  other.conductivity.assign(grid.unknowns(), 1.0);
  MultigridCg from_host(context, grid, precision, Storage::buffer, Texel::r);
  MultigridCg on_device(context, other, precision, Storage::buffer, Texel::r);
  Vectors& vectors = from_host.vectors();
  Surface k = vectors.take(), b = vectors.take(), x = vectors.take(), y = vectors.take();
  vectors.upload(grid.conductivity, k);
  std::vector<double> rhs = product(grid, random_in(precision, grid.unknowns(), 1, 1).values());
  for (std::size_t i = 0; i < rhs.size(); ++i) rhs[i] *= grid.conductivity[i] > 0;
  vectors.upload(rhs, b);
  for (int time = 0; time < 2; ++time) {
    on_device.set_conductivity(k);
    const std::vector<double> should = from_host.preconditioned(b);
    std::vector<double> is = on_device.preconditioned(b);
    for (std::size_t i = 0; i < is.size(); ++i) is[i] -= should[i];
    EXPECT_LT(norm(is), rounding * norm(should)) << text(grid);
  }
  vectors.upload({}, x);
  vectors.upload({}, y);
  const StoppingRule rule{single ? 1e-5 : 1e-12, 40};
  const Iteration first = from_host.solve(b, x, rule), second = on_device.solve(b, y, rule);
  EXPECT_TRUE(second.converged) << second.reason << text(grid);
  EXPECT_NEAR(static_cast<double>(second.iterations), static_cast<double>(first.iterations), 1);
  std::vector<double> error = vectors.download(y, grid.unknowns());
  const std::vector<double> expected = vectors.download(x, grid.unknowns());
  for (std::size_t i = 0; i < error.size(); ++i) error[i] -= expected[i];
  EXPECT_LT(norm(error), rounding * norm(expected)) << text(grid);
}

TEST_P(Multigrid, TakesAConductivityOnTheDeviceForSeveralLargeGrids) {
  for (const Size& size : {Size{150, 61, 1}, Size{40, 30, 16}}) {
    Grid grid = laplacian(size, {kNeumann, kPeriodic, kNeumann});
    add_bubbles(grid, 1000);
    expect_as_from_the_host(grid, precision, context);
  }
}

TEST_P(Multigrid, TakesAConductivityOnTheDevice) {
  Device device = context.device();
  device.type = "gpu";
  DeviceContext as_on_gpus(device);
  for (DeviceContext* const where : {&context, &as_on_gpus}) {
    for (const Size& size : {Size{64, 48, 1}, Size{101, 37, 1}, Size{7, 6, 1}, Size{1, 33, 40},
                             Size{2, 60, 1}, Size{17, 15, 13}, Size{32, 4, 20}, Size{9, 1, 1}}) {
      for (const Walls& walls : {kAll[1], kAll[2], Walls{kNeumann, kPeriodic, kNeumann},
                                 Walls{kPeriodic, kNeumann, kPeriodic}}) {
        Grid grid = laplacian(size, walls);
        grid.coefficients[1] *= 0.5;
        for (const double conductivity : {0.001, 1000.0}) {
          add_bubbles(grid, conductivity);
          expect_as_from_the_host(grid, precision, *where);
        }
        add_bubbles(grid, size[0] > 9 ? 0 : 1);
        expect_as_from_the_host(grid, precision, *where);
      }
    }
  }
}

using Conductivity = SurfaceKindTest;
INSTANTIATE_TEST_SUITE_P(Kinds, Conductivity, testing::ValuesIn(pairwise_kinds()),
                         testing::PrintToStringParamName());

TEST_P(Conductivity, ProductIsThatOfTheHost) {
  const Size sizes[] = {{1, 1, 1},   {2, 1, 1},  {3, 5, 1},  {16, 4, 1}, {17, 3, 2}, {1, 6, 5},
                        {31, 33, 1}, {64, 3, 3}, {65, 2, 1}, {5, 1, 7},  {300, 9, 1}};
  for (const Size& size : sizes) {
    for (const Walls& walls : kAll) {
      for (const double shift : {0.0, 0.25}) {
        Grid grid{size, walls, {1, 0.5, 0.25}, shift};
        const std::size_t n = grid.unknowns();
        grid.conductivity = random_in(precision, n, 1, 7).values();
        for (double& k : grid.conductivity) k = std::abs(k) < 0.2 ? 0 : std::abs(k);
        const ConductivityOperator a(context, grid, precision, storage, texel);
        Vectors vectors(context, a.layout(), 1);
        const std::vector<double> on_x = random_in(precision, n, 1, 8).values();
        const std::vector<double> on_y = random_in(precision, n, 1, 9).values();
        Surface x = vectors.take(), y = vectors.take(), result = vectors.take();
        vectors.upload(on_x, x);
        vectors.upload(on_y, y);
        a.apply(vectors, x, Operation::subtract, y, result);
        const std::vector<double> is = vectors.download(result, n);
        const std::vector<double> should = product(grid, on_x);
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_NEAR(is[i], should[i] - on_y[i], 40 * epsilon(precision)) << text(grid) << i;
        }
      }
    }
  }
  Grid grid = laplacian({5, 4, 1}, kAll[0]);
  grid.conductivity.assign(20, 1.0);
  EXPECT_THROW(GridOperator{grid}, InputError);
  grid.conductivity[0] = -1;
  EXPECT_THROW(ConductivityOperator(context, grid, precision, storage, texel), InputError);
}

}  // namespace
}  // namespace lugpu
