// Fast diagonalization: eigenvectors against their definition, solutions against LAPACK's and
// against known ones, on the kernels for CPUs and on those for GPUs.
#include "dense/fast_diagonal.hpp"

#include <lapacke.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "base/error.hpp"
#include "dense/axis_modes.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

using Size = std::array<std::size_t, 3>;
using Walls = std::array<Wall, 3>;
constexpr Wall kWalls[] = {Wall::dirichlet, Wall::neumann, Wall::periodic, Wall::dirichlet_half};
constexpr double kPi = std::numbers::pi;

// --- The eigenvectors of an axis.

TEST(AxisModes, SinesAndCosinesAreRight) {
  for (const std::size_t whole : {1, 2, 3, 8, 12, 97, 1024, 4098}) {
    for (std::size_t part = 0; part < 3 * whole; ++part) {
      const long double angle = 2 * std::numbers::pi_v<long double> *
                                static_cast<long double>(part % whole) /
                                static_cast<long double>(whole);
      EXPECT_NEAR(sine_of(part, whole), static_cast<double>(std::sin(angle)), 2e-16);
      EXPECT_NEAR(cosine_of(part, whole), static_cast<double>(std::cos(angle)), 2e-16);
    }
  }
  EXPECT_EQ(sine_of(1, 2), 0);
  EXPECT_EQ(cosine_of(1, 4), 0);
  EXPECT_EQ(sine_of(1, 4), 1);
  EXPECT_EQ(cosine_of(7, 14), -1);
}

// All eigenvectors at all points.
struct Modes {
  Matrix q;
  std::vector<double> eigenvalues;
};

Modes all_modes(std::size_t n, Wall wall) {
  Modes modes{Matrix(n, n), {}};
  for (const bool odd : {false, true}) {
    const AxisModes part = axis_modes(n, wall, odd);
    EXPECT_EQ(part.eigenvalues.size(), odd ? n / 2 : n - n / 2);
    EXPECT_TRUE(std::is_sorted(part.eigenvalues.begin(), part.eigenvalues.end()));
    for (std::size_t j = 0; j < part.eigenvalues.size(); ++j) {
      const std::size_t column = modes.eigenvalues.size();
      for (std::size_t i = 0; i < part.vectors.rows(); ++i) {
        modes.q(n - 1 - i, column) = odd ? -part.vectors(i, j) : part.vectors(i, j);
        modes.q(i, column) = part.vectors(i, j);
      }
      modes.eigenvalues.push_back(part.eigenvalues[j]);
    }
  }
  return modes;
}

TEST(AxisModes, AreOrthonormalEigenvectors) {
  for (const Wall wall : kWalls) {
    for (const std::size_t n : {1, 2, 3, 4, 5, 6, 7, 8, 16, 33, 100, 257}) {
      const Modes modes = all_modes(n, wall);
      const Matrix& q = modes.q;
      ASSERT_EQ(modes.eigenvalues.size(), n);
      Grid grid;
      grid.size = {n, 1, 1};
      grid.walls = {wall, Wall::neumann, Wall::neumann};
      grid.coefficients = {1, 0, 0};
      const Matrix product = multiply(grid, q);
      const double limit = 4e-16 * std::sqrt(static_cast<double>(n)) + 8e-16;
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < n; ++k) {
          const double dot = std::inner_product(q.column(j), q.column(j) + n, q.column(k), 0.0);
          EXPECT_NEAR(dot, j == k ? 1 : 0, limit) << n << " " << j << " " << k;
          EXPECT_NEAR(product(k, j), modes.eigenvalues[j] * q(k, j), 4 * limit);
        }
      }
    }
  }
}

// --- The solver.

struct Kind {
  Precision precision;
  const char* kernels;  // "own": those for the device; "gpu": the portable ones for GPUs
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << name(kind.precision) << "_" << kind.kernels;
}

DeviceContext& gpu_kernels() {
  static DeviceContext context = [] {
    Device device = shared_context().device();
    device.type = "gpu";
    KernelSettings settings;
    settings.vendor = false;
    return DeviceContext(device, settings);
  }();
  return context;
}

class FastDiagonals : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (precision == Precision::double_precision && !context.device().double_precision) {
      GTEST_SKIP() << "no double precision";
    }
  }

  Matrix solve(const Grid& grid, const Matrix& b) {
    FastDiagonal solver(context, grid, precision);
    EXPECT_EQ(solver.trouble(), "");
    solver.upload(b);
    solver.solve();
    return solver.download();
  }

  const Precision precision = GetParam().precision;
  DeviceContext& context =
      GetParam().kernels == std::string("own") ? shared_context() : gpu_kernels();
  const double eps = epsilon(precision);
};

