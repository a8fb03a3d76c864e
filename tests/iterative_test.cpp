// Iterative methods on grids: iterations, residuals and errors against what is known of them.

#include <functional>
#include <limits>

#include "base/error.hpp"
#include "iterative/cg.hpp"
#include "iterative/jacobi_sweeps.hpp"
#include "iterative/relaxation.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

// The 5-point (7-point) Laplacian with Dirichlet walls.
Grid laplacian(std::size_t n, int dimensions) {
  Grid grid;
  for (int axis = 0; axis < dimensions; ++axis) {
    grid.size[axis] = n;
    grid.coefficients[axis] = 1;
  }
  return grid;
}

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

// ||b - A x|| / ||b||
double true_residual(const Grid& grid, const std::vector<double>& b, const std::vector<double>& x) {
  Matrix on_grid(x.size(), 1);
  on_grid.values() = x;
  std::vector<double> r = multiply(grid, on_grid).values();
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  return norm(r) / norm(b);
}

struct Solved {
  Iteration iteration;
  std::vector<double> x;
};

using Solver = Iteration (*)(const GridOperator&, Vectors&, const Surface&, Surface&,
                             const StoppingRule&);

Solved solve_by(Solver solver, const Grid& grid, const std::vector<double>& b,
                const SurfaceKind& kind, const StoppingRule& rule,
                const std::vector<double>& start = {}) {
  const GridOperator a(grid);
  Vectors vectors(shared_context(), a.layout(kind.precision, kind.storage, kind.texel), 4);
  Surface x = vectors.take(), on_b = vectors.take();
  vectors.upload(start, x);
  vectors.upload(b, on_b);
  Solved solved;
  solved.iteration = solver(a, vectors, on_b, x, rule);
  solved.x = vectors.download(x, grid.unknowns());
  return solved;
}

Solved solve_by_cg(const Grid& grid, const std::vector<double>& b, const SurfaceKind& kind,
                   const StoppingRule& rule, const std::vector<double>& start = {}) {
  return solve_by(conjugate_gradients, grid, b, kind, rule, start);
}

using Iterative = SurfaceKindTest;
INSTANTIATE_TEST_SUITE_P(Kinds, Iterative, testing::ValuesIn(pairwise_kinds()),
                         testing::PrintToStringParamName());

TEST_P(Iterative, CgTakesAsManyStepsAsItsTheorySays) {
  // Laplacian, b = ones, start 0, relative residual 1e-6, in double.
  struct Known {
    std::size_t n;
    int dimensions;
    std::size_t steps;
  };
  for (const Known& known : {Known{64, 2, 101}, Known{128, 2, 204}, Known{32, 3, 64}}) {
    const Grid grid = laplacian(known.n, known.dimensions);
    const std::vector<double> b(grid.unknowns(), 1.0);
    const Solved solved = solve_by_cg(grid, b, GetParam(), {1e-6, 1000});
    EXPECT_TRUE(solved.iteration.converged);
    // Rounding takes some directions again.
    const bool is_double = precision == Precision::double_precision;
    EXPECT_NEAR(solved.iteration.iterations, known.steps, is_double ? 1 : known.steps / 5);
    EXPECT_EQ(solved.iteration.residuals.size(), solved.iteration.iterations + 1);
    EXPECT_EQ(solved.iteration.residuals.front(), 1);
    const double condition = 0.41 * static_cast<double>((known.n + 1) * (known.n + 1));
    EXPECT_LT(true_residual(grid, b, solved.x), 1e-6 + 4 * condition * epsilon(precision));
  }
}

TEST_P(Iterative, CgStartsFromAGuess) {
  const Grid grid = laplacian(33, 2);
  const std::vector<double> b(grid.unknowns(), 1.0);
  const StoppingRule rule{1e-5, 500};
  const Solved first = solve_by_cg(grid, b, GetParam(), rule);
  const Solved again = solve_by_cg(grid, b, GetParam(), {2e-5, 500}, first.x);
  EXPECT_TRUE(again.iteration.converged);
  EXPECT_LE(again.iteration.iterations, 1);
}

