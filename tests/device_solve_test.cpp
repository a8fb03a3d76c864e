// Solutions of grids whose vectors are on the device: as those that come from the host.

#include <cmath>

#include "base/error.hpp"
#include "matrix/random.hpp"
#include "opencl_fixture.hpp"
#include "operators/vectors.hpp"
#include "solve/structured_methods.hpp"

namespace lugpu {
namespace {

using Size = std::array<std::size_t, 3>;

struct DeviceCase {
  std::string method;
  Precision precision;
};

class DeviceSolve : public testing::TestWithParam<DeviceCase> {
 protected:
  DeviceContext& context_ = shared_context();
  const StructuredMethod& method_ = *structured_method(GetParam().method);
  const Precision precision_ = GetParam().precision;

  Vectors vectors(const Grid& grid, Texel texel) {
    return {context_,
            {grid.size[1] * grid.size[2], grid.size[0], precision_, Storage::buffer, texel},
            1};
  }
  StructuredOptions options(const StoppingRule& rule) const {
    StructuredOptions result;
    result.precision = precision_;
    result.rule = rule;
    return result;
  }
  double tolerance() const { return precision_ == Precision::single_precision ? 1e-4 : 1e-10; }
};

Grid grid_of(const Size& size, const std::array<Wall, 3>& walls, double shift) {
  Grid grid;
  grid.size = size;
  grid.walls = walls;
  for (std::size_t axis = 0; axis < 3; ++axis) grid.coefficients[axis] = size[axis] > 1 ? 1 : 0;
  grid.shift = shift;
  return grid;
}

constexpr Size kSizes[] = {{1, 1, 1}, {2, 3, 1}, {5, 7, 1}, {33, 17, 1}, {31, 1, 1}, {9, 8, 7}};

double residual(const Grid& grid, const std::vector<double>& b, const std::vector<double>& x) {
  Matrix given(grid.unknowns(), 1);
  given.values() = x;
  const Matrix product = multiply(grid, given);
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    error += std::pow(b[i] - product(i, 0), 2);
    norm += b[i] * b[i];
  }
  return norm == 0 ? std::sqrt(error) : std::sqrt(error / norm);
}

TEST_P(DeviceSolve, IsRightAgainAndAgainWhateverTheTexels) {
  for (const Size& size : kSizes) {
    const Grid grid = grid_of(size, {Wall::dirichlet, Wall::dirichlet_half, Wall::neumann}, 0.5);
    const auto solver = method_.make(context_, grid, options({tolerance(), 20000}));
    for (const Texel texel : {Texel::r, Texel::rgba}) {
      Vectors on_device = vectors(grid, texel);
      for (const std::uint64_t seed : {1, 2}) {
        SCOPED_TRACE(testing::Message() << size[0] << " x " << size[1] << " x " << size[2]);
        const std::vector<double> values = random_matrix(grid.unknowns(), 1, seed).values();
        Surface b = on_device.take(), x = on_device.take();
        on_device.upload(values, b);
        on_device.upload(std::vector<double>(grid.unknowns()), x);
        const Iteration iteration = solver->solve(b, x);
        EXPECT_TRUE(iteration.converged) << iteration.reason;
        EXPECT_EQ(x.texel(), texel);
        EXPECT_LT(residual(grid, values, on_device.download(x, grid.unknowns())), 2 * tolerance());
        if (method_.direct) continue;
        // From the solution no step is needed.
        const auto again = method_.make(context_, grid, options({3 * tolerance(), 20000}));
        EXPECT_EQ(again->solve(b, x).iterations, 0u);
      }
    }
  }
}

// Blindly: the same x after so many iterations.
TEST_P(DeviceSolve, BlindlyIsTheSame) {
  if (method_.direct) GTEST_SKIP() << "no iterations";
  for (const bool varies : {false, true}) {
    Grid grid = grid_of({33, 17, 1}, {Wall::dirichlet, Wall::neumann, Wall::neumann}, 0.25);
    if (varies) grid.conductivity = random_matrix(grid.unknowns(), 1, 9).values();
    for (double& k : grid.conductivity) k = 1.5 + k;
    Vectors on_device = vectors(grid, Texel::r);
    std::vector<double> results[2];
    for (const bool blind : {false, true}) {
      Surface b = on_device.take(), x = on_device.take();
      on_device.upload(random_matrix(grid.unknowns(), 1, 1).values(), b);
      on_device.upload(random_matrix(grid.unknowns(), 1, 2).values(), x);
      const auto solver = method_.make(context_, grid, options({0, 5, blind}));
      for (int turn = 0; turn < 2; ++turn) EXPECT_EQ(solver->solve(b, x).iterations, 5u);
      results[blind] = on_device.download(x, grid.unknowns());
    }
    // The same but for steps that change nothing but rounding.
    const double bound = 64 * epsilon(precision_);
    for (std::size_t i = 0; i < results[0].size(); ++i) {
      EXPECT_NEAR(results[0][i], results[1][i], bound);
    }
  }
}

// x after so many sweeps at the points of one colour after the other, on the host.
std::vector<double> swept(const Grid& grid, const std::vector<double>& b, std::vector<double> x,
                          std::size_t sweeps, std::size_t colours) {
  const std::vector<double> d = diagonal(grid);
  Matrix now(grid.unknowns(), 1);
  for (std::size_t half = 0; half < sweeps * colours; ++half) {
    now.values() = x;
    const Matrix product = multiply(grid, now);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t row = i / grid.size[0];
      const std::size_t at = i % grid.size[0] + row % grid.size[1] + row / grid.size[1];
      if (at % colours == half % colours) x[i] += (b[i] - product(i, 0)) / d[i];
    }
  }
  return x;
}

