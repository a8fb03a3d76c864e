// The rivals for systems of grids, against LAPACK's solution of the dense matrix and what is known
// of their iterations.
#include <dlfcn.h>
#include <lapacke.h>

#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <set>

#include "base/error.hpp"
#include "baselines/cholmod.hpp"
#include "baselines/columns.hpp"
#include "baselines/system_baselines.hpp"
#include "opencl_fixture.hpp"
#include "operators/product.hpp"

namespace {
bool no_cholmod = false;
std::string dlopen_error;
}  // namespace

// In front of the system's: a machine without libcholmod.
extern "C" void* dlopen(const char* name, int flags) {
  static const auto real =
      reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  if (!no_cholmod || !name || !std::strstr(name, "cholmod")) return real(name, flags);
  dlopen_error = std::string(name) + ": cannot open shared object file: No such file or directory";
  return nullptr;
}

extern "C" char* dlerror() {
  static const auto real = reinterpret_cast<char* (*)()>(dlsym(RTLD_NEXT, "dlerror"));
  return dlopen_error.empty() ? real() : dlopen_error.data();
}

namespace lugpu {
namespace {

using Walls = std::array<Wall, 3>;
using Lengths = std::array<std::size_t, 3>;

struct RivalKind {
  const SystemBaseline* baseline;
  Precision precision;
};

void PrintTo(const RivalKind& kind, std::ostream* out) {
  std::string text = kind.baseline->name;
  std::replace(text.begin(), text.end(), '-', '_');
  *out << text << "_" << name(kind.precision);
}

std::vector<RivalKind> rival_kinds() {
  std::vector<RivalKind> kinds;
  for (const SystemBaseline& baseline : system_baselines()) {
    kinds.push_back({&baseline, Precision::single_precision});
    kinds.push_back({&baseline, Precision::double_precision});
  }
  return kinds;
}

// The 5-point (7-point) Laplacian with Dirichlet walls.
Grid laplacian(std::size_t n, int dimensions) {
  Grid grid;
  for (int axis = 0; axis < dimensions; ++axis) {
    grid.size[axis] = n;
    grid.coefficients[axis] = 1;
  }
  return grid;
}

enum class Medium { constant, varying, obstacles };

Grid grid_of(const Lengths& size, const Walls& walls, Medium medium, double shift) {
  Grid grid{size, walls, {1, 0.5, size[2] > 1 ? 2.0 : 0.0}, shift};
  if (medium == Medium::constant) return grid;
  std::mt19937 random(1);
  grid.conductivity.resize(grid.unknowns());
  for (double& k : grid.conductivity) {
    const bool obstacle = medium == Medium::obstacles && random() % 4 == 0;
    k = obstacle ? 0 : 1 + static_cast<double>(random() % 8);
  }
  return grid;
}

// Every axis with every wall.
std::vector<Walls> all_walls() {
  const Wall kinds[] = {Wall::dirichlet, Wall::neumann, Wall::periodic, Wall::dirichlet_half};
  std::vector<Walls> walls;
  for (const Wall x : kinds) {
    for (const Wall y : kinds) walls.push_back({x, y, kinds[walls.size() % 4]});
  }
  return walls;
}

Matrix dense_solution(const Grid& grid, const Matrix& b) {
  Matrix a = dense(sparse(grid)), x = b;
  std::vector<lapack_int> ipiv(a.rows());
  const int info =
      LAPACKE_dgesv(LAPACK_COL_MAJOR, static_cast<int>(a.rows()), static_cast<int>(b.cols()),
                    a.values().data(), a.ld(), ipiv.data(), x.values().data(), x.ld());
  EXPECT_EQ(info, 0);
  return x;
}

double norm(const double* x, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i] * x[i];
  return std::sqrt(sum);
}

// The largest ||b - A x|| / ||b|| of a column.
double true_residual(const Grid& grid, const Matrix& b, const Matrix& x) {
  Matrix r = multiply(grid, x);
  double largest = 0;
  for (std::size_t j = 0; j < b.cols(); ++j) {
    for (std::size_t i = 0; i < b.rows(); ++i) r(i, j) = b(i, j) - r(i, j);
    largest = std::max(largest, norm(r.column(j), b.rows()) / norm(b.column(j), b.rows()));
  }
  return largest;
}

struct Solved {
  Iteration iteration;
  Matrix x;
};

class SystemRivals : public testing::TestWithParam<RivalKind> {
 protected:
  void SetUp() override {
    try {
      require(laplacian(2, 2));
    } catch (const Unsupported& error) {
      GTEST_SKIP() << error.what();
    }
  }

