// What a measurement does before its clock starts.
#include "bench/measure.hpp"

#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

// As `solve` measures.
constexpr Effort kOnce{
    .warmup = 0, .runs = 0, .min_time_s = 0, .timeout_s = INFINITY, .check_factors = false};

// Every way to solve that the device has: precision, refinement, right-hand sides, surfaces.
std::vector<Problem> problems_of(const Method& method, const Device& device) {
  std::vector<Problem> problems;
  for (const Pivot pivot : method.pivots()) {
    for (const SurfaceKind& kind : kinds_with(Texel::r)) {
      if (!missing_on(handle_of(device), kind).empty()) continue;
      for (const Schedule schedule : {Schedule::fused, Schedule::paper}) {
        if (schedule == Schedule::paper && method.block_size) continue;
        for (const Refine refine : {Refine::none, Refine::mixed}) {
          const bool single = kind.precision == Precision::single_precision;
          if (refine == Refine::mixed && !(single && method.keeps_factors)) continue;
          for (const std::size_t nrhs : {1, 9}) {
            Problem problem;
            problem.size.nrhs = nrhs, problem.dense.pivot = pivot;
            problem.dense.precision = kind.precision, problem.dense.storage = kind.storage;
            problem.dense.schedule = schedule, problem.solve.refine = refine;
            // More than a block of lu-blocked, 192 at most here, and of substitution.
            problem.size.n = method.block_size ? 200 : 40;
            problems.push_back(completed(problem, method, device, Texel::r, 0, {}));
          }
        }
      }
    }
  }
  return problems;
}

TEST(Clocks, DisagreeBeyondWhatLaunchesTake) {
  Result result;
  EXPECT_FALSE(clocks_disagree(result));
  result.device_times_s = {1.0};
  EXPECT_FALSE(clocks_disagree(result)) << "one clock";
  result.profiled_s = 1.05;
  EXPECT_FALSE(clocks_disagree(result));
  result.profiled_s = 1.2;
  EXPECT_TRUE(clocks_disagree(result));
  result.profiled_s = 0.8;
  EXPECT_TRUE(clocks_disagree(result));
  result.counters["kernel_launches"] = 20000;  // 0.4 s
  EXPECT_FALSE(clocks_disagree(result));
}

// Drivers compile a kernel when it is first launched.
TEST(Measurement, LaunchesEveryKernelBeforeTheClockStarts) {
  for (const Method& method : methods()) {
    for (const Problem& problem : problems_of(method, shared_context().device())) {
      SCOPED_TRACE(path_name(method, problem) + ", " + std::to_string(problem.size.nrhs));
      DeviceContext context(shared_context().device());
      Case what;
      what.routine = method.name;
      what.problem = problem;
      Matrix a = random_matrix(problem.size.n, problem.size.n, 1);
      for (std::size_t i = 0; i < problem.size.n; ++i)
        a(i, i) += static_cast<double>(problem.size.n);
      const Matrix b = random_matrix(problem.size.n, problem.size.nrhs, 2);
      Measurement measurement(context, method, what, a, b, kOnce);
      const std::size_t before = context.programs().kernel_count();
      EXPECT_EQ(measurement.finish().status, RunStatus::ok);
      EXPECT_EQ(context.programs().kernel_count(), before);
    }
  }
}

// Beyond the order up to which the host multiplies factors, checks are estimates and the condition
// comes from the device's factors.
TEST(Measurement, LargeFactorsAreCheckedByEstimates) {
  constexpr std::size_t kN = 60;
  DeviceContext& context = shared_context();
  const Method& method = find_method("lu-blocked");
  Case what;
  what.routine = method.name;
  what.problem.size = Size::square(kN, 1);
  what.problem.dense.precision = Precision::single_precision;
  what.problem = completed(what.problem, method, context.device(), Texel::r, 0, {});
  const Matrix a = random_matrix(kN, kN, 1), b = random_matrix(kN, 1, 2);
  Effort effort = kOnce;
  effort.check_factors = true;
  Checks checks[2];
  for (const bool large : {false, true}) {
    effort.most_order_of_product = large ? kN - 1 : kN;
    const Result result = Measurement(context, method, what, a, b, effort).finish();
    EXPECT_EQ(result.status, RunStatus::ok);
    checks[large] = result.checks;
    EXPECT_EQ(checks[large].factor_ratio_estimated, large);
  }
  EXPECT_EQ(checks[0].growth, checks[1].growth);
  EXPECT_NEAR(checks[1].rcond.value() / checks[0].rcond.value(), 1, 0.01);
}

}  // namespace
}  // namespace lugpu