INSTANTIATE_TEST_SUITE_P(Kinds, FastDiagonals,
                         testing::Values(Kind{Precision::single_precision, "own"},
                                         Kind{Precision::double_precision, "own"},
                                         Kind{Precision::single_precision, "gpu"},
                                         Kind{Precision::double_precision, "gpu"}),
                         testing::PrintToStringParamName());

Grid grid_of(const Size& size, const Walls& walls, double shift) {
  return {size, walls, {1, 0.5, 2}, shift, {}};
}

Grid laplacian(const Size& size, Wall wall = Wall::dirichlet) {
  Grid grid{size, {wall, wall, wall}, {0, 0, 0}, 0, {}};
  for (std::size_t axis = 0; axis < 3; ++axis) grid.coefficients[axis] = size[axis] > 1;
  return grid;
}

double norm(const double* x, std::size_t n) {
  return std::sqrt(std::inner_product(x, x + n, x, 0.0));
}

double distance(const Matrix& a, const Matrix& b, std::size_t column) {
  std::vector<double> difference(a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i) difference[i] = a(i, column) - b(i, column);
  return norm(difference.data(), difference.size());
}

// Bound of the 2-norm of A.
double largest(const Grid& grid) {
  return std::abs(grid.shift) +
         4 * (grid.coefficients[0] + grid.coefficients[1] + grid.coefficients[2]);
}

// The j-th eigenfunction of an axis at point i as textbooks have it, and its eigenvalue.
double mode(std::size_t i, std::size_t j, std::size_t n, Wall wall) {
  const auto x = static_cast<double>(i), f = static_cast<double>(j), m = static_cast<double>(n);
  if (wall == Wall::dirichlet) return std::sin(kPi * (x + 1) * (f + 1) / (m + 1));
  if (wall == Wall::neumann) return std::cos(kPi * (x + 0.5) * f / m);
  if (wall == Wall::dirichlet_half) return std::sin(kPi * (x + 0.5) * (f + 1) / m);
  return 2 * j <= n ? std::cos(2 * kPi * x * f / m) : std::sin(2 * kPi * x * f / m);
}
double eigenvalue(std::size_t j, std::size_t n, Wall wall) {
  const auto f = static_cast<double>(j), m = static_cast<double>(n);
  const double angle = wall == Wall::dirichlet        ? kPi * (f + 1) / (m + 1)
                       : wall == Wall::dirichlet_half ? kPi * (f + 1) / m
                       : wall == Wall::neumann        ? kPi * f / m
                                                      : 2 * kPi * f / m;
  return 2 - 2 * std::cos(angle);
}

// Every eigenfunction as a right-hand side of its own.
TEST_P(FastDiagonals, SolveForEveryEigenfunction) {
  for (const Size& size : {Size{12, 7, 1}, Size{6, 5, 4}}) {
    // All combinations of walls in 2D, some in 3D, fewer where a CPU stands in for a GPU.
    const bool own = context.device().type == shared_context().device().type;
    const bool is_flat = size[2] == 1;
    const std::size_t turns = is_flat ? 16 : 64, step = is_flat ? 1 : own ? 3 : 7;
    for (std::size_t turn = 0; turn < turns; turn += step) {
      const Walls walls = {kWalls[turn % 4], kWalls[turn / 4 % 4], kWalls[turn / 16]};
      const Grid grid = grid_of(size, walls, 1);
      const std::size_t n = grid.unknowns();
      Matrix x(n, n), b(n, n);
      for (std::size_t j = 0; j < n; ++j) {
        const Size f = {j % size[0], j / size[0] % size[1], j / (size[0] * size[1])};
        double lambda = grid.shift;
        for (std::size_t a = 0; a < 3; ++a) {
          lambda += grid.coefficients[a] * eigenvalue(f[a], size[a], walls[a]);
        }
        for (std::size_t i = 0; i < n; ++i) {
          const Size at = {i % size[0], i / size[0] % size[1], i / (size[0] * size[1])};
          x(i, j) = 1;
          for (std::size_t a = 0; a < 3; ++a) x(i, j) *= mode(at[a], f[a], size[a], walls[a]);
          b(i, j) = lambda * x(i, j);
        }
      }
      const Matrix solved = solve(grid, b);
      // No eigenvalue is below 1, so an error of b of a few units for each of six sums grows at
      // most by the largest one.
      for (std::size_t j = 0; j < n; ++j) {
        ASSERT_LE(distance(solved, x, j), 10 * largest(grid) * eps * norm(x.column(j), n))
            << turn << " " << j;
      }
    }
  }
}

