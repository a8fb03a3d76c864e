// Simulations as other programs run them: the headers of the library and liblugpu.so, nothing of
// src/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <lugpu/lugpu.hpp>
#include <memory>
#include <numbers>
#include <string>
#include <thread>
#include <vector>

namespace lugpu {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Context& shared_context() {
  static Context context;
  return context;
}

SimulationOptions in_double(const std::string& scene, std::array<std::size_t, 3> size) {
  SimulationOptions options;
  options.scene = scene;
  options.size = size;
  options.precision = Precision::double_precision;
  options.tolerance = 1e-10;
  return options;
}

TEST(SimulationLibrary, EverySceneRuns) {
  const auto all = simulation_scenes();
  EXPECT_EQ(all.size(), 3u);
  for (const auto& [physics, scenes] : all) {
    ASSERT_FALSE(scenes.empty()) << physics;
    for (const std::string& scene : scenes) {
      SimulationOptions options;
      options.scene = scene;
      options.size = {24, 16, 1};
      options.inclusions = 2;
      Simulation simulation(shared_context(), physics, options);
      simulation.step(3);
      EXPECT_EQ(simulation.trouble(), "") << scene;
      EXPECT_NE(simulation.method(), "") << scene;
      EXPECT_GT(simulation.time_step(), 0) << scene;
      const std::vector<double> left = simulation.left();
      EXPECT_EQ(left.size(), 3u) << scene;
      for (const double each : left) EXPECT_LE(each, 1e-3) << scene;
      EXPECT_TRUE(simulation.left().empty()) << scene;
      const Field field = simulation.field();
      EXPECT_EQ(field.size, options.size);
      EXPECT_EQ(field.values.size(), 24u * 16u);
      EXPECT_LT(field.low, field.high) << scene;
    }
  }
}

// The vorticity of Taylor's and Green's vortices: 2 k sin(k x) sin(k y) exp(-2 k^2 t / Re).
TEST(SimulationLibrary, FieldIsTheVorticityOfDecayingVortices) {
  constexpr std::size_t kN = 64, kSteps = 20;
  SimulationOptions options = in_double("vortices", {kN, kN, 1});
  options.reynolds = 50;
  options.time_step = 0.005;
  Simulation flow(shared_context(), "fluid", options);
  EXPECT_EQ(flow.time_step(), 0.005);
  flow.step(kSteps);
  const Field field = flow.field();
  constexpr double k = 2 * std::numbers::pi;
  const double decay = std::exp(-2 * k * k * kSteps * 0.005 / 50);
  ASSERT_LT(decay, 0.9);
  double error = 0;
  for (std::size_t i = 0; i < field.values.size(); ++i) {
    const double x = (double(i % kN) + 0.5) / kN, y = (double(i / kN) + 0.5) / kN;
    const double exact = 2 * k * std::sin(k * x) * std::sin(k * y) * decay;
    error = std::max(error, std::abs(field.values[i] - exact));
  }
  EXPECT_LT(error, 0.02 * 2 * k);
  for (const double left : flow.left()) EXPECT_LT(left, 1e-10);
}

TEST(SimulationLibrary, APushIsWhereItWasMade) {
  const SimulationOptions options = in_double("still", {32, 16, 1});
  Simulation water(shared_context(), "wave", options);
  water.push(0.25, 0.75, 0.25, 0.75);
  const Field field = water.field();
  const auto deepest = std::min_element(field.values.begin(), field.values.end());
  EXPECT_LT(*deepest, 0);
  const auto at = std::size_t(deepest - field.values.begin());
  EXPECT_NEAR(double(at % 32), 7.5, 0.6);
  EXPECT_NEAR(double(at / 32), 11.5, 0.6);

  // Blue there, a quarter from the left and from the top, and nearly white elsewhere: the water
  // that was pressed away is everywhere.
  const Picture picture = water.picture();
  ASSERT_EQ(picture.width, 256u);
  ASSERT_EQ(picture.height, 128u);
  ASSERT_EQ(picture.rgb.size(), 3u * 256 * 128);
  const auto pixel = [&](std::size_t x, std::size_t y) { return &picture.rgb[3 * (256 * y + x)]; };
  EXPECT_GT(pixel(64, 32)[2], pixel(64, 32)[0] + 50);
  for (int colour = 0; colour < 3; ++colour) EXPECT_GE(pixel(64, 96)[colour], 250);
}

TEST(SimulationLibrary, CavityGetsSteadyAndHasAProfile) {
  constexpr std::size_t kN = 16;
  Simulation cavity(shared_context(), "fluid", in_double("cavity", {kN, kN, 1}));
  EXPECT_FALSE(cavity.is_over());
  cavity.step(100);
  EXPECT_FALSE(cavity.is_over());
  for (int i = 0; i < 100 && !cavity.is_over(); ++i) cavity.step(100);
  cavity.step();
  EXPECT_TRUE(cavity.is_over());

  const std::vector<ProfilePoint> points = cavity.profile();
  ASSERT_EQ(points.size(), 2 * (kN + 2));
  EXPECT_EQ(points[0].u, 0);
  EXPECT_EQ(points[kN + 1].y, 1);
  EXPECT_EQ(points[kN + 1].u, 1);  // the lid
  double through = 0, back = 0;    // as much goes to the right as to the left
  for (std::size_t j = 1; j <= kN; ++j) {
    EXPECT_EQ(points[j].x, 0.5);
    EXPECT_NEAR(points[j].y, (double(j) - 0.5) / kN, 1e-15);
    through += points[j].u;
    back = std::min(back, points[j].u);
  }
  EXPECT_NEAR(through, 0, 1e-9);
  EXPECT_LT(back, -0.1);
  EXPECT_EQ(points.back().x, 1);
  EXPECT_EQ(points.back().y, 0.5);
}

TEST(SimulationLibrary, ThreeDimensionsComeCellByCell) {
  Simulation smoke(shared_context(), "fluid", in_double("smoke", {12, 16, 8}));
  smoke.step(5);
  const Field field = smoke.field();
  EXPECT_EQ(field.size, (std::array<std::size_t, 3>{12, 16, 8}));
  ASSERT_EQ(field.values.size(), 12u * 16 * 8);
  // The source is in the middle of x and z, and low.
  const auto at = [&](std::size_t x, std::size_t y, std::size_t z) {
    return field.values[x + 12 * (y + 16 * z)];
  };
  EXPECT_GT(at(6, 2, 4), 0.1);
  for (const double away : {at(0, 2, 4), at(6, 15, 4), at(6, 2, 0), at(6, 2, 7)}) {
    EXPECT_LT(std::abs(away), 1e-3);
  }
}

TEST(SimulationLibrary, SaysWhatWentWrong) {
  SimulationOptions options = in_double("still", {32, 32, 1});
  options.method = "explicit";
  options.time_step = 0.1;
  Simulation waves(shared_context(), "wave", options);
  waves.push(0.5, 0.5, 0.5, 0.5);
  waves.step(200);
  EXPECT_NE(waves.trouble().find("explicit"), std::string::npos) << waves.trouble();

  options = in_double("smoke", {32, 32, 1});
  options.method = "cg";
  options.iterations = 2;
  Simulation smoke(shared_context(), "fluid", options);
  smoke.step(3);
  const std::string trouble = smoke.trouble();
  EXPECT_NE(trouble, "");
  EXPECT_NE(trouble.back(), '.');
  smoke.step();
  EXPECT_EQ(smoke.trouble(), trouble);
  EXPECT_EQ(smoke.left().size(), 4u);

  options.tolerance = 0;  // two iterations, and no complaint
  Simulation two(shared_context(), "fluid", options);
  two.step(3);
  EXPECT_EQ(two.trouble(), "");
  EXPECT_EQ(two.iterations(), 2u);
  EXPECT_GT(two.left().back(), 0.01);

  options = in_double("cavity", {32, 32, 1});  // diffusion that is far from stable
  options.explicit_diffusion = true;
  options.reynolds = 0.1;
  EXPECT_THROW(Simulation(shared_context(), "fluid", options), Error);
}

TEST(SimulationLibrary, CopiesAreTheSameAndOutliveTheirContext) {
  auto context = std::make_unique<Context>();
  const SimulationOptions options = in_double("rain", {16, 16, 1});
  Simulation first(*context, "wave", options);
  Simulation alone(*context, "wave", options);
  context.reset();
  Simulation second = first;
  std::vector<std::thread> threads;
  for (Simulation* const each : {&first, &second}) {
    threads.emplace_back([each] {
      for (int i = 0; i < 5; ++i) each->step();
    });
  }
  for (std::thread& thread : threads) thread.join();
  alone.step(10);
  EXPECT_EQ(first.left().size(), 10u);
  EXPECT_EQ(second.field().values, alone.field().values);
}

void expect_error(ErrorKind kind, const std::string& part, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    return;
  }
  ADD_FAILURE() << "no error: " << part;
}

