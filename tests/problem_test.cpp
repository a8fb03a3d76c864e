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
  return measure_problem(&context, what, system,
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
  for (const char* problem : {"poisson2d", "poisson3d", "wave2d"}) {
    for (const StructuredMethod& method : structured_methods()) {
      SCOPED_TRACE(std::string(problem) + " " + method.name);
      const StructuredResult coarse = run(problem, method, 7), fine = run(problem, method, 15);
      ASSERT_EQ(coarse.status, RunStatus::ok) << coarse.reason;
      ASSERT_EQ(fine.status, RunStatus::ok) << fine.reason;
      EXPECT_LE(*fine.residual, 1.01e-8);
      // A step of the wave is 5 points wide, whatever their distance.
      const double order = std::string(problem) == "wave2d" ? 3 : 2;
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
  result.times_s = {seconds};
  result.iteration.iterations = 100;
  result.status = RunStatus::ok;
  return result;
}

TEST(Problems, ATimeBeyondTheCopyIsRefused) {
  const Ceilings ceilings{10e9, 0, std::nullopt};
  const std::uint64_t cache = 1 << 20;
  StructuredResult honest = result_of(0.8), impossible = result_of(0.4);
  judge_bandwidth(ceilings, cache, honest);
  EXPECT_EQ(honest.status, RunStatus::ok);
  ASSERT_TRUE(honest.bandwidth);
  EXPECT_NEAR(honest.bandwidth->over_copy, 10 * 8 * 100 * double(1 << 20) / 0.8 / 10e9, 1e-9);
  judge_bandwidth(ceilings, cache, impossible);
  EXPECT_EQ(impossible.status, RunStatus::error);
  EXPECT_NE(impossible.reason.find("not believed"), std::string::npos);
  EXPECT_TRUE(to_json(impossible)["median_s"].is_null());
}

TEST(Problems, VectorsInACacheMayBeFasterThanTheCopy) {
  StructuredResult cached = result_of(0.4);
  judge_bandwidth({10e9, 0, std::nullopt}, 64 << 20, cached);
  EXPECT_EQ(cached.status, RunStatus::ok);
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