TEST_P(FastDiagonals, SolveAsLapackDoes) {
  for (const Size& size :
       {Size{1, 1, 1}, Size{2, 1, 1}, Size{3, 1, 1}, Size{5, 1, 1}, Size{17, 1, 1}, Size{70, 1, 1},
        Size{1, 5, 1}, Size{1, 1, 3}, Size{2, 2, 2}, Size{3, 1, 17}, Size{33, 31, 1}, Size{7, 5, 3},
        Size{65, 3, 2}, Size{2, 67, 3}, Size{3, 2, 66}, Size{16, 16, 3}, Size{32, 32, 1}}) {
    const std::size_t turn = size[0] + size[1] + size[2];
    const Walls walls = {kWalls[turn % 4], kWalls[(turn + 1) % 4], kWalls[(turn + size[0]) % 4]};
    const Grid grid = grid_of(size, walls, 0.5);
    const std::size_t n = grid.unknowns(), nrhs = 3;
    const Matrix b = random_in(precision, n, nrhs, 7);
    Matrix a = dense(sparse(grid)), x = b;
    std::vector<int> ipiv(n);
    ASSERT_EQ(LAPACKE_dgesv(LAPACK_COL_MAJOR, static_cast<int>(n), nrhs, a.values().data(), a.ld(),
                            ipiv.data(), x.values().data(), x.ld()),
              0);
    const Matrix solved = solve(grid, b);
    for (std::size_t j = 0; j < nrhs; ++j) {
      EXPECT_LE(distance(solved, x, j), 10 * eps * largest(grid) / 0.5 * norm(x.column(j), n))
          << size[0] << " x " << size[1] << " x " << size[2];
    }
  }
}

// ||b - A x|| in ||A|| ||x|| eps.
double backward_error(const Grid& grid, const Matrix& b, const Matrix& x, double eps) {
  return distance(multiply(grid, x), b, 0) / (largest(grid) * norm(x.column(0), x.rows()) * eps);
}

TEST_P(FastDiagonals, LeaveSmallResiduals) {
  for (const Size& size : {Size{130, 200, 1}, Size{300, 129, 1}, Size{256, 256, 1},
                           Size{70, 40, 33}, Size{40, 70, 65}, Size{1, 300, 7}, Size{600, 1, 2}}) {
    for (const Wall wall : kWalls) {
      Grid grid = laplacian(size, wall);
      grid.coefficients[1] *= 100;
      if (wall != Wall::dirichlet) grid.shift = 1e-3;
      const Matrix b = random_in(precision, grid.unknowns(), 1, 3);
      // Rounding errors of sums grow like the square root of their length; matrix units, which cut
      // sums off, let them grow faster.
      const double limit = context.device().type == "cpu" ? 10 : 40;
      EXPECT_LE(backward_error(grid, b, solve(grid, b), eps), limit) << size[0] << " " << size[1];
    }
  }
}

TEST(FastDiagonal, IsRightForEveryWidthOfVectors) {
  Device device = shared_context().device();
  if (device.type != "cpu") GTEST_SKIP() << "no CPU";
  for (const unsigned bytes : {16, 32}) {
    device.vector_bytes = bytes;
    DeviceContext context(device);
    for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
      for (const Size& size : {Size{1, 9, 2}, Size{15, 4, 3}, Size{33, 31, 1}, Size{70, 3, 67}}) {
        const Grid grid = laplacian(size);
        const Matrix b = random_in(precision, grid.unknowns(), 1, 3);
        FastDiagonal solver(context, grid, precision);
        solver.upload(b);
        solver.solve();
        EXPECT_LE(backward_error(grid, b, solver.download(), epsilon(precision)), 10) << bytes;
      }
    }
  }
}

// -Laplace u = f on the unit square or cube, u = sin(pi x) exp(y) ... with known f, zero at the
// walls: errors like h^2.
TEST_P(FastDiagonals, ConvergeWithTheSquareOfTheMesh) {
  for (const int dimensions : {2, 3}) {
    std::vector<double> errors;
    for (const std::size_t n : {7, 15, 31}) {
      const double h = 1 / static_cast<double>(n + 1);
      const Grid grid = laplacian({n, n, dimensions == 3 ? n : 1});
      const std::size_t unknowns = grid.unknowns();
      Matrix u(unknowns, 1), b(unknowns, 1);
      for (std::size_t i = 0; i < unknowns; ++i) {
        const double x = h * static_cast<double>(i % n + 1);
        const double y = h * static_cast<double>(i / n % n + 1);
        const double z = dimensions == 3 ? h * static_cast<double>(i / n / n + 1) : 0.5;
        const double p = y * (1 - y) * std::exp(y), p2 = -y * (y + 3) * std::exp(y);
        const double q = std::sin(kPi * x) * (dimensions == 3 ? std::sin(kPi * z) : 1);
        u(i, 0) = q * p;
        b(i, 0) = h * h * q * ((dimensions - 1) * kPi * kPi * p - p2);
      }
      errors.push_back(distance(solve(grid, b), u, 0) / norm(u.column(0), unknowns));
    }
    EXPECT_NEAR(errors[0] / errors[1], 4, 0.2);
    EXPECT_NEAR(errors[1] / errors[2], 4, 0.2);
  }
}