// Some cells are obstacles, without a conductivity; it changes from turn to turn.
TEST_P(DeviceSolve, TakesAConductivityOnTheDevice) {
  if (!method_.make_varying) GTEST_SKIP() << "prepared on the host";
  const std::string& name = GetParam().method;
  const bool sweeps = name == "jacobi" || name == "gauss-seidel";
  constexpr std::size_t kSweeps = 7;
  for (const Size& size : {Size{6, 8, 1}, Size{33, 17, 1}, Size{10, 8, 6}}) {
    for (const Wall wall : {Wall::neumann, Wall::periodic}) {
      if (wall == Wall::periodic && size[0] % 2 == 1) continue;
      SCOPED_TRACE(testing::Message() << size[0] << " " << static_cast<int>(wall));
      Grid grid = grid_of(size, {wall, wall, wall}, 0);
      const StoppingRule rule =
          sweeps ? StoppingRule{0, kSweeps, true} : StoppingRule{tolerance(), 2000, false};
      const auto solver = method_.make_varying(context_, grid, options(rule));
      Vectors on_device = vectors(grid, Texel::r);
      for (const std::uint64_t turn : {1, 2}) {
        grid.conductivity = random_matrix(grid.unknowns(), 1, turn).values();
        for (std::size_t i = 0; i < grid.unknowns(); ++i) {
          grid.conductivity[i] = i % 11 == turn ? 0 : 1.5 + grid.conductivity[i];
        }
        const Matrix known = random_matrix(grid.unknowns(), 1, 3);
        const std::vector<double> right = multiply(grid, known).values();
        const std::vector<double> start = random_matrix(grid.unknowns(), 1, 4).values();
        Surface b = on_device.take(), x = on_device.take(), k = on_device.take();
        on_device.upload(right, b);
        on_device.upload(sweeps ? start : std::vector<double>(grid.unknowns()), x);
        on_device.upload(grid.conductivity, k);
        solver->set_conductivity(k);
        const Iteration iteration = solver->solve(b, x);
        const std::vector<double> found = on_device.download(x, grid.unknowns());
        if (!sweeps) {
          EXPECT_TRUE(iteration.converged) << iteration.reason;
          EXPECT_LT(residual(grid, right, found), 2 * tolerance());
          continue;
        }
        const std::vector<double> expected =
            swept(grid, right, start, kSweeps, name == "jacobi" ? 1 : 2);
        for (std::size_t i = 0; i < found.size(); ++i) {
          EXPECT_NEAR(found[i], expected[i], 100 * epsilon(precision_));
        }
      }
    }
  }
}

// Neumann and periodic walls, no shift: b has no mean, and that of x is not determined.
TEST_P(DeviceSolve, SingularGrids) {
  if (GetParam().method == "jacobi") GTEST_SKIP() << "does not converge on such grids";
  for (const Size& size :
       {Size{2, 2, 1}, Size{5, 3, 1}, Size{33, 17, 1}, Size{16, 16, 1}, Size{6, 5, 4}}) {
    for (const Wall wall : {Wall::neumann, Wall::periodic}) {
      if (wall == Wall::periodic && size[0] % 2 == 1) continue;  // colours
      if (wall == Wall::periodic && size[1] % 2 == 1) continue;
      const Grid grid = grid_of(size, {wall, wall, wall}, 0);
      SCOPED_TRACE(testing::Message() << size[0] << " x " << size[1] << " x " << size[2]);
      std::vector<double> values = random_matrix(grid.unknowns(), 1, 1).values();
      double mean = 0;
      for (const double value : values) mean += value / static_cast<double>(values.size());
      for (double& value : values) value -= mean;
      Vectors on_device = vectors(grid, Texel::r);
      Surface b = on_device.take(), x = on_device.take();
      on_device.upload(values, b);
      on_device.upload(random_matrix(grid.unknowns(), 1, 2).values(), x);
      const auto solver = method_.make(context_, grid, options({tolerance(), 20000}));
      for (int turn = 0; turn < 3; ++turn) {
        const Iteration iteration = solver->solve(b, x);
        EXPECT_TRUE(iteration.converged) << iteration.reason;
      }
      EXPECT_LT(residual(grid, values, on_device.download(x, grid.unknowns())), 5 * tolerance());
    }
  }
}

