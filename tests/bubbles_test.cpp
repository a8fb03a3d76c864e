// Bubbly flow: the dense systems of the cells against multipoles and closed forms, the transport of
// the density.
#include <complex>
#include <numbers>
#include <numeric>

#include "base/error.hpp"
#include "opencl_fixture.hpp"
#include "simulation/bubble_cells.hpp"
#include "simulation/two_phase.hpp"

namespace lugpu {
namespace {

constexpr double kRise = 1;
using Complex = std::complex<double>;

struct Cell {
  double u, v, residual, rhs;
  bool trouble;
};

// Mean velocity of bubbles with these centres and radius.
Cell velocity_of(Inclusions& inclusions, const std::vector<Complex>& centres, double radius,
                 double tolerance = 0) {
  DeviceContext& context = shared_context();
  const Precision precision = inclusions.precision();
  Matrix places(2 * centres.size(), 1), size(1, 1);
  for (std::size_t i = 0; i < centres.size(); ++i) {
    places(2 * i, 0) = centres[i].real();
    places(2 * i + 1, 0) = centres[i].imag();
  }
  size(0, 0) = radius;
  const std::size_t element = element_size(precision);
  context.queue().enqueueCopyBuffer(upload(context, places, precision), inclusions.centres(), 0, 0,
                                    2 * centres.size() * element);
  context.queue().enqueueCopyBuffer(upload(context, size, precision), inclusions.radius(), 0, 0,
                                    element);
  inclusions.build(kRise);
  inclusions.solve();
  Vectors one(context, {1, 1, precision, Storage::buffer, Texel::r}, 1);
  const Surface u = one.take(), v = one.take(), r = one.take(), b = one.take();
  const cl::Buffer trouble = context.zeros(1);
  inclusions.velocity({u, v, r, b, trouble, 1}, 0, kRise, tolerance);
  cl_int failed = 0;
  context.read_back("test", trouble, 0, sizeof failed, &failed);
  const auto value = [&](const Surface& s) { return one.download(s, 1)[0]; };
  return {value(u), value(v), value(r), value(b), failed != 0};
}

// The same by multipoles alpha_jp (R / (z - c_j))^p, which meet their conditions on every circle in
// turn: with the flow sum beta_p ((z - c_i) / R)^p of the others, alpha_p = conj(beta_p) for p > 1;
// alpha_1 = -R W - conj(beta_1), R v = 2 conj(beta_1) + R W by the impulse.
Complex mean_velocity(const std::vector<Complex>& centres, double radius) {
  constexpr std::size_t kTerms = 24;
  const Complex rise(0, kRise);
  std::vector<std::vector<Complex>> alpha(centres.size(), std::vector<Complex>(kTerms + 1));
  std::vector<Complex> velocity(centres.size());
  for (int sweep = 0; sweep < 60; ++sweep) {
    for (std::size_t i = 0; i < centres.size(); ++i) {
      std::vector<Complex> beta(kTerms + 1);
      for (std::size_t j = 0; j < centres.size(); ++j) {
        if (j == i) continue;
        // (R / (d + zeta))^p = (R / d)^p sum over q of binomial(-p, q) (zeta / d)^q
        const Complex ratio = radius / (centres[i] - centres[j]);
        for (std::size_t p = 1; p <= kTerms; ++p) {
          Complex term = alpha[j][p] * std::pow(ratio, static_cast<double>(p));
          for (std::size_t q = 1; q <= kTerms; ++q) {
            term *= -ratio * static_cast<double>(p + q - 1) / static_cast<double>(q);
            beta[q] += term;
          }
        }
      }
      for (std::size_t p = 2; p <= kTerms; ++p) alpha[i][p] = std::conj(beta[p]);
      alpha[i][1] = -radius * rise - std::conj(beta[1]);
      velocity[i] = 2.0 * std::conj(beta[1]) / radius + rise;
    }
  }
  const Complex sum = std::accumulate(velocity.begin(), velocity.end(), Complex());
  return sum / static_cast<double>(centres.size());
}

Matrix system_of(const Inclusions& inclusions) {
  const std::size_t n = inclusions.order();
  return download(shared_context(), inclusions.system(), n, n + 1, inclusions.precision());
}

std::vector<Complex> centres_of(const Inclusions& inclusions, std::size_t bubbles) {
  const Matrix places =
      download(shared_context(), inclusions.centres(), 2 * bubbles, 1, inclusions.precision());
  std::vector<Complex> centres;
  for (std::size_t i = 0; i < bubbles; ++i) {
    centres.emplace_back(places(2 * i, 0), places(2 * i + 1, 0));
  }
  return centres;
}

double round_off(Precision precision) {
  return precision == Precision::double_precision ? 1e-12 : 1e-5;
}

class BubbleSystems : public SurfaceKindTest {};

// The potential of a cylinder with added mass pi R^2: A = I, q twice its potential's magnitude.
TEST_P(BubbleSystems, OneBubbleIsADipole) {
  Inclusions inclusions(context, 1, 32, "", precision);
  const Cell cell = velocity_of(inclusions, {{0.5, 0.5}}, 0.1);
  const Matrix a = system_of(inclusions);
  for (std::size_t j = 0; j < 32; ++j) {
    for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(a(i, j), i == j);
  }
  const Matrix q = download(context, inclusions.q(), 32, 1, precision);
  for (std::size_t i = 0; i < 32; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / 32;
    EXPECT_NEAR(q(i, 0), 2 * kRise * std::sin(angle), 4 * epsilon(precision));
  }
  EXPECT_NEAR(cell.u, 0, round_off(precision));
  EXPECT_NEAR(cell.v, kRise, round_off(precision));
}

// v = W (1 + 2 R^2 / d^2 + O(1 / d^4)) for two above each other, with - for two side by side.
TEST_P(BubbleSystems, TwoBubblesApproachOneWithTheSquareOfTheirDistance) {
  if (precision == Precision::single_precision) GTEST_SKIP() << "the rest is below round-off";
  Inclusions inclusions(context, 2, 32, "", precision);
  for (const double sign : {1.0, -1.0}) {
    std::vector<double> rest;
    for (const double distance : {8.0, 16.0, 32.0}) {
      const Complex apart = sign > 0 ? Complex(0, distance) : Complex(distance, 0);
      const Cell cell = velocity_of(inclusions, {0, apart}, 1);
      rest.push_back(cell.v - kRise * (1 + sign * 2 / (distance * distance)));
      EXPECT_NEAR(cell.u, 0, 1e-14);
    }
    EXPECT_NEAR(std::log2(rest[0] / rest[1]), 4, 0.2) << rest[0];
    EXPECT_NEAR(std::log2(rest[1] / rest[2]), 4, 0.1) << rest[1];
  }
}

TEST_P(BubbleSystems, AgreeWithMultipolesBySpectralAccuracy) {
  const std::vector<Complex> centres = {{0, 0}, {2.5, 0.3}, {0.4, 2.7}, {-2.6, 1.5}, {1.1, -2.9}};
  const Complex truth = mean_velocity(centres, 1);
  ASSERT_GT(std::abs(truth - Complex(0, kRise)), 1e-2);
  std::vector<double> errors;
  for (const std::size_t points : {16, 32, 64, 128}) {
    Inclusions inclusions(context, centres.size(), points, "", precision);
    const Cell cell = velocity_of(inclusions, centres, 1);
    errors.push_back(std::abs(Complex(cell.u, cell.v) - truth));
  }
  EXPECT_LT(errors.back(), round_off(precision));
  if (precision == Precision::single_precision) return;
  EXPECT_LT(errors[1], errors[0] * errors[0] * 1e3);  // twice the digits
  EXPECT_GT(errors[0], 1e-8);
}

TEST_P(BubbleSystems, AreDiagonallyDominant) {
  for (const std::size_t bubbles : {1, 2, 7, 16, 64}) {
    Inclusions inclusions(context, bubbles, 32, "", precision);
    for (const std::size_t cell : {0, 5}) {
      inclusions.place(cell);
      const double radius =
          std::sqrt(0.1 / (std::numbers::pi * static_cast<double>(bubbles)));  // the densest
      const std::vector<Complex> centres = centres_of(inclusions, bubbles);
      for (std::size_t i = 0; i < bubbles; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          ASSERT_GT(std::abs(centres[i] - centres[j]), 2.2 * radius) << i << " and " << j;
        }
      }
      velocity_of(inclusions, centres, radius);
      const Matrix a = system_of(inclusions);
      for (std::size_t i = 0; i < a.rows(); ++i) {
        double others = 0;
        for (std::size_t j = 0; j < a.rows(); ++j) others += j == i ? 0 : std::abs(a(i, j));
        ASSERT_GT(std::abs(a(i, i)), others) << "row " << i << " of " << bubbles << " bubbles";
      }
    }
  }
}

TEST_P(BubbleSystems, EveryMethodSolvesThem) {
  for (const Method& method : methods()) {
    Inclusions inclusions(context, 7, 32, method.name, precision);
    inclusions.place(3);
    const std::vector<Complex> centres = centres_of(inclusions, 7);
    const double radius = 0.08;
    const Cell cell = velocity_of(inclusions, centres, radius, 100 * epsilon(precision));
    const Complex truth = mean_velocity(centres, radius);
    EXPECT_NEAR(cell.u, truth.real(), round_off(precision)) << method.name;
    EXPECT_NEAR(cell.v, truth.imag(), round_off(precision)) << method.name;
    EXPECT_FALSE(cell.trouble) << method.name;
    EXPECT_GT(cell.rhs, 1);
    EXPECT_LT(cell.residual, 100 * epsilon(precision) * cell.rhs) << method.name;
  }
}

TEST_P(BubbleSystems, NotSolvedToTheToleranceIsTrouble) {
  Inclusions inclusions(context, 2, 16, "", precision);
  EXPECT_FALSE(velocity_of(inclusions, {0, 3}, 1).trouble);
  EXPECT_TRUE(velocity_of(inclusions, {0, Complex(2.3, 1)}, 1, 1e-30).trouble);
  EXPECT_TRUE(velocity_of(inclusions, {0, 3}, NAN).trouble);
  EXPECT_TRUE(velocity_of(inclusions, {0, 3}, NAN, 1e-6).trouble);
}

INSTANTIATE_TEST_SUITE_P(Kinds, BubbleSystems,
                         testing::Values(SurfaceKind{Precision::single_precision, Storage::buffer},
                                         SurfaceKind{Precision::double_precision, Storage::buffer}),
                         testing::PrintToStringParamName());

SimulationOptions cells(std::size_t columns, std::size_t rows) {
  SimulationOptions options;
  options.size = {columns, rows, 1};
  options.scene = "cells";
  options.inclusions = 4;
  return options;
}

double total(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(BubbleCells, BubblesAreConservedAndRise) {
  for (const auto& [columns, rows] : {std::pair{12, 9}, {3, 4}, {17, 16}}) {
    BubbleCells flow(shared_context(), cells(columns, rows));
    const double before = total(flow.density());
    ASSERT_GT(before, 0);
    for (int step = 0; step < 20; ++step) flow.step();
    EXPECT_NEAR(total(flow.density()), before, 1e-5 * before);
    EXPECT_EQ(flow.trouble(), "");
    for (const double left : flow.left()) EXPECT_LT(left, 2e-6);
    flow.push(0.1, 0.2, 0.3, 2);
    EXPECT_GT(total(flow.density()), before);
  }
}

TEST(BubbleCells, OnlyCellsWhoseDensityChangesAreComputed) {
  BubbleCells flow(shared_context(), cells(24, 24));
  flow.step();
  const std::size_t first = flow.iterations();
  EXPECT_GT(first, 24 * 24 / 10);
  EXPECT_LT(first, 24 * 24 / 4);
  std::size_t sum = 0;
  for (int step = 0; step < 20; ++step) {
    flow.step();
    sum += flow.iterations();
  }
  EXPECT_GT(sum, 20 * 24 * 24 / 50);
  EXPECT_LT(sum, 20 * 24 * 24 / 4);
  // Neighbours change the speed of bubbles, in either direction.
  const std::vector<double> v = flow.velocity()[1];
  EXPECT_GT(*std::max_element(v.begin(), v.end()), 1.001);
  EXPECT_LT(*std::min_element(v.begin(), v.end()), 0.999);
}

TEST(BubbleCells, WhatDoesNotFitIsRefused) {
  DeviceContext& context = shared_context();
  EXPECT_THROW(BubbleCells(context, cells(1, 8)), InputError);
  EXPECT_THROW(BubbleCells(context, cells(8, 0)), InputError);
  SimulationOptions options = cells(8, 8);
  options.size[2] = 2;
  EXPECT_THROW(BubbleCells(context, options), InputError);
  options = cells(8, 8);
  options.time_step = 1;
  EXPECT_THROW(BubbleCells(context, options), InputError);
  options.time_step = NAN;
  EXPECT_THROW(BubbleCells(context, options), InputError);
  options = cells(8, 8);
  for (const std::size_t count : {std::size_t{0}, std::size_t{4097}, SIZE_MAX}) {
    options.inclusions = count;
    EXPECT_THROW(BubbleCells(context, options), InputError);
  }
  options = cells(8, 8);
  options.method = "multigrid-cg";
  EXPECT_THROW(BubbleCells(context, options), InputError);
  BubbleCells flow(context, cells(8, 8));
  EXPECT_THROW(flow.change("cg", {}), InputError);
  flow.change("gauss-jordan", {});
  flow.step();
  EXPECT_EQ(flow.trouble(), "");
}

const BubbleScene& scene_named(const std::string& name) {
  for (const BubbleScene& scene : two_phase_scenes()) {
    if (name == scene.name) return scene;
  }
  throw InputError("There is no such scene.");
}

SimulationOptions box(std::size_t n, double ratio, const std::string& method = "cg") {
  SimulationOptions options;
  options.size = {n, n, 1};
  options.density_ratio = ratio;
  options.method = method;
  options.precision = Precision::double_precision;
  options.tolerance = 1e-10;
  options.iterations = 20000;
  return options;
}

double fastest(TwoPhase& flow) {
  double most = 0;
  for (const std::vector<double>& component : flow.velocity()) {
    for (const double value : component) most = std::max(most, std::abs(value));
  }
  return most;
}

// The pressure in the middle of the gas less that in a corner.
double jump(TwoPhase& flow, std::size_t n) {
  const std::vector<double> p = flow.pressure();
  return p[(n / 2) * n + n / 2] - p[0];
}

class TwoPhases : public testing::Test {
 protected:
  void SetUp() override {
    if (!shared_context().device().double_precision) GTEST_SKIP() << "no double precision";
  }
};

// Cells whose surface is at most a cell away.
double curvature_error(std::size_t n) {
  TwoPhase flow(shared_context(), box(n, 10), scene_named("static"));
  const std::vector<double> kappa = flow.curvature(), phi = flow.level_set();
  double error = 0;
  for (std::size_t i = 0; i < phi.size(); ++i) {
    if (std::abs(phi[i]) * static_cast<double>(n) > 1) continue;
    error = std::max(error, std::abs(kappa[i] - 4));
  }
  return error;
}

TEST_F(TwoPhases, CurvatureIsOfSecondOrder) {
  const double coarse = curvature_error(32), middle = curvature_error(64),
               fine = curvature_error(128);
  EXPECT_LT(coarse, 0.1);
  EXPECT_NEAR(std::log2(coarse / middle), 2, 0.3);
  EXPECT_NEAR(std::log2(middle / fine), 2, 0.2);
}

// Of a bubble and of a drop of a fifth of a cell.
TEST_F(TwoPhases, NoCurvatureIsMoreThanThatOfACell) {
  const std::size_t n = 16;
  for (const double sign : {1.0, -1.0}) {
    TwoPhase flow(shared_context(), box(n, 10), scene_named("static"));
    std::vector<double> phi(n * n);
    for (std::size_t i = 0; i < phi.size(); ++i) {
      const double x = static_cast<double>(i % n) - 8, y = static_cast<double>(i / n) - 8;
      phi[i] = sign * (std::hypot(x, y) - 0.2) / static_cast<double>(n);
    }
    flow.set_level_set(phi);
    double most = 0;
    for (const double kappa : flow.curvature()) {
      EXPECT_LE(std::abs(kappa), n);
      most = std::max(most, sign * kappa);
    }
    EXPECT_EQ(most, n);
  }
}

TEST_F(TwoPhases, ExactCurvatureLeavesNoCurrents) {
  for (const double ratio : {1.0, 10.0, 1000.0}) {
    for (const std::string method : {"cg", "multigrid-cg", "banded"}) {
      TwoPhase flow(shared_context(), box(32, ratio, method), scene_named("static"));
      flow.hold_curvature(4);
      flow.step();
      EXPECT_EQ(flow.iterations() > 0, method != "banded");
      for (int step = 0; step < 2; ++step) flow.step();
      EXPECT_EQ(flow.trouble(), "") << method << " " << ratio;
      EXPECT_LT(fastest(flow), 1e-7) << method << " " << ratio;
      EXPECT_NEAR(jump(flow, 32), 4, 1e-6) << method << " " << ratio;
    }
  }
}

// With the computed curvature: small currents, and Laplace's pressure tension / radius.
TEST_F(TwoPhases, CurrentsAreSmallAndThePressureIsLaplaces) {
  const BubbleScene& scene = scene_named("static");
  for (const double ratio : {1.0, 10.0, 1000.0}) {
    TwoPhase flow(shared_context(), box(32, ratio), scene);
    for (int step = 0; step < 50; ++step) flow.step();
    EXPECT_EQ(flow.trouble(), "") << ratio;
    EXPECT_LT(scene.viscosity * fastest(flow) / scene.tension, 5e-4) << ratio;
    EXPECT_GT(fastest(flow), 1e-9) << "nothing moves at " << ratio;
    EXPECT_NEAR(jump(flow, 32), 4, 0.06) << ratio;
  }
}

// As in double precision, though little of the divergence is left but rounding.
TEST(StaticBubble, StaysAtRestInSinglePrecision) {
  const BubbleScene& scene = scene_named("static");
  for (const std::size_t n : {32, 64}) {
    for (const double ratio : {1.0, 10.0, 1000.0}) {
      SimulationOptions options = box(n, ratio, "multigrid-cg");
      options.precision = Precision::single_precision;
      options.tolerance = 1e-3;
      TwoPhase flow(shared_context(), options, scene);
      for (int step = 0; step < 200 && flow.trouble().empty(); ++step) flow.step();
      EXPECT_EQ(flow.trouble(), "") << ratio << " on " << n;
      EXPECT_LT(scene.viscosity * fastest(flow) / scene.tension, 6e-4) << ratio << " on " << n;
      EXPECT_NEAR(jump(flow, n), 4, 0.06) << ratio << " on " << n;
    }
  }
}

struct Gas {
  double volume, height;
};

Gas gas_of(TwoPhase& flow, std::size_t n) {
  const std::vector<double> phi = flow.level_set();
  Gas gas = {0, 0};
  for (std::size_t i = 0; i < phi.size(); ++i) {
    const double share = std::clamp(0.5 - phi[i] * static_cast<double>(n), 0.0, 1.0);
    gas.volume += share;
    gas.height += share * (static_cast<double>(i / n) + 0.5) / static_cast<double>(n);
  }
  gas.height /= gas.volume;
  gas.volume /= static_cast<double>(n * n);
  return gas;
}

TEST_F(TwoPhases, GasRisesAndKeepsItsVolume) {
  for (const char* const name : {"rise", "bubbles"}) {
    SimulationOptions options = box(48, 100);
    options.tolerance = 1e-6;
    TwoPhase flow(shared_context(), options, scene_named(name));
    const Gas first = gas_of(flow, 48);
    for (int step = 0; step < 60; ++step) flow.step();
    const Gas last = gas_of(flow, 48);
    EXPECT_EQ(flow.trouble(), "");
    EXPECT_GT(last.height, first.height + 0.02) << name;
    EXPECT_NEAR(last.volume, first.volume, 0.01 * first.volume) << name;
    for (const double left : flow.left()) EXPECT_LT(left, 1.1e-6);
  }
}

TEST(BubblesOfTheTable, RunAsTheyAreInSinglePrecision) {
  for (const std::string& scene : find_simulation("bubbles").scenes) {
    SimulationOptions options;
    options.size = {24, 32, 1};
    options.scene = scene;
    const std::unique_ptr<Physics> flow =
        find_simulation("bubbles").make(shared_context(), options);
    for (int step = 0; step < 12; ++step) flow->step();
    EXPECT_EQ(flow->trouble(), "") << scene;
    EXPECT_EQ(flow->left().size(), 12u);
    const Drawn drawn = flow->drawn();
    EXPECT_EQ(drawn.field->rows(), 32u);
    EXPECT_EQ(drawn.field->columns(), 24u);
    const Matrix picture = contents(shared_context(), *drawn.field);
    const auto [least, most] =
        std::minmax_element(picture.values().begin(), picture.values().end());
    EXPECT_GT(*most - *least, 0.5) << scene;
    EXPECT_GE(*least, 0) << scene;
  }
  SimulationOptions options;
  options.scene = "none";
  EXPECT_THROW(find_simulation("bubbles").make(shared_context(), options), InputError);
}

TEST_F(TwoPhases, WhatDoesNotFitIsRefused) {
  DeviceContext& context = shared_context();
  const auto make = [&](const SimulationOptions& options) {
    return std::make_unique<TwoPhase>(context, options, scene_named("rise"));
  };
  for (const double ratio : {0.0, -1.0, double(INFINITY), double(NAN)}) {
    EXPECT_THROW(make(box(16, ratio)), InputError);
  }
  EXPECT_THROW(make(box(1, 10)), InputError);
  EXPECT_THROW(make(box(16, 10, "nothing")), InputError);
  EXPECT_THROW(make(box(16, 10, "fast-diagonal")), Unsupported);
  SimulationOptions options = box(16, 10);
  options.size[2] = 4;
  EXPECT_THROW(make(options), InputError);
  options = box(16, 10);
  options.time_step = -1;
  EXPECT_THROW(make(options), InputError);
  const auto flow = make(box(17, 10));
  EXPECT_THROW(flow->change("fast-diagonal", {1e-6, 100}), Unsupported);
  flow->change("jacobi", {0, 3});
  flow->push(0.1, 0.2, NAN, 7);
  flow->step();
  EXPECT_EQ(flow->trouble(), "");
  EXPECT_EQ(flow->iterations(), 3u);
  flow->change("cg", {1e-8, 1});
  flow->step();
  EXPECT_NE(flow->trouble(), "");
}

TEST_F(TwoPhases, WithoutAToleranceAllIterationsAreDone) {
  TwoPhase flow(shared_context(), box(16, 10), scene_named("rise"));
  flow.change("cg", {0, 4});
  flow.step();
  EXPECT_EQ(flow.iterations(), 4u);
  EXPECT_EQ(flow.trouble(), "");
}

}  // namespace
}  // namespace lugpu