TEST_P(FastDiagonals, SolveManyRightHandSidesEachForItself) {
  const Grid grid = laplacian({48, 33, 2});
  // More than go through the fields at once: 8 Mi elements.
  const std::size_t n = grid.unknowns(), nrhs = context.device().type == "cpu" ? 2800 : 5;
  Matrix b(n, nrhs);
  const Matrix some = random_in(precision, n, 7, 5);
  for (std::size_t j = 0; j < nrhs; ++j) {
    std::copy_n(some.column(j % 7), n, b.column(j));
  }
  const Matrix first = solve(grid, some), x = solve(grid, b);
  for (std::size_t j = 0; j < nrhs; ++j) {
    ASSERT_TRUE(std::equal(x.column(j), x.column(j) + n, first.column(j % 7))) << j;
  }
}

TEST_P(FastDiagonals, KeepNansInTheirColumn) {
  const Grid grid = laplacian({19, 33, 5}, Wall::neumann);
  const std::size_t n = grid.unknowns();
  Matrix b = random_in(precision, n, 3, 5);
  const Matrix clean = solve(grid, b);
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    b(n - 1, 1) = value;
    b(3, 1) = value;
    const Matrix x = solve(grid, b);
    for (const std::size_t j : {0, 2}) {
      EXPECT_TRUE(std::equal(x.column(j), x.column(j) + n, clean.column(j)));
    }
    EXPECT_TRUE(std::isnan(x(0, 1)));
  }
}

TEST_P(FastDiagonals, SolveAgainAndInPlace) {
  const Grid grid = laplacian({50, 20, 1});
  const Matrix b = random_in(precision, grid.unknowns(), 2, 5);
  FastDiagonal solver(context, grid, precision);
  solver.upload(b);
  solver.solve();
  const Matrix x = solver.download();
  const cl::Buffer buffer = lugpu::upload(context, b, precision);
  solver.solve(buffer, buffer, 2, grid.size[0]);
  EXPECT_TRUE(equal(download(context, buffer, grid.unknowns(), 2, precision), x));
  const Matrix more = random_in(precision, grid.unknowns(), 5, 6);
  solver.upload(more);
  solver.solve();
  EXPECT_TRUE(equal(solver.download(), solve(grid, more)));
  solver.upload(b);
  solver.solve();
  solver.solve();
  EXPECT_TRUE(equal(solver.download(), x));
}

TEST_P(FastDiagonals, SolveSingularSystemsWithMeanZero) {
  for (const Size& size : {Size{24, 17, 1}, Size{9, 8, 11}, Size{20, 1, 1}}) {
    for (const Walls& walls : {Walls{Wall::neumann, Wall::neumann, Wall::neumann},
                               Walls{Wall::periodic, Wall::neumann, Wall::periodic}}) {
      Grid grid = laplacian(size);
      grid.walls = walls;
      const std::size_t n = grid.unknowns();
      Matrix b = random_in(precision, n, 2, 5);
      const double mean = std::accumulate(b.column(0), b.column(0) + n, 0.0) / n;
      for (std::size_t i = 0; i < n; ++i) b(i, 1) = b(i, 0) - mean;
      FastDiagonal solver(context, grid, precision);
      EXPECT_EQ(solver.zero_eigenvalues(), 1);
      const Matrix x = solve(grid, b);
      EXPECT_NEAR(std::accumulate(x.column(0), x.column(0) + n, 0.0) / n, 0,
                  40 * eps * norm(x.column(0), n));
      Matrix wanted(n, 1), product = multiply(grid, x);
      for (std::size_t i = 0; i < n; ++i) wanted(i, 0) = b(i, 1);
      for (const std::size_t j : {0, 1}) {
        double error = 0;
        for (std::size_t i = 0; i < n; ++i) error += std::pow(product(i, j) - wanted(i, 0), 2);
        EXPECT_LE(std::sqrt(error), 10 * eps * largest(grid) * norm(x.column(j), n));
      }
    }
  }
}

