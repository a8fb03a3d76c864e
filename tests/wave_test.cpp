// Water waves: energy, stability, dispersion, residuals.

#include "simulation/wave.hpp"

#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

SimulationOptions in_double(const std::string& scene, std::size_t nx, std::size_t ny,
                            const std::string& method = "") {
  SimulationOptions options;
  options.scene = scene;
  options.size = {nx, ny, 1};
  options.precision = Precision::double_precision;
  options.tolerance = 1e-13;
  options.iterations = 10000;
  options.method = method;
  return options;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// What Crank and Nicolson's scheme keeps (wave.hpp).
double energy(Wave& wave, std::size_t nx, std::size_t ny) {
  const Box box = {{nx, ny, 1}, {Boundary::free_slip, Boundary::free_slip, Boundary::free_slip}, 0};
  const Grid grid = field_grid(box, Place::centres, 1, 0);
  Matrix u(nx * ny, 2);
  const std::vector<double> now = wave.height(), before = wave.height_before();
  std::copy(now.begin(), now.end(), u.column(0));
  std::copy(before.begin(), before.end(), u.column(1));
  const Matrix product = multiply(grid, u);
  double potential = 0, kinetic = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    kinetic += std::pow(now[i] - before[i], 2);
    potential += now[i] * product(i, 0) + before[i] * product(i, 1);
  }
  return kinetic + wave.courant_squared() / 2 * potential;
}

TEST(Wave, CrankNicolsonKeepsTheEnergyForAThousandSteps) {
  for (const char* scene : {"mode", "still"}) {
    Wave wave(shared_context(), in_double(scene, 33, 20));
    wave.push(0.3, 0.4, 0.6, 0.7);
    wave.step();
    const double start = energy(wave, 33, 20);
    EXPECT_GT(start, 0.1);
    for (int i = 0; i < 1000; ++i) wave.step();
    EXPECT_NEAR(energy(wave, 33, 20) / start, 1, 1e-11);
    EXPECT_EQ(wave.trouble(), "");
  }
}

TEST(Wave, ExplicitIsStableBelowItsLimitAndUnstableAboveIt) {
  const double limit = std::sqrt(0.5) / 32;
  for (const bool above : {false, true}) {
    SimulationOptions options = in_double("still", 32, 32, "explicit");
    options.time_step = limit * (above ? 1.02 : 0.99);
    Wave wave(shared_context(), options);
    wave.push(0.31, 0.42, 0.31, 0.42);
    for (int i = 0; i < 1000; ++i) wave.step();
    EXPECT_EQ(wave.left().size(), 1000u);
    const double size = std::sqrt(dot(wave.height(), wave.height()));
    if (above) {
      EXPECT_NE(wave.trouble(), "");
      EXPECT_FALSE(size < 1e3);
    } else {
      EXPECT_EQ(wave.trouble(), "");
      EXPECT_LT(size, 10);
    }
  }
}

// A mode moves as the scheme's dispersion says, to rounding.
TEST(Wave, MovesAsItsDispersionSays) {
  for (const char* method : {"explicit", "fast-diagonal"}) {
    Wave wave(shared_context(), in_double("mode", 24, 18, method));
    const std::vector<double> mode = wave.height();
    for (int step = 1; step <= 200; ++step) wave.step();
    const double expected = std::cos(200 * wave.phase_of_mode());
    EXPECT_NEAR(dot(wave.height(), mode) / dot(mode, mode), expected, 1e-10) << method;
  }
}

// The frequency comes close to that of the equation with the square of the distance of points.
TEST(Wave, DispersionIsOfSecondOrder) {
  const double exact = std::numbers::pi * std::hypot(2, 3);
  for (const char* method : {"explicit", "fast-diagonal"}) {
    double last = 0;
    for (const std::size_t n : {32, 64, 128, 256}) {
      SimulationOptions options = in_double("mode", n, n, method);
      options.time_step = 0.5 / static_cast<double>(n);
      Wave wave(shared_context(), options);
      const double error = std::abs(wave.phase_of_mode() / wave.time_step() - exact);
      if (last > 0) {
        EXPECT_NEAR(last / error, 4, 0.7) << method << " " << n;
      }
      last = error;
    }
  }
}

TEST(Wave, EveryMethodFindsTheSameWaves) {
  std::vector<double> expected;
  for (const StructuredMethod& method : structured_methods()) {
    SimulationOptions options = in_double("rain", 24, 17, method.name);
    options.tolerance = 1e-12;
    Wave wave(shared_context(), options);
    for (int i = 0; i < 30; ++i) wave.step();
    EXPECT_EQ(wave.trouble(), "");
    for (const double left : wave.left()) EXPECT_LT(left, 2e-12) << method.name;
    const std::vector<double> height = wave.height();
    if (expected.empty()) expected = height;
    for (std::size_t i = 0; i < height.size(); ++i) {
      EXPECT_NEAR(height[i], expected[i], 1e-9) << method.name;
    }
  }
}

