// The simulation of fluids: projections, exact solutions, obstacles, smoke.

#include "simulation/fluid.hpp"

#include <cmath>
#include <functional>
#include <numbers>

#include "base/error.hpp"
#include "matrix/random.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

constexpr double kPi = std::numbers::pi;

SimulationOptions in_double(const std::string& scene, std::array<std::size_t, 3> size) {
  SimulationOptions options;
  options.scene = scene;
  options.size = size;
  options.precision = Precision::double_precision;
  options.tolerance = 1e-12;
  options.iterations = 10000;
  return options;
}

double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

// Root of the mean square of u - exact over both components at time t, for a scene of vortices.
double error_of_vortices(std::size_t n, double step, double time, double reynolds,
                         bool semi_lagrangian) {
  SimulationOptions options = in_double("vortices", {n, n, 1});
  options.reynolds = reynolds;
  options.semi_lagrangian = semi_lagrangian;
  const double steps = std::round(time / step);
  options.time_step = time / steps;
  Fluid fluid(shared_context(), options);
  for (int i = 0; i < static_cast<int>(steps); ++i) fluid.step();
  EXPECT_EQ(fluid.trouble(), "");
  const double decay = std::exp(-8 * kPi * kPi * time / reynolds), h = 1 / static_cast<double>(n);
  const std::vector<std::vector<double>> u = fluid.velocity();
  double sum = 0;
  for (std::size_t i = 0; i < n * n; ++i) {
    const double x = static_cast<double>(i % n) * h, y = static_cast<double>(i / n) * h;
    const double exact_u = decay * std::sin(2 * kPi * (x + h)) * std::cos(2 * kPi * (y + h / 2));
    const double exact_v = -decay * std::cos(2 * kPi * (x + h / 2)) * std::sin(2 * kPi * (y + h));
    sum += std::pow(u[0][i] - exact_u, 2) + std::pow(u[1][i] - exact_v, 2);
  }
  return std::sqrt(sum / static_cast<double>(2 * n * n));
}

// A tenth of the time step, a tenth of the error, as it is of first order in time.
TEST(Fluid, IsOfFirstOrderInTime) {
  const double coarse = error_of_vortices(64, 1.0 / 64, 0.5, 100, false);
  const double fine = error_of_vortices(64, 1.0 / 256, 0.5, 100, false);
  EXPECT_LT(fine, coarse / 3.5);
  EXPECT_LT(fine, 6e-3);
}

// With a time step that falls as the square of the distance of points.
TEST(Fluid, IsOfSecondOrderInSpace) {
  const double coarse = error_of_vortices(16, 1.0 / 64, 0.5, 100, false);
  const double fine = error_of_vortices(32, 1.0 / 256, 0.5, 100, false);
  const double finest = error_of_vortices(64, 1.0 / 1024, 0.5, 100, false);
  EXPECT_LT(fine, coarse / 3.3);
  EXPECT_LT(finest, fine / 3.3);
}

TEST(Fluid, MacCormackIsMoreAccurateThanSemiLagrangianAdvection) {
  const double first_order = error_of_vortices(64, 1.0 / 128, 0.5, 100, true);
  EXPECT_LT(error_of_vortices(64, 1.0 / 128, 0.5, 100, false), first_order / 3);
}

// Every component of a velocity, random.
void randomize(const Staggered& on, Velocity& u) {
  for (std::size_t axis = 0; axis < u.size(); ++axis) {
    Vectors vectors(on.context(), on.layout(faces(axis)), 1);
    const VectorLayout layout = on.layout(faces(axis));
    vectors.upload(random_matrix(layout.rows * layout.columns, 1, axis + 1).values(), u[axis]);
  }
}

std::vector<double> on_host(const Staggered& on, Place place, const Surface& s) {
  Vectors vectors(on.context(), on.layout(place), 1);
  return vectors.download(s, on.layout(place).rows * on.layout(place).columns);
}

std::vector<std::vector<double>> on_host(const Staggered& on, const Velocity& u) {
  std::vector<std::vector<double>> result;
  for (std::size_t axis = 0; axis < u.size(); ++axis) {
    result.push_back(on_host(on, faces(axis), u[axis]));
  }
  return result;
}

struct ProjectionCase {
  const char* method;
  std::array<std::size_t, 3> cells;
  Boundary bound;
  bool has_solid;
};

class ProjectionTest : public testing::TestWithParam<ProjectionCase> {};