TEST_P(FastDiagonals, SolveIndefiniteSystems) {
  // Halfway between eigenvalues of a periodic box, which are integers: 4 sin^2(pi k / 6).
  Grid grid = laplacian({6, 6, 6}, Wall::periodic);
  grid.shift = -2.5;
  const Matrix b = random_in(precision, grid.unknowns(), 1, 5);
  EXPECT_LE(backward_error(grid, b, solve(grid, b), eps), 10);
}

TEST_P(FastDiagonals, SayThatAnEigenvalueIsZero) {
  // 4 sin^2(pi k / 6) = 0, 1, 3, 4, 3, 1: of 216 sums of three, how many are 5.
  const int of_axis[] = {0, 1, 3, 4, 3, 1};
  std::size_t expected = 0;
  for (const int x : of_axis) {
    for (const int y : of_axis) {
      for (const int z : of_axis) expected += x + y + z == 5;
    }
  }
  Grid grid = laplacian({6, 6, 6}, Wall::periodic);
  const Matrix b = random_in(precision, grid.unknowns(), 1, 5);
  for (const double off : {0.0, 0.5, 100.0}) {
    grid.shift = -5 * (1 + off * eps);
    FastDiagonal solver(context, grid, precision);
    if (off > 10) {
      EXPECT_EQ(solver.zero_eigenvalues(), 0);
      EXPECT_EQ(solver.trouble(), "");
      continue;
    }
    EXPECT_EQ(solver.zero_eigenvalues(), expected);
    EXPECT_NE(solver.trouble().find("singular"), std::string::npos);
    solver.upload(b);
    solver.solve();
    const Matrix x = solver.download();
    EXPECT_LE(norm(x.column(0), x.rows()), 2 * norm(b.column(0), b.rows()));  // no 1 / 0
  }
  // Nothing couples the lines, and nothing holds them.
  grid = laplacian({4, 3, 1}, Wall::neumann);
  grid.coefficients[1] = 0;
  EXPECT_EQ(FastDiagonal(context, grid, precision).zero_eigenvalues(), 3);
  EXPECT_NE(FastDiagonal(context, grid, precision).trouble(), "");
  // An identity only.
  grid.coefficients = {0, 0, 0};
  grid.shift = 4;
  const Matrix c = random_in(precision, 12, 1, 5), x = solve(grid, c);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(x(i, 0), c(i, 0) / 4, 4 * eps);
}

TEST_P(FastDiagonals, SolveForNothing) {
  const Grid none = laplacian({0, 3, 1});
  EXPECT_EQ(solve(none, Matrix(0, 2)).rows(), 0);
  EXPECT_EQ(solve(laplacian({3, 3, 1}), Matrix(9, 0)).cols(), 0);
}

TEST_P(FastDiagonals, RefuseWhatTheyCannotSolve) {
  FastDiagonal solver(context, laplacian({4, 4, 1}), precision);
  EXPECT_THROW(solver.upload(Matrix(15, 1)), InputError);
  Grid grid = laplacian({4, 4, 1});
  grid.conductivity.assign(16, 1);
  EXPECT_THROW(FastDiagonal(context, grid, precision), Unsupported);
  for (const Size& size : {Size{std::size_t{1} << 40, 1, 1}, Size{1 << 20, 1 << 20, 1 << 20},
                           Size{1, 1, std::size_t{1} << 33}, Size{1 << 16, 1 << 15, 1}}) {
    EXPECT_THROW(FastDiagonal(context, laplacian(size), precision), Unsupported) << size[0];
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const bool is_double = precision == Precision::double_precision;
  for (const double value : {infinity, nan, is_double ? 1e308 : 1e38, is_double ? 1e-309 : 1e-39}) {
    grid = laplacian({4, 4, 1});
    grid.coefficients[0] = value;
    EXPECT_THROW(FastDiagonal(context, grid, precision), InputError) << value;
    if (std::isfinite(value)) continue;
    grid = laplacian({4, 4, 1});
    grid.shift = value;
    EXPECT_THROW(FastDiagonal(context, grid, precision), InputError) << value;
  }
}

TEST(FastDiagonal, CountsItsMultiplyAdds) {
  EXPECT_EQ(FastDiagonal::multiply_adds(laplacian({1024, 1024, 1})), 2 * std::pow(1024.0, 3));
  EXPECT_EQ(FastDiagonal::multiply_adds(laplacian({3, 1, 1})), 2 * (4 + 1));
}

}  // namespace
}  // namespace lugpu
