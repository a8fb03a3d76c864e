// Problems on grids by every method: the same tolerance, the same error of second order; what
// cannot be believed is refused.
#include "bench/problem_bench.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

constexpr Effort kOneRun{.warmup = 0, .runs = 1, .min_time_s = 0, .timeout_s = 60};

StructuredResult run(const char* problem, const StructuredMethod& method, std::size_t n,
                     const StoppingRule& rule = {1e-8, 100'000}, std::size_t nrhs = 1) {
  DeviceContext& context = shared_context();
  const GridSystem system = find_grid_problem(problem).make(n, nrhs);
  StructuredCase what;
  what.problem = problem;
  what.grid = n;
  what.implementation = "lugpu";
  what.routine = method.name;
  what.options.rule = rule;
  what.options.nrhs = nrhs;
  what.device = context.device().name;
  return measure_problem(&context, what, system.view(),
                         {[&](const StoppingRule& given) {
                            StructuredOptions options = what.options;
                            options.rule = given;
                            method.require(system.grid, options);
                            return method.make(context, system.grid, options);
                          },
                          method.direct},
                         kOneRun);
}

TEST(Problems, EveryMethodHasAnErrorOfSecondOrder) {
  for (const char* problem : {"poisson2d", "poisson3d", "implicit2d"}) {
    for (const StructuredMethod& method : structured_methods()) {
      SCOPED_TRACE(std::string(problem) + " " + method.name);
      const StructuredResult coarse = run(problem, method, 7), fine = run(problem, method, 15);
      ASSERT_EQ(coarse.status, RunStatus::ok) << coarse.reason;
      ASSERT_EQ(fine.status, RunStatus::ok) << fine.reason;
      EXPECT_LE(*fine.residual, 1.01e-8);
      // A step of the wave is 5 points wide, whatever their distance.
      const double order = std::string(problem) == "implicit2d" ? 3 : 2;
      EXPECT_NEAR(std::log2(*coarse.error / *fine.error), order, 0.5);
      EXPECT_EQ(fine.iteration.residuals.empty(), method.direct);
    }
  }
}

TEST(Problems, BubblesHaveTheSameSolutionByEveryMethod) {
  for (const StructuredMethod& method : structured_methods()) {
    SCOPED_TRACE(method.name);
    const StructuredResult result = run("bubbles", method, 8, {1e-7, 1'000'000});
    if (method.name == std::string("fast-diagonal")) {
      EXPECT_EQ(result.status, RunStatus::unsupported);
      continue;
    }
    ASSERT_EQ(result.status, RunStatus::ok) << result.reason;
    EXPECT_LT(*result.error, 1e-3);
  }
}

TEST(Problems, DirectMethodsAloneSolveHelmholtz) {
  for (const StructuredMethod& method : structured_methods()) {
    SCOPED_TRACE(method.name);
    const StructuredResult result = run("helmholtz2d", method, 15, {1e-9, 2000});
    EXPECT_EQ(result.status, method.direct ? RunStatus::ok : RunStatus::failed) << result.reason;
    EXPECT_EQ(result.reason.empty(), method.direct);
  }
}

TEST(Problems, HelmholtzHasTheSameWaveNumberOnEveryGrid) {
  for (const std::size_t n : {3, 15, 64}) {
    const double h = 1 / static_cast<double>(n + 1);
    EXPECT_NEAR(find_grid_problem("helmholtz2d").make(n, 1).grid.shift / (h * h), -150, 1e-10);
  }
}

TEST(Problems, SeveralRightHandSides) {
  for (const StructuredMethod& method : structured_methods()) {
    SCOPED_TRACE(method.name);
    const StructuredResult result = run("poisson2d", method, 9, {1e-8, 100'000}, 3);
    EXPECT_EQ(result.status, RunStatus::ok) << result.reason;
  }
}

TEST(Problems, TooFewStepsAreAFailureWithItsResidual) {
  const StructuredResult result = run("poisson2d", *structured_method("jacobi"), 31, {1e-6, 10});
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.iteration.iterations, 10u);
  ASSERT_TRUE(result.residual);
  EXPECT_GT(*result.residual, 0.1);
  EXPECT_NE(result.reason.find("after 10 sweeps"), std::string::npos) << result.reason;
  const nlohmann::json row = to_json(result);
  EXPECT_TRUE(row["median_s"].is_null());
  EXPECT_FALSE(row["times_s"].empty());
}

// An ok result of 100 steps of conjugate gradients on 2^20 unknowns: 8 words of 8 bytes each move
// at least, 6.7 GB in all.
StructuredResult result_of(double seconds) {
  StructuredResult result;
  result.what.routine = "cg";
  result.unknowns = 1 << 20;
  result.setup_s = 0;
  result.times_s = {seconds};
  result.iteration.iterations = 100;
  result.status = RunStatus::ok;
  return result;
}

TEST(Problems, ATimeBeyondTheCopyIsRefused) {
  const Limits limits{10e9, 1 << 20, 1e9};
  StructuredResult honest = result_of(0.8), impossible = result_of(0.4);
  judge_time(limits, {}, honest);
  EXPECT_EQ(honest.status, RunStatus::ok);
  ASSERT_TRUE(honest.bandwidth);
  EXPECT_NEAR(honest.bandwidth->over_copy, 10 * 8 * 100 * double(1 << 20) / 0.8 / 10e9, 1e-9);
  judge_time(limits, {}, impossible);
  EXPECT_EQ(impossible.status, RunStatus::error);
  EXPECT_NE(impossible.reason.find("GB/s: it is not believed"), std::string::npos);
  EXPECT_TRUE(to_json(impossible)["median_s"].is_null());
}

TEST(Problems, VectorsInACacheMayBeFasterThanTheCopy) {
  StructuredResult cached = result_of(0.4);
  judge_time({10e9, 64 << 20, 1e9}, {}, cached);
  EXPECT_EQ(cached.status, RunStatus::ok);
}

// An ok result of a direct method with three right-hand sides.
StructuredResult direct_result(const char* method, double setup_s, double seconds) {
  StructuredResult result = result_of(seconds);
  result.what.routine = method;
  result.what.options.nrhs = 3;
  result.setup_s = setup_s;
  result.iteration = {};
  return result;
}

// The device does 1e9 multiply-adds a second, with a margin of a half.
TEST(Problems, ATimeOfTooManyOperationsIsRefused) {
  const Limits limits{10e9, 0, 1e9};
  const Work least{6e9, 1e9};
  StructuredResult honest = direct_result("banded", 4.1, 2.1);
  judge_time(limits, least, honest);
  EXPECT_EQ(honest.status, RunStatus::ok) << honest.reason;
  for (const bool of_setup : {true, false}) {
    StructuredResult impossible =
        direct_result("banded", of_setup ? 3.9 : 4.1, of_setup ? 2.1 : 1.9);
    judge_time(limits, least, impossible);
    EXPECT_EQ(impossible.status, RunStatus::error);
    EXPECT_NE(impossible.reason.find(of_setup ? "of the setup" : "of the solution"),
              std::string::npos);
    EXPECT_NE(impossible.reason.find("where the device does 2: it is not believed"),
              std::string::npos)
        << impossible.reason;
    EXPECT_TRUE(to_json(impossible)["median_s"].is_null());
  }
}

// By counting: of a grid, the entries of the factors of its band without interchanges.
TEST(Problems, TheLeastWorkIsThatOfTheElimination) {
  const Grid grid = find_grid_problem("poisson2d").make(6, 1).grid;
  const Sparse a = sparse(grid);
  ASSERT_EQ(bandwidth(grid), facts(a).upper_bandwidth);
  const int n = 36, width = 6;
  double band = 0, dense = 0;
  for (int k = 0; k < n; ++k) {
    const int below = std::min(width, n - 1 - k);
    band += below * below;
    dense += (n - 1 - k) * (n - 1 - k);
  }
  const Work of_band = structured_method("banded")->least_work(grid);
  EXPECT_LE(of_band.setup, band);
  EXPECT_GE(of_band.setup, band - width * width * width);
  EXPECT_EQ(of_band.setup, structured_method("banded")->least_work(a).setup);
  EXPECT_EQ(of_band.solution, structured_method("banded")->least_work(a).solution);
  EXPECT_DOUBLE_EQ(structured_method("lu-blocked")->least_work(a).setup, dense);
  // Four products of 6 x 6 matrices, each in two halves.
  EXPECT_DOUBLE_EQ(structured_method("fast-diagonal")->least_work(grid).solution,
                   4 * 6 * 2 * 3 * 3);
}

// Those that were measured just now, with room for load that slowed them down.
TEST(Problems, HonestTimesAreBelieved) {
  DeviceContext& context = shared_context();
  const Ceilings ceilings =
      measure_ceilings(context, {Precision::single_precision, Precision::double_precision});
  for (const StructuredMethod& method : structured_methods()) {
    if (!method.least_work) continue;
    SCOPED_TRACE(method.name);
    StructuredResult result = run("poisson2d", method, 40);
    ASSERT_EQ(result.status, RunStatus::ok) << result.reason;
    const Work least = method.least_work(find_grid_problem("poisson2d").make(40, 1).grid);
    Limits limits = limits_of(context, ceilings, result.what.options.precision, least);
    limits.multiply_adds_per_s *= 4;
    judge_time(limits, least, result);
    EXPECT_EQ(result.status, RunStatus::ok) << result.reason;
  }
}

TEST(Problems, TotalsCountRightHandSides) {
  StructuredResult result = result_of(0.6);
  result.setup_s = 1;
  result.what.options.nrhs = 3;
  EXPECT_DOUBLE_EQ(result.total(10), 1 + 10 * 0.2);
}

TEST(Problems, NamesAreListed) {
  try {
    find_grid_problem("poisson4d");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.reason().find("poisson3d"), std::string::npos);
  }
}

}  // namespace
}  // namespace lugpu