TEST_P(ProjectionTest, LeavesNoDivergenceAndProjectedVelocitiesAlone) {
  const auto& [method, cells, bound, has_solid] = GetParam();
  const Staggered on(shared_context(), {cells, {bound, bound, bound}, 0},
                     Precision::double_precision);
  Velocity u = on.velocity();
  randomize(on, u);
  Solids solids(on);
  if (has_solid) {
    const double half = static_cast<double>(cells[0]) / 2;
    solids.place({{{half, half, half}, 2.5, {0.3, -0.2, 0.1}}});
    solids.hold(u);
  }
  Projection projection(on);
  projection.prepare(*structured_method(method), {1e-11, 100000}, solids.conductivity());
  EXPECT_EQ(projection.project(u), "");
  const std::vector<std::vector<double>> once = on_host(on, u);
  Projection again(on);  // from a pressure of zero
  again.prepare(*structured_method(method), {1e-4, 100000}, solids.conductivity());
  again.project(u);
  const std::vector<std::vector<double>> twice = on_host(on, u);
  for (std::size_t axis = 0; axis < u.size(); ++axis) {
    for (std::size_t i = 0; i < once[axis].size(); ++i) {
      EXPECT_NEAR(twice[axis][i], once[axis][i], 1e-8);
    }
  }
  const std::vector<double> left = projection.left();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_LE(left[0], 1e-11);
}