TEST(SimulationLibrary, RefusesWhatDoesNotFit) {
  const auto refused = [](ErrorKind kind, const std::string& part, const std::string& physics,
                          const std::function<void(SimulationOptions&)>& change) {
    SimulationOptions options;
    options.size = {16, 16, 1};
    change(options);
    expect_error(kind, part, [&] { Simulation(shared_context(), physics, options); });
  };
  const auto bad = ErrorKind::bad_input;
  refused(bad, "there are: wave, fluid, bubbles", "fire", [](auto&) {});
  refused(bad, "there are: smoke, ", "fluid", [](auto& o) { o.scene = "none"; });
  refused(bad, "\"none\"", "fluid", [](auto& o) { o.method = "none"; });
  refused(bad, "at least 2 cells", "fluid", [](auto& o) { o.size = {0, 16, 1}; });
  refused(bad, "time step", "wave", [](auto& o) { o.time_step = -1; });
  refused(bad, "tolerance", "fluid", [](auto& o) { o.tolerance = -1; });
  refused(bad, "tolerance", "wave", [](auto& o) { o.tolerance = kNan; });
  refused(bad, "iteration", "bubbles", [](auto& o) { o.iterations = 0; });
  refused(ErrorKind::unsupported, "coefficients", "fluid", [](auto& o) {
    o.scene = "obstacle";
    o.method = "fast-diagonal";
  });
  Simulation water(shared_context(), "wave");
  expect_error(ErrorKind::unsupported, "centre lines", [&] { water.profile(); });
}

}  // namespace
}  // namespace lugpu