  void require(const Grid& grid) {
    rival.require(rival.on_device ? &context.device() : nullptr, grid, precision);
  }
  std::unique_ptr<PreparedSolver> make(const Grid& grid, const StoppingRule& rule) {
    return rival.make(rival.on_device ? &context : nullptr, grid, sparse(grid), precision, rule);
  }
  Solved solve(const Grid& grid, const Matrix& b, const StoppingRule& rule, Matrix start = {}) {
    if (start.rows() == 0) start = Matrix(b.rows(), b.cols());
    const auto solver = make(grid, rule);
    solver->upload(b, start);
    Solved solved;
    solved.iteration = solver->solve();
    solved.x = solver->download();
    EXPECT_EQ(solved.x.rows(), b.rows());
    EXPECT_EQ(solved.x.cols(), b.cols());
    return solved;
  }
  bool is(const char* name) const { return rival.name == std::string(name); }

  DeviceContext& context = shared_context();
  const SystemBaseline& rival = *GetParam().baseline;
  const Precision precision = GetParam().precision;
  const double eps = epsilon(precision);
  const double tolerance = precision == Precision::double_precision ? 1e-10 : 1e-5;
};

INSTANTIATE_TEST_SUITE_P(All, SystemRivals, testing::ValuesIn(rival_kinds()),
                         testing::PrintToStringParamName());

TEST_P(SystemRivals, SolveAsLapackDoes) {
  const Lengths sizes[] = {{6, 4, 1}, {4, 6, 2}, {34, 2, 1}, {7, 5, 3}, {1, 1, 1}, {2, 1, 4}};
  std::size_t turn = 0;
  for (const Lengths& size : sizes) {
    for (const Walls& walls : all_walls()) {
      for (const Medium medium : {Medium::constant, Medium::varying, Medium::obstacles}) {
        if (rival.on_device && turn++ % 4 != 0) continue;  // they see no more than stored matrices
        const Grid grid = grid_of(size, walls, medium, 0.5);
        SCOPED_TRACE(testing::PrintToString(size) + testing::PrintToString(walls));
        const Matrix b = random_in(precision, grid.unknowns(), 1, 1);
        Solved solved;
        try {
          require(grid);
          solved = solve(grid, b, {tolerance, 4000});
        } catch (const Unsupported& error) {  // odd and periodic; nothing to coarsen
          EXPECT_TRUE(is("plain-gauss-seidel") || (is("viennacl-amg-cg") && grid.unknowns() == 1))
              << error.what();
          continue;
        }
        EXPECT_TRUE(solved.iteration.converged) << solved.iteration.reason;
        EXPECT_EQ(solved.iteration.reason, "");
        EXPECT_LT(true_residual(grid, b, solved.x), tolerance + 500 * eps);
        const Matrix x = dense_solution(grid, b);
        // ||x - A^-1 b|| <= ||r|| / 0.5
        EXPECT_LT(true_residual(grid, b, x), 1e-13);
        for (std::size_t i = 0; i < grid.unknowns(); ++i) {
          EXPECT_NEAR(solved.x(i, 0), x(i, 0),
                      2 * (tolerance + 500 * eps) * norm(b.column(0), b.rows()));
        }
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(SystemRivals, SayHowTheyWentOn) {
  const Grid grid = laplacian(20, 2);
  const Matrix b = filled(grid.unknowns(), 1, 1);
  const Iteration iteration = solve(grid, b, {1e-4, 4000}).iteration;
  EXPECT_TRUE(iteration.converged);
  if (rival.direct) {
    EXPECT_EQ(iteration.iterations, 0u);
    EXPECT_TRUE(iteration.residuals.empty());
    return;
  }
  ASSERT_GT(iteration.iterations, 2u);
  EXPECT_NEAR(iteration.residuals.front(), 1, 10 * eps);
  EXPECT_LE(iteration.residuals.back(), 1e-4);
  EXPECT_GT(iteration.residuals[iteration.residuals.size() - 2], 1e-4);
  const bool looks_now_and_then = is("plain-jacobi") || is("plain-gauss-seidel");
  if (!looks_now_and_then) {
    EXPECT_EQ(iteration.residuals.size(), iteration.iterations + 1);
  }
  EXPECT_LE(iteration.residuals.size(), iteration.iterations + 1);
}

TEST_P(SystemRivals, StopAtTheLimit) {
  if (rival.direct) GTEST_SKIP() << "a direct method";
  const Grid grid = laplacian(64, 2);
  const Matrix b = filled(grid.unknowns(), 1, 1);
  for (const std::size_t steps : {0, 1, 2, 3, 9}) {
    const Solved solved = solve(grid, b, {1e-12, steps});
    EXPECT_FALSE(solved.iteration.converged);
    EXPECT_NE(solved.iteration.reason.find("after " + std::to_string(steps)), std::string::npos)
        << solved.iteration.reason;
    EXPECT_EQ(solved.iteration.iterations, steps);
    const double is = true_residual(grid, b, solved.x);
    const double rounding =
        8 * eps * norm(solved.x.column(0), b.rows()) / norm(b.column(0), b.rows());
    EXPECT_NEAR(solved.iteration.residuals.back(), is, 1e-3 * is + rounding + 50 * eps) << steps;
  }
}

TEST_P(SystemRivals, TakeSeveralRightHandSidesAgainAndAgain) {
  const Grid grid =
      grid_of({12, 10, 1}, {Wall::neumann, Wall::dirichlet, Wall::dirichlet}, Medium::varying, 0.5);
  const std::size_t n = grid.unknowns();
  Matrix b = random_in(precision, n, 3, 1);
  for (std::size_t i = 0; i < n; ++i) b(i, 1) = 0;  // solved before the first step
  const auto solver = make(grid, {tolerance, 4000});
  solver->upload(b, Matrix(n, 3));
  std::size_t most = 0;
  for (const std::size_t j : {0, 2}) {
    Matrix column(n, 1);
    std::copy_n(b.column(j), n, column.column(0));
    most = std::max(most, solve(grid, column, {tolerance, 4000}).iteration.iterations);
  }
  const Matrix expected = dense_solution(grid, b);
  Matrix first;
  for (int turn = 0; turn < 3; ++turn) {
    const Iteration iteration = solver->solve();
    EXPECT_TRUE(iteration.converged);
    EXPECT_EQ(iteration.iterations, most);
    const Matrix x = solver->download();
    for (std::size_t i = 0; i < 3 * n; ++i) {
      EXPECT_NEAR(x.values()[i], expected.values()[i], 3 * (tolerance + 500 * eps) * std::sqrt(n));
    }
    if (turn == 0) first = x;
    EXPECT_TRUE(equal(x, first));
  }
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(first(i, 1), 0);
  // Another number of columns
  solver->upload(Matrix(n, 0), Matrix(n, 0));
  EXPECT_TRUE(solver->solve().converged);
  EXPECT_EQ(solver->download().cols(), 0u);
}

TEST_P(SystemRivals, StartFromAGuess) {
  const Grid grid = laplacian(17, 2);
  const Matrix b = filled(grid.unknowns(), 1, 1), x = dense_solution(grid, b);
  const Solved known = solve(grid, b, {1e-4, 4000}, x);
  EXPECT_TRUE(known.iteration.converged);
  EXPECT_EQ(known.iteration.iterations, 0u);
  EXPECT_LT(true_residual(grid, b, known.x), 1e-4);
  if (rival.direct) return;
  EXPECT_EQ(known.iteration.residuals.size(), 1u);
  Matrix near = x;
  for (double& value : near.values()) value += 0.01;
  const Solved solved = solve(grid, b, {1e-4, 4000}, near);
  EXPECT_TRUE(solved.iteration.converged);
  EXPECT_GT(solved.iteration.iterations, 0u);
  EXPECT_LT(true_residual(grid, b, solved.x), 1.1e-4);
  EXPECT_NEAR(solved.iteration.residuals.front(), true_residual(grid, b, near), 1e-3);
}

TEST_P(SystemRivals, EndWithAReasonIfThereIsNoSolution) {
  const Walls closed = {Wall::neumann, Wall::neumann, Wall::neumann};
  const Walls round = {Wall::periodic, Wall::periodic, Wall::periodic};
  for (const Walls& walls : {closed, round}) {
    for (const Medium medium : {Medium::constant, Medium::varying, Medium::obstacles}) {
      for (const Lengths& size : {Lengths{16, 16, 1}, {16, 12, 6}, {2, 2, 2}}) {
        // With A 1 near 0, not at 0, p . A p > 0 leads conjugate gradients anywhere.
        const bool is_exact = medium == Medium::constant && !is("viennacl-amg-cg");
        if (!is_exact && std::strstr(rival.name, "cg")) continue;
        const Grid grid = grid_of(size, walls, medium, 0);
        Matrix b(grid.unknowns(), 1);
        for (std::size_t i = 0; i < b.rows(); ++i) {  // not in the range
          b(i, 0) = grid.conductivity.empty() || grid.conductivity[i] > 0 ? 1 : 0;
        }
        try {
          const Solved solved = solve(grid, b, {tolerance, 500});
          EXPECT_FALSE(solved.iteration.converged) << testing::PrintToString(size);
          EXPECT_NE(solved.iteration.reason, "");
        } catch (const Unsupported& error) {
          EXPECT_TRUE(is("viennacl-amg-cg")) << error.what();
        }
      }
    }
  }
}

TEST_P(SystemRivals, IndefiniteMatricesEndWithAReasonOrTheSolution) {
  for (const double shift : {-1.0, -3.0, -4.0, -20.0}) {
    Grid grid = laplacian(16, 2);
    grid.shift = shift;
    const Matrix b = random_in(precision, grid.unknowns(), 1, 1);
    const Solved solved = solve(grid, b, {1e-4, 300});
    if (solved.iteration.converged) {
      EXPECT_LT(true_residual(grid, b, solved.x), 2e-4) << shift;
      EXPECT_EQ(solved.iteration.reason, "");
    } else {
      EXPECT_NE(solved.iteration.reason, "");
    }
    if (is("plain-cg") || is("cholmod")) {
      EXPECT_NE(solved.iteration.reason.find("not positive definite"), std::string::npos)
          << shift << solved.iteration.reason;
    }
    if (is("gbtrf")) {  // -4: singular
      EXPECT_EQ(solved.iteration.converged, shift != -4) << solved.iteration.reason;
    }
  }
}

TEST_P(SystemRivals, SingularMatricesMayHaveASolution) {
  const Grid grid =
      grid_of({16, 12, 1}, {Wall::neumann, Wall::periodic, Wall::neumann}, Medium::constant, 0);
  Matrix b(grid.unknowns(), 1);
  for (std::size_t i = 0; i < b.rows(); ++i) b(i, 0) = i % 2 == 0 ? 1 : -1;
  const Solved solved = solve(grid, b, {1e-4, 2000});
  // Two values take turns in Jacobi's method; a factor of zero is no factor.
  if (is("plain-jacobi") || is("cholmod") || is("gbtrf")) {
    EXPECT_EQ(solved.iteration.converged, solved.iteration.reason.empty());
    if (!solved.iteration.converged) return;
  }
  EXPECT_TRUE(solved.iteration.converged) << solved.iteration.reason;
  EXPECT_LT(true_residual(grid, b, solved.x), 1.1e-4);
}

// Of a file: as many diagonals below as wanted and two above, diagonally dominant.
Sparse banded(std::size_t n, std::size_t lower, bool symmetric) {
  std::vector<Triplet> entries;
  const auto at = [](std::size_t i) { return static_cast<std::int32_t>(i); };
  for (std::size_t i = 0; i < n; ++i) {
    entries.push_back({at(i), at(i), 9});
    for (const std::size_t far : {std::size_t{1}, lower}) {
      if (i < far) continue;
      entries.push_back({at(i), at(i - far), -2});
      if (symmetric || far <= 2) entries.push_back({at(i - far), at(i), symmetric ? -2.0 : -1.0});
    }
  }
  return {n, n, std::move(entries)};
}

TEST_P(SystemRivals, StoredMatricesOfFiles) {
  for (const bool symmetric : {true, false}) {
    SCOPED_TRACE(symmetric);
    const Sparse a = banded(50, 7, symmetric);
    const Device* device = rival.on_device ? &context.device() : nullptr;
    if (rival.implementation == std::string("plain") || (!symmetric && !is("gbtrf"))) {
      EXPECT_THROW(rival.require(device, a, precision), Unsupported);
      continue;
    }
    rival.require(device, a, precision);
    const auto solver =
        rival.make(rival.on_device ? &context : nullptr, a, a, precision, {tolerance, 4000});
    const Matrix x = filled(50, 2, 1);
    const Matrix b = multiply(a, Op::none, x);
    solver->upload(b, Matrix(50, 2));
    EXPECT_TRUE(solver->solve().converged);
    const Matrix found = solver->download();
    for (std::size_t i = 0; i < x.values().size(); ++i) {
      EXPECT_NEAR(found.values()[i], x.values()[i], 10 * tolerance);
    }
  }
}

TEST_P(SystemRivals, NaNIsNoSolution) {
  if (rival.direct) GTEST_SKIP() << "a direct method";
  Matrix b = filled(64, 1, 1);
  b(5, 0) = std::numeric_limits<double>::quiet_NaN();
  const Iteration iteration = solve(laplacian(8, 2), b, {1e-4, 300}).iteration;
  EXPECT_FALSE(iteration.converged);
  EXPECT_NE(iteration.reason.find("not finite"), std::string::npos) << iteration.reason;
}

TEST_P(SystemRivals, SolveNothing) {
  Grid grid = laplacian(3, 2);
  grid.size[1] = 0;
  const Solved solved = solve(grid, Matrix(0, 2), {1e-4, 10});
  EXPECT_TRUE(solved.iteration.converged);
  EXPECT_EQ(solved.iteration.iterations, 0u);
}

TEST_P(SystemRivals, RefuseWhatOverflows) {
  if (precision == Precision::double_precision) GTEST_SKIP() << "nothing does";
  const auto solver = make(laplacian(3, 2), {1e-4, 10});
  EXPECT_THROW(solver->upload(filled(9, 1, 1e300), Matrix(9, 1)), InputError);
}

TEST_P(SystemRivals, WhatDoesNotFitIsUnsupported) {
  EXPECT_THROW(require(laplacian(std::size_t{1} << 20, 2)), Unsupported);
}

class PlainRivals : public testing::TestWithParam<Precision> {
 protected:
  Solved solve(const char* name, const Grid& grid, const Matrix& b, const StoppingRule& rule,
               const Matrix& start) {
    const auto solver =
        find_system_baseline(name).make(nullptr, grid, sparse(grid), GetParam(), rule);
    solver->upload(b, start);
    const Iteration iteration = solver->solve();
    return {iteration, solver->download()};
  }
};

INSTANTIATE_TEST_SUITE_P(All, PlainRivals,
                         testing::Values(Precision::single_precision, Precision::double_precision),
                         [](const auto& each) { return std::string(name(each.param)); });

TEST_P(PlainRivals, CgTakesAsManyStepsAsItsTheorySays) {
  struct Known {
    std::size_t n;
    int dimensions;
    std::size_t steps;
  };
  for (const Known& known : {Known{64, 2, 101}, Known{128, 2, 204}, Known{32, 3, 64}}) {
    const Grid grid = laplacian(known.n, known.dimensions);
    const Matrix b = filled(grid.unknowns(), 1, 1);
    const Solved solved = solve("plain-cg", grid, b, {1e-6, 1000}, Matrix(grid.unknowns(), 1));
    EXPECT_TRUE(solved.iteration.converged);
    // Rounding takes some directions again.
    const bool is_double = GetParam() == Precision::double_precision;
    EXPECT_NEAR(solved.iteration.iterations, known.steps, is_double ? 1 : known.steps / 5);
    if (is_double) {
      EXPECT_LT(true_residual(grid, b, solved.x), 1.0001e-6);
    }
  }
}

// One sweep by the definition, x += (b - A x) / diagonal at the chosen points.
Matrix relaxed(const Grid& grid, const Matrix& b, Matrix x,
               const std::function<bool(std::size_t)>& chosen) {
  const Matrix product = multiply(grid, x);
  const std::vector<double> on_diagonal = diagonal(grid);
  for (std::size_t i = 0; i < x.rows(); ++i) {
    if (chosen(i)) x(i, 0) += (b(i, 0) - product(i, 0)) / on_diagonal[i];
  }
  return x;
}

TEST_P(PlainRivals, SweepsAreThoseOfTheDefinition) {
  for (const Lengths& size : {Lengths{6, 4, 1}, {70, 6, 1}, {18, 4, 6}, {2, 2, 2}, {1, 8, 1}}) {
    for (const Walls& walls : all_walls()) {
      for (const Medium medium : {Medium::constant, Medium::varying, Medium::obstacles}) {
        const Grid grid = grid_of(size, walls, medium, 0.125);
        const std::size_t n = grid.unknowns();
        const Matrix b = random_in(GetParam(), n, 1, 1), start = random_in(GetParam(), n, 1, 2);
        const auto colour = [&](std::size_t i) {
          return (i % size[0] + i / size[0] % size[1] + i / (size[0] * size[1])) % 2;
        };
        Matrix by_jacobi = start, by_colours = start;
        for (int sweep = 0; sweep < 2; ++sweep) {
          by_jacobi = relaxed(grid, b, by_jacobi, [](std::size_t) { return true; });
          for (const std::size_t c : {0, 1}) {
            by_colours =
                relaxed(grid, b, by_colours, [&](std::size_t i) { return colour(i) == c; });
          }
        }
        const Matrix j = solve("plain-jacobi", grid, b, {0, 2}, start).x;
        const Matrix g = solve("plain-gauss-seidel", grid, b, {0, 2}, start).x;
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_NEAR(j(i, 0), by_jacobi(i, 0), 100 * epsilon(GetParam())) << i;
          ASSERT_NEAR(g(i, 0), by_colours(i, 0), 100 * epsilon(GetParam())) << i;
        }
      }
    }
  }
}

TEST_P(PlainRivals, RelaxationConvergesAsTheSpectralRadiusSays) {
  // Laplacian of n x n points: the radius is cos(pi / (n + 1)), for red and black its square.
  const std::size_t n = 31;
  const Grid grid = laplacian(n, 2);
  const Matrix b = filled(grid.unknowns(), 1, 1);
  const double radius = std::cos(std::acos(-1.0) / static_cast<double>(n + 1));
  const auto sweeps = [&](const char* name) {
    const Solved solved = solve(name, grid, b, {1e-3, 5000}, Matrix(grid.unknowns(), 1));
    EXPECT_TRUE(solved.iteration.converged);
    EXPECT_LT(solved.iteration.residuals.size(), solved.iteration.iterations / 8);
    return static_cast<double>(solved.iteration.iterations);
  };
  const double by_jacobi = sweeps("plain-jacobi"), by_colours = sweeps("plain-gauss-seidel");
  EXPECT_NEAR(by_jacobi / (std::log(1e-3) / std::log(radius)), 1, 0.1);
  EXPECT_NEAR(by_jacobi / by_colours, 2, 0.2);
}

TEST(SystemBaselines, AreFoundByName) {
  std::set<std::string> names;
  for (const SystemBaseline& baseline : system_baselines()) {
    EXPECT_EQ(&find_system_baseline(baseline.name), &baseline);
    names.insert(baseline.name);
  }
  EXPECT_EQ(names.size(), system_baselines().size());
  EXPECT_THROW(find_system_baseline("none-such"), InputError);
}

TEST(SystemBaselines, AfterDoubtfulPivotsTheResidualDecides) {
  const Sparse a(2, 2, {{0, 0, 1}, {0, 1, 2}, {1, 1, 1}});
  const Matrix b = matrix({{5, 11}, {2, 4}}), x = matrix({{1, 3}, {2, 4}});
  Matrix half = x;
  half(0, 1) = 0;  // b - A x = (3, 0), ||b|| = sqrt(137): 0.256
  EXPECT_TRUE(direct_solution({"", true}, a, b, x, 1e-9).converged);
  EXPECT_TRUE(direct_solution({"", true}, a, b, half, 0.257).converged);
  EXPECT_TRUE(direct_solution({"", false}, a, b, half, 1e-9).converged);
  EXPECT_FALSE(direct_solution({"no factors", false}, a, b, x, 1e-9).converged);
  const Iteration off = direct_solution({"", true}, a, b, half, 0.255);
  EXPECT_FALSE(off.converged);
  EXPECT_NE(off.reason.find("the residual is 0.26"), std::string::npos) << off.reason;
  half(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(direct_solution({"", true}, a, b, half, 1).converged);
}

TEST(SystemBaselines, LibrariesHaveAVersion) {
  for (const char* name : {"viennacl-cg", "cholmod"}) {
    if (const auto library = find_system_baseline(name).found_library()) {
      EXPECT_EQ(std::count(library->version.begin(), library->version.end(), '.'), 2) << name;
    }
  }
  if (const auto library = cholmod_library()) {
    EXPECT_NE(library->path.find("libcholmod"), std::string::npos) << library->path;
  }
}

TEST(SystemBaselines, WithoutCholmodItIsUnsupported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not opened it yet
  const auto tell = [] {
    no_cholmod = true;
    const SystemBaseline& rival = find_system_baseline("cholmod");
    try {
      rival.require(nullptr, laplacian(3, 2), Precision::double_precision);
    } catch (const Unsupported& error) {
      std::cerr << error.what() << (rival.found_library() ? " But there it is." : "");
    }
    std::exit(0);
  };
  EXPECT_EXIT(tell(), testing::ExitedWithCode(0),
              "^libcholmod was not found; install it \\(Debian: libcholmod3\\), or add its folder "
              "to LD_LIBRARY_PATH\\.$");
}

TEST(SystemBaselines, CholmodSaysWhatIsNotPositiveDefinite) {
  if (!cholmod_library()) GTEST_SKIP() << "no libcholmod";
  for (const int dimensions : {2, 3}) {  // simplicial and supernodal
    Grid grid = laplacian(dimensions == 2 ? 32 : 16, dimensions);
    grid.shift = -1;
    testing::internal::CaptureStdout();
    const auto solver = find_system_baseline("cholmod").make(
        nullptr, grid, sparse(grid), Precision::double_precision, {1e-6, 1});
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    const Matrix b = filled(grid.unknowns(), 1, 1);
    solver->upload(b, b);
    const Iteration iteration = solver->solve();
    EXPECT_FALSE(iteration.converged);
    EXPECT_NE(iteration.reason.find("not positive definite"), std::string::npos);
    EXPECT_TRUE(equal(solver->download(), b));
  }
}

TEST(SystemBaselines, PointsWithoutNeighboursAreNotCoarsened) {
  const SystemBaseline& rival = find_system_baseline("viennacl-amg-cg");
  if (!rival.found_library()) GTEST_SKIP() << "no ViennaCL";
  for (const std::size_t n : {1, 32}) {
    const Walls walls = {Wall::neumann, Wall::neumann, Wall::neumann};
    const Grid grid = grid_of({n, n, 1}, walls, Medium::obstacles, 0.5);
    EXPECT_THROW(
        rival.make(&shared_context(), grid, sparse(grid), Precision::single_precision, {1e-6, 100}),
        Unsupported);
  }
}

TEST(SystemBaselines, BandsTakeMemory) {
  const SystemBaseline& rival = find_system_baseline("gbtrf");
  try {
    rival.require(nullptr, laplacian(20000, 2), Precision::double_precision);
    FAIL() << "nothing was thrown";
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("192003200 MB"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lugpu