TEST(Wave, AFewIterationsLeaveTheirResidual) {
  SimulationOptions options = in_double("mode", 40, 40, "cg");
  options.tolerance = 0;
  options.iterations = 5;
  Wave wave(shared_context(), options);
  wave.push(0.2, 0.2, 0.4, 0.3);
  for (int i = 0; i < 3; ++i) wave.step();
  // (I + r/2 A) v = u(t) with v = (u(t+1) + u(t-1)) / 2
  const std::vector<double> u = wave.height(), before = wave.height_before();
  wave.step();
  const std::vector<double> after = wave.height();
  const Box box = {{40, 40, 1}, {Boundary::free_slip, Boundary::free_slip, Boundary::free_slip}, 0};
  Matrix v(1600, 1);
  for (std::size_t i = 0; i < 1600; ++i) v(i, 0) = (after[i] + before[i]) / 2;
  const Matrix product =
      multiply(field_grid(box, Place::centres, wave.courant_squared() / 2, 1), v);
  std::vector<double> residual(1600);
  for (std::size_t i = 0; i < 1600; ++i) residual[i] = product(i, 0) - u[i];
  const double expected = std::sqrt(dot(residual, residual) / dot(u, u));
  EXPECT_GT(expected, 1e-3);
  EXPECT_NEAR(wave.left().back(), expected, 1e-10);
  EXPECT_EQ(wave.iterations(), 5u);
}

TEST(Wave, StaysSymmetric) {
  for (const char* method : {"explicit", "jacobi", "fast-diagonal"}) {
    SimulationOptions options = in_double("still", 32, 32, method);
    options.tolerance = 0;
    options.iterations = 8;
    Wave wave(shared_context(), options);
    wave.push(0.5, 0.5, 0.5, 0.5);
    for (int i = 0; i < 50; ++i) wave.step();
    const std::vector<double> u = wave.height();
    for (std::size_t i = 0; i < u.size(); ++i) {
      const std::size_t mirrored = i / 32 * 32 + 31 - i % 32;
      EXPECT_NEAR(u[i], u[mirrored], 1e-13) << method;
    }
  }
}

// Drops, the stick and pushes move water, but neither add nor take any; and waves do not pile up.
TEST(Wave, KeepsItsWater) {
  for (const char* scene : {"rain", "stick"}) {
    SimulationOptions options = in_double(scene, 64, 48);
    Wave wave(shared_context(), options);
    for (int i = 0; i < 1000; ++i) {
      if (i % 50 == 0) wave.push(0.01, 0.5, 0.1, 0.6);
      wave.step();
    }
    EXPECT_EQ(wave.trouble(), "");
    const std::vector<double> height = wave.height();
    double mean = 0, highest = 0;
    for (const double value : height) {
      mean += value / static_cast<double>(height.size());
      highest = std::max(highest, std::abs(value));
    }
    EXPECT_NEAR(mean, 0, 1e-12) << scene;
    EXPECT_GT(highest, 0.01) << scene;
    EXPECT_LT(highest, 1) << scene;
  }
}

// The time step changes with the scheme, the velocity of the water does not.
TEST(Wave, ChangesItsSchemeOnTheWay) {
  Wave wave(shared_context(), in_double("mode", 32, 24));
  for (int i = 0; i < 7; ++i) wave.step();
  const auto velocity = [&] {
    const std::vector<double> u = wave.height(), before = wave.height_before();
    std::vector<double> result(u.size());
    for (std::size_t i = 0; i < u.size(); ++i) result[i] = (u[i] - before[i]) / wave.time_step();
    return result;
  };
  const std::vector<double> of_implicit = velocity();
  const double implicit_step = wave.time_step();
  wave.change("explicit", {1e-13, 10000});
  EXPECT_LT(wave.time_step(), implicit_step / 4);
  const std::vector<double> of_explicit = velocity();
  for (std::size_t i = 0; i < of_explicit.size(); ++i) {
    EXPECT_NEAR(of_explicit[i], of_implicit[i], 1e-10);
  }
  for (int i = 0; i < 500; ++i) wave.step();
  wave.left();
  EXPECT_EQ(wave.trouble(), "");
  wave.change("fast-diagonal", {1e-13, 10000});
  EXPECT_EQ(wave.time_step(), implicit_step);
  for (int i = 0; i < 100; ++i) wave.step();
  for (const double value : wave.height()) EXPECT_LT(std::abs(value), 5);
}

TEST(Wave, EverySceneRunsOnEverySize) {
  for (const WaveScene& scene : wave_scenes()) {
    for (const auto& [nx, ny] : {std::pair{2, 2}, {3, 2}, {17, 33}}) {
      SimulationOptions options;
      options.scene = scene.name;
      options.size = {static_cast<std::size_t>(nx), static_cast<std::size_t>(ny), 1};
      options.tolerance = 1e-4;
      Wave wave(shared_context(), options);
      wave.push(-1, NAN, 1e30, 0.5);
      for (int i = 0; i < 20; ++i) wave.step();
      EXPECT_EQ(wave.trouble(), "");
      for (const double value : wave.height()) EXPECT_LT(std::abs(value), 10);
    }
  }
}

TEST(Wave, RefusesWhatDoesNotFit) {
  const auto refused = [](auto&& change) {
    SimulationOptions options;
    options.size = {16, 16, 1};
    change(options);
    EXPECT_THROW(Wave(shared_context(), options), Error);
  };
  refused([](SimulationOptions& o) { o.size = {16, 16, 2}; });
  refused([](SimulationOptions& o) { o.size = {0, 16, 1}; });
  refused([](SimulationOptions& o) { o.scene = "none"; });
  refused([](SimulationOptions& o) { o.method = "none"; });
  refused([](SimulationOptions& o) { o.time_step = 0; });
  refused([](SimulationOptions& o) { o.time_step = NAN; });
  refused([](SimulationOptions& o) { o.reynolds = 10; });
}

}  // namespace
}  // namespace lugpu