TEST_P(Iterative, CgDoesAsManyStepsAsAllowed) {
  const Grid grid = laplacian(64, 2);
  const std::vector<double> b(grid.unknowns(), 1.0);
  for (const std::size_t steps : {0, 1, 2, 7, 8, 9, 40}) {
    const Solved solved = solve_by_cg(grid, b, GetParam(), {1e-6, steps});
    EXPECT_FALSE(solved.iteration.converged);
    EXPECT_FALSE(solved.iteration.reason.empty());
    EXPECT_EQ(solved.iteration.iterations, steps);
    const double is = true_residual(grid, b, solved.x);
    EXPECT_NEAR(solved.iteration.residuals.back(), is, 1e-3 * is) << steps;
  }
}

TEST_P(Iterative, CgOfZeroIsZero) {
  const Grid grid = laplacian(17, 2);
  const Solved solved =
      solve_by_cg(grid, std::vector<double>(grid.unknowns()), GetParam(), {1e-6, 10});
  EXPECT_TRUE(solved.iteration.converged);
  EXPECT_EQ(solved.iteration.iterations, 0);
  EXPECT_EQ(norm(solved.x), 0);
}

TEST_P(Iterative, CgSaysThatAMatrixIsNotPositiveDefinite) {
  Grid grid = laplacian(17, 2);
  grid.shift = -20;
  std::vector<double> b(grid.unknowns(), 1.0);
  const Solved solved = solve_by_cg(grid, b, GetParam(), {1e-6, 100});
  EXPECT_FALSE(solved.iteration.converged);
  EXPECT_NE(solved.iteration.reason.find("not positive definite"), std::string::npos);
  EXPECT_EQ(norm(solved.x), 0);
  b[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(solve_by_cg(laplacian(17, 2), b, GetParam(), {1e-6, 100}).iteration.reason, "");
}

// One sweep on the host, from the definition.
std::vector<double> relaxed(const Grid& grid, const std::vector<double>& b, std::vector<double> x,
                            std::function<bool(std::size_t)> chosen) {
  Matrix on_grid(x.size(), 1), unit(x.size(), 1);
  on_grid.values() = x;
  const Matrix product = multiply(grid, on_grid);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!chosen(i)) continue;
    unit(i, 0) = 1;
    const double diagonal = multiply(grid, unit)(i, 0);
    unit(i, 0) = 0;
    x[i] += (b[i] - product(i, 0)) / diagonal;
  }
  return x;
}

TEST_P(Iterative, SweepsAreThoseOfTheHost) {
  const std::array<std::size_t, 3> sizes[] = {{6, 4, 1}, {70, 6, 1}, {18, 4, 6}};
  for (const auto& size : sizes) {
    for (const Wall wall : {Wall::dirichlet, Wall::neumann, Wall::periodic, Wall::dirichlet_half}) {
      const Grid grid{size, {wall, wall, wall}, {1, 0.5, size[2] > 1 ? 0.25 : 0}, 0.125};
      const std::size_t n = grid.unknowns();
      const std::vector<double> b = random_in(precision, n, 1, 1).values();
      const std::vector<double> start = random_in(precision, n, 1, 2).values();
      const auto colour = [&](std::size_t i) {
        return (i % size[0] + i / size[0] % size[1] + i / (size[0] * size[1])) % 2;
      };
      std::vector<double> by_jacobi = start, by_colours = start;
      for (int sweep = 0; sweep < 2; ++sweep) {
        by_jacobi = relaxed(grid, b, by_jacobi, [](std::size_t) { return true; });
        for (const std::size_t c : {0, 1}) {
          by_colours = relaxed(grid, b, by_colours, [&](std::size_t i) { return colour(i) == c; });
        }
      }
      const std::vector<double> j = solve_by(jacobi, grid, b, GetParam(), {0, 2}, start).x;
      const std::vector<double> g = solve_by(gauss_seidel, grid, b, GetParam(), {0, 2}, start).x;
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_NEAR(j[i], by_jacobi[i], 40 * epsilon(precision)) << i;
        ASSERT_NEAR(g[i], by_colours[i], 40 * epsilon(precision)) << i;
      }
    }
  }
}

// x after `count` sweeps.
std::vector<double> swept(const Grid& grid, const std::vector<double>& b,
                          const std::vector<double>& start, Precision precision, std::size_t count,
                          const SweepsCut& cut) {
  const GridOperator a(grid);
  Vectors vectors(shared_context(), a.layout(precision, Storage::buffer, kVectorTexel), 1);
  Surface x = vectors.take(), scratch = vectors.take(), on_b = vectors.take();
  vectors.upload(start, x);
  vectors.upload(b, on_b);
  sweep(a, vectors, on_b, x, scratch, count, cut);
  return vectors.download(x, grid.unknowns());
}