// Whatever the size and the units: A + d e e' must not be A again when it is rounded.
TEST_P(DeviceSolve, DirectMethodsSolveSingularGridsOfAnyScale) {
  if (!method_.direct) GTEST_SKIP() << "iterative";
  const double limit = precision_ == Precision::single_precision ? 1e-3 : 1e-11;
  for (const Size& size : {Size{1, 1, 1}, Size{2, 1, 1}, Size{3, 1, 1}, Size{5, 3, 1},
                           Size{17, 17, 1}, Size{33, 2, 1}, Size{5, 4, 3}}) {
    for (const Wall wall : {Wall::neumann, Wall::periodic}) {
      for (const double scale : {1e-9, 1.0, 1e9}) {
        Grid grid = grid_of(size, {wall, wall, wall}, 0);
        for (double& c : grid.coefficients) c *= scale;
        SCOPED_TRACE(testing::Message()
                     << size[0] << " x " << size[1] << " x " << size[2] << " scale " << scale);
        // b = A u, so that its sum is zero.
        const Matrix values = multiply(grid, random_matrix(grid.unknowns(), 1, 1));
        Vectors on_device = vectors(grid, Texel::r);
        Surface b = on_device.take(), x = on_device.take();
        on_device.upload(values.values(), b);
        const auto solver = method_.make(context_, grid, options({}));
        for (int turn = 0; turn < 2; ++turn) {
          const Iteration iteration = solver->solve(b, x);
          ASSERT_TRUE(iteration.converged) << iteration.reason;
          const std::vector<double> result = on_device.download(x, grid.unknowns());
          EXPECT_LT(residual(grid, values.values(), result), limit);
          for (const double value : result) ASSERT_LT(std::abs(value), 1000);
        }
      }
    }
  }
}

TEST_P(DeviceSolve, RefusesVectorsOfAnotherKind) {
  const Grid grid = grid_of({6, 4, 1}, {Wall::dirichlet, Wall::dirichlet, Wall::neumann}, 0);
  const auto solver = method_.make(context_, grid, options({tolerance(), 100}));
  const auto surface = [&](std::size_t rows, std::size_t columns, Precision precision) {
    return Surface(context_, rows, columns, precision, Storage::buffer);
  };
  const bool single = precision_ == Precision::single_precision;
  const Precision other = single ? Precision::double_precision : Precision::single_precision;
  Surface right = surface(4, 6, precision_);
  fill(context_, right, 0);
  for (Surface wrong :
       {surface(3, 6, precision_), surface(6, 4, precision_), surface(4, 6, other)}) {
    EXPECT_THROW(solver->solve(right, wrong), InputError);
    EXPECT_THROW(solver->solve(wrong, right), InputError);
  }
  EXPECT_TRUE(solver->solve(right, right).converged);
}

// What a step of a simulation costs beside the steps of the method: one launch.
TEST_P(DeviceSolve, BlindConjugateGradientsWaitForNothing) {
  if (GetParam().method != "cg") GTEST_SKIP() << "of cg";
  const Grid grid = grid_of({33, 17, 1}, {Wall::dirichlet, Wall::neumann, Wall::neumann}, 0.25);
  Vectors on_device = vectors(grid, Texel::r);
  Surface b = on_device.take(), x = on_device.take();
  on_device.upload(random_matrix(grid.unknowns(), 1, 1).values(), b);
  on_device.upload({}, x);
  const auto solver = method_.make(context_, grid, options({0, 5, true}));
  context_.timeline().clear();
  solver->solve(b, x);
  EXPECT_EQ(context_.timeline().kernel_launches(), 1 + 2 * 5u);
  EXPECT_EQ(context_.timeline().readbacks(), 0u);
}

std::vector<DeviceCase> cases() {
  std::vector<DeviceCase> all;
  for (const StructuredMethod& method : structured_methods()) {
    for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
      all.push_back({method.name, precision});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Methods, DeviceSolve, testing::ValuesIn(cases()), [](const auto& tested) {
  std::string name = tested.param.method + "_" + lugpu::name(tested.param.precision);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace lugpu