INSTANTIATE_TEST_SUITE_P(
    All, ProjectionTest,
    testing::Values(ProjectionCase{"fast-diagonal", {33, 17, 1}, Boundary::no_slip, false},
                    ProjectionCase{"fast-diagonal", {16, 16, 1}, Boundary::periodic, false},
                    ProjectionCase{"fast-diagonal", {9, 8, 7}, Boundary::free_slip, false},
                    ProjectionCase{"multigrid-cg", {33, 17, 1}, Boundary::no_slip, false},
                    ProjectionCase{"multigrid-cg", {16, 24, 1}, Boundary::no_slip, true},
                    ProjectionCase{"multigrid-cg", {12, 13, 14}, Boundary::periodic, true},
                    ProjectionCase{"cg", {16, 24, 1}, Boundary::no_slip, true},
                    ProjectionCase{"cg", {12, 9, 8}, Boundary::no_slip, false},
                    ProjectionCase{"gauss-seidel", {12, 16, 1}, Boundary::no_slip, true},
                    ProjectionCase{"banded", {16, 24, 1}, Boundary::no_slip, false},
                    ProjectionCase{"lu-blocked", {16, 12, 1}, Boundary::periodic, false}),
    [](const auto& tested) {
      std::string name = std::to_string(tested.index) + "_" + tested.param.method;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

// Through the faces of a solid flows what the solid's own motion brings.
TEST(Solids, HoldTheVelocityOnTheirFaces) {
  const Staggered on(shared_context(),
                     {{20, 18, 1}, {Boundary::no_slip, Boundary::no_slip, Boundary::no_slip}, 0},
                     Precision::double_precision);
  Velocity u = on.velocity();
  randomize(on, u);
  const std::vector<std::vector<double>> before = on_host(on, u);
  Solids solids(on);
  solids.place({{{6, 6, 0}, 3, {1.5, -0.5, 0}}, {{14.5, 9, 0}, 2, {0.25, 2, 0}}});
  solids.hold(u);
  const std::vector<std::vector<double>> after = on_host(on, u);
  const auto which = [](double x, double y) {
    if (std::hypot(x - 6, y - 6) < 3) return 1;
    return std::hypot(x - 14.5, y - 9) < 2 ? 2 : 0;
  };
  const double expected[2][3] = {{0, 1.5, 0.25}, {0, -0.5, 2}};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::size_t nx = axis == 0 ? 19 : 20;
    for (std::size_t i = 0; i < before[axis].size(); ++i) {
      const double x = static_cast<double>(i % nx) + 0.5, y = static_cast<double>(i / nx) + 0.5;
      int solid = which(x, y);
      if (solid == 0) solid = axis == 0 ? which(x + 1, y) : which(x, y + 1);
      EXPECT_EQ(after[axis][i], solid == 0 ? before[axis][i] : expected[axis][solid]);
    }
  }
}

// Only its source makes smoke: what advection makes or loses, for it is not conservative, is less
// than a hundredth of it in any step, and less than a tenth in all.
TEST(Fluid, KeepsTheMassOfSmoke) {
  SimulationOptions options = in_double("smoke", {64, 64, 1});
  Fluid fluid(shared_context(), options);
  const auto mass = [&] {
    double sum = 0;
    for (const double value : fluid.smoke()) sum += value;
    return sum;
  };
  double made = 0;
  for (int i = 0; i < 60; ++i) {
    for (const Phase& phase : fluid.phases()) {
      const double before = mass();
      phase.run();
      if (std::string(phase.name) != "smoke") continue;
      EXPECT_NEAR(mass() / before, 1, 0.01) << i;
      made += mass() - before;
    }
  }
  EXPECT_GT(mass(), 30);
  EXPECT_LT(std::abs(made), 0.1 * mass());
  for (const double value : fluid.smoke()) {
    EXPECT_GE(value, 0);
    EXPECT_LE(value, 1);
  }
  for (const double left : fluid.left()) EXPECT_LT(left, 1e-11);
}

// What is left and what is right of the plume are mirror images.
TEST(Fluid, StaysSymmetric) {
  for (const char* scene : {"smoke", "obstacle"}) {
    Fluid fluid(shared_context(), in_double(scene, {48, 48, 1}));
    for (int i = 0; i < 40; ++i) fluid.step();
    EXPECT_EQ(fluid.trouble(), "");
    const std::vector<double> smoke = fluid.smoke();
    for (std::size_t i = 0; i < smoke.size(); ++i) {
      EXPECT_NEAR(smoke[i], smoke[i / 48 * 48 + 47 - i % 48], 1e-12);
    }
  }
}

// What does not depend on z in three dimensions is what there is in two.
TEST(Fluid, InThreeDimensionsIsAsInTwo) {
  SimulationOptions options = in_double("vortices", {16, 16, 1});
  Fluid flat(shared_context(), options);
  options.size = {16, 16, 16};
  Fluid deep(shared_context(), options);
  for (int i = 0; i < 10; ++i) {
    flat.step();
    deep.step();
  }
  const std::vector<std::vector<double>> in_2d = flat.velocity(), in_3d = deep.velocity();
  for (std::size_t axis = 0; axis < 2; ++axis) {
    for (std::size_t i = 0; i < in_3d[axis].size(); ++i) {
      EXPECT_NEAR(in_3d[axis][i], in_2d[axis][i % 256], 1e-12);
    }
  }
  for (const double w : in_3d[2]) EXPECT_NEAR(w, 0, 1e-13);
}

void expect_every_scene_runs(std::size_t depth) {
  for (const FluidScene& scene : fluid_scenes()) {
    SCOPED_TRACE(scene.name);
    SimulationOptions options;
    options.scene = scene.name;
    options.size = {20, 22, depth};
    options.tolerance = 1e-4;
    options.iterations = 1000;
    options.confinement = 0.3;
    Fluid fluid(shared_context(), options);
    fluid.push(0.2, 0.3, 0.4, 0.8);
    fluid.push(-5, NAN, 1e9, 2);
    for (int i = 0; i < 5; ++i) fluid.step();
    EXPECT_EQ(fluid.trouble(), "");
    for (const double left : fluid.left()) EXPECT_LT(left, 1e-3);
    for (const std::vector<double>& values : fluid.velocity()) {
      EXPECT_TRUE(std::isfinite(largest(values)));
      EXPECT_LT(largest(values), 20);
    }
    const Drawn drawn = fluid.drawn();
    EXPECT_EQ(drawn.size, options.size);
  }
}

TEST(Fluid, EverySceneRunsInTwoDimensions) {
  expect_every_scene_runs(1);
}

TEST(Fluid, EverySceneRunsInThreeDimensions) {
  expect_every_scene_runs(10);
}

TEST(Projection, EndsWithWhatIsNotFinite) {
  const Staggered on(shared_context(),
                     {{24, 20, 1}, {Boundary::no_slip, Boundary::no_slip, Boundary::no_slip}, 0},
                     Precision::double_precision);
  for (const double factor : {double{INFINITY}, double{NAN}}) {
    for (const char* method : {"fast-diagonal", "multigrid-cg", "cg", "banded"}) {
      Velocity u = on.velocity(), wrong = on.velocity();
      randomize(on, u);
      for (std::size_t axis = 0; axis < u.size(); ++axis) {
        Vectors vectors(on.context(), on.layout(faces(axis)), 1);
        vectors.combine(Operation::add, {factor}, u[axis], {0}, u[axis], wrong[axis]);
      }
      Projection projection(on);
      projection.prepare(*structured_method(method), {1e-6, 100}, {});
      EXPECT_EQ(projection.project(wrong), "The velocity is not finite") << method;
    }
  }
}

TEST(Fluid, RefusesWhatDoesNotFit) {
  const auto refused = [](auto&& change) {
    SimulationOptions options;
    options.size = {16, 16, 1};
    change(options);
    EXPECT_THROW(Fluid(shared_context(), options), Error);
  };
  refused([](SimulationOptions& o) {
    o.explicit_diffusion = true;
    o.reynolds = 100;  // 16^2 times the time step over 100 is above 1/4
    o.time_step = 0.1;
  });
  refused([](SimulationOptions& o) { o.size = {1, 16, 1}; });
  refused([](SimulationOptions& o) { o.size = {0, 16, 1}; });
  refused([](SimulationOptions& o) { o.size = {1u << 20, 1u << 20, 1}; });
  refused([](SimulationOptions& o) { o.scene = "none"; });
  refused([](SimulationOptions& o) { o.method = "none"; });
  refused([](SimulationOptions& o) { o.time_step = -1; });
  refused([](SimulationOptions& o) { o.time_step = NAN; });
  refused([](SimulationOptions& o) { o.reynolds = 0; });
  refused([](SimulationOptions& o) { o.confinement = -1; });
  refused([](SimulationOptions& o) {
    o.scene = "obstacle";
    o.method = "fast-diagonal";
  });
}

}  // namespace
}  // namespace lugpu