void expect_bits_of_single_sweeps(const Grid& grid, Precision precision) {
  const std::size_t n = grid.unknowns();
  const std::vector<double> b = random_in(precision, n, 1, 1).values();
  const std::vector<double> start = random_in(precision, n, 1, 2).values();
  for (std::size_t count = 1; count <= 6; ++count) {
    const std::vector<double> known = swept(grid, b, start, precision, count, {1, 1});
    for (const SweepsCut& cut : {SweepsCut{1, 2}, {3, 4}, {4, 6}, {1000, 6}}) {
      ASSERT_EQ(swept(grid, b, start, precision, count, cut), known)
          << grid.size[0] << " x " << grid.size[1] << " x " << grid.size[2] << ", " << count
          << " sweeps, up to " << cut.sweeps << " with shares of " << cut.share;
    }
  }
}

TEST(JacobiSweeps, HaveTheSameBitsInOneLaunch) {
  if (shared_context().device().type != "cpu") GTEST_SKIP() << "for the buffers of a CPU";
  constexpr Wall d = Wall::dirichlet, n = Wall::neumann, p = Wall::periodic,
                 h = Wall::dirichlet_half;
  const std::array<Wall, 3> walls[] = {{d, n, p}, {n, p, h}, {p, h, d}, {h, d, n}, {h, h, h}};
  // Around the widths of vectors, and of more and fewer planes than shares.
  const std::array<std::size_t, 3> sizes[] = {{1, 1, 1},  {16, 1, 1}, {7, 2, 1},  {8, 5, 1},
                                              {17, 9, 1}, {33, 3, 1}, {1, 3, 4},  {15, 1, 3},
                                              {16, 4, 2}, {17, 3, 7}, {40, 2, 9}, {64, 5, 5}};
  for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
    for (const auto& size : sizes) {
      for (const auto& kinds : walls) {
        expect_bits_of_single_sweeps({size, kinds, {1, 0.7, size[2] > 1 ? 0.3 : 0}, 0.125},
                                     precision);
      }
    }
  }
}

TEST(JacobiSweeps, ManyWithoutALook) {
  const Wall wall = Wall::neumann;
  const Grid grid{{24, 200, 1}, {wall, wall, wall}, {1, 0.5, 0}, 0.125};
  const Precision precision = Precision::single_precision;
  const std::vector<double> b = random_in(precision, grid.unknowns(), 1, 1).values();
  const std::vector<double> start = random_in(precision, grid.unknowns(), 1, 2).values();
  const SurfaceKind kind{precision, Storage::buffer, kVectorTexel};
  for (const std::size_t count : {0, 1, 7, 30}) {
    const Solved solved = solve_by(jacobi, grid, b, kind, {0, count, true}, start);
    EXPECT_EQ(solved.iteration.iterations, count);
    EXPECT_EQ(solved.x, swept(grid, b, start, precision, count, {1, 1}));
  }
}

TEST_P(Iterative, RelaxationConvergesAsTheSpectralRadiusSays) {
  // Laplacian of n x n points: the radius is cos(pi / (n + 1)), for red and black its square.
  const std::size_t n = 31;
  const Grid grid = laplacian(n, 2);
  const std::vector<double> b(grid.unknowns(), 1.0);
  const double radius = std::cos(std::acos(-1.0) / static_cast<double>(n + 1));
  const auto sweeps = [&](Solver solver) {
    const Solved solved = solve_by(solver, grid, b, GetParam(), {1e-3, 5000});
    EXPECT_TRUE(solved.iteration.converged);
    EXPECT_LT(true_residual(grid, b, solved.x), 1.01e-3);
    return static_cast<double>(solved.iteration.iterations);
  };
  const double by_jacobi = sweeps(jacobi), by_colours = sweeps(gauss_seidel);
  EXPECT_NEAR(by_jacobi / (std::log(1e-3) / std::log(radius)), 1, 0.1);
  EXPECT_NEAR(by_jacobi / by_colours, 2, 0.2);
}

TEST_P(Iterative, ColoursNeedEvenPeriodicAxes) {
  Grid grid = laplacian(5, 2);
  grid.walls[1] = Wall::periodic;
  EXPECT_THROW(solve_by(gauss_seidel, grid, std::vector<double>(25, 1.0), GetParam(), {1e-3, 5}),
               InputError);
}

}  // namespace
}  // namespace lugpu
