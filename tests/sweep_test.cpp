#include "bench/sweep.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "bench/case_memory.hpp"
#include "bench/report.hpp"
#include "matrix/generate.hpp"
#include "opencl_fixture.hpp"

namespace lugpu {
namespace {

using nlohmann::json;
using Sizes = std::vector<std::size_t>;

TEST(ParseSizes, ListsAndRanges) {
  EXPECT_EQ(parse_sizes("7"), (Sizes{7}));
  EXPECT_EQ(parse_sizes("1048576"), (Sizes{1048576}));
  EXPECT_EQ(parse_sizes("512,256"), (Sizes{512, 256}));
  EXPECT_EQ(parse_sizes("256:1024:256"), (Sizes{256, 512, 768, 1024}));
  EXPECT_EQ(parse_sizes("256:1000:256"), (Sizes{256, 512, 768}));
  EXPECT_EQ(parse_sizes("3:10"), (Sizes{3, 6, 9}));
  EXPECT_EQ(parse_sizes("5:5"), (Sizes{5}));
  EXPECT_EQ(parse_sizes("256:8192:*2"), (Sizes{256, 512, 1024, 2048, 4096, 8192}));
  EXPECT_EQ(parse_sizes("1:100:*3"), (Sizes{1, 3, 9, 27, 81}));
  EXPECT_EQ(parse_sizes("64:128:32,8192"), (Sizes{64, 96, 128, 8192}));
}

TEST(Threads, ArePowersOfTwoAndAll) {
  EXPECT_EQ(powers_of_two_up_to(1), std::vector<int>({1}));
  EXPECT_EQ(powers_of_two_up_to(2), std::vector<int>({1, 2}));
  EXPECT_EQ(powers_of_two_up_to(6), std::vector<int>({1, 2, 4, 6}));
  EXPECT_EQ(powers_of_two_up_to(8), std::vector<int>({1, 2, 4, 8}));
}

TEST(ParseSizes, KeepTheirOrderWithoutRepetitions) {
  EXPECT_EQ(parse_sizes("8,4,8,2"), (Sizes{8, 4, 2}));
  EXPECT_EQ(parse_sizes("4,2:8:2"), (Sizes{4, 2, 6, 8}));
}

TEST(ParseSizes, ErrorsNameThePart) {
  const std::pair<const char*, const char*> bad[] = {
      {"", "\"\""},
      {"12,", "\"\""},
      {"12,,13", "\"\""},
      {"64,ten", "\"ten\""},
      {"-5", "\"-5\""},
      {"+5", "\"+5\""},
      {"1e3", "\"1e3\""},
      {"2.5", "\"2.5\""},
      {" 5", "\" 5\""},
      {"64k", "\"64k\""},
      {"0", "\"0\""},
      {"0:8:2", "\"0:8:2\""},
      {"1048577", "\"1048577\""},
      {"99999999999999999999999", "\"99999999999999999999999\""},
      {"7,8:4", "\"8:4\""},
      {"5:4", "\"5:4\""},
      {"8:4:*2", "\"8:4:*2\""},
      {"2:8:0", "\"2:8:0\""},
      {"2:8:*1", "\"2:8:*1\""},
      {"2:8:*0", "\"2:8:*0\""},
      {"2:8:*", "\"2:8:*\""},
      {"2:8:", "\"2:8:\""},
      {":8", "\":8\""},
      {"2:", "\"2:\""},
      {"1:2:3:4", "\"1:2:3:4\""},
      {"5,1:20000:1", "\"1:20000:1\""}};
  for (const auto& [text, part] : bad) {
    try {
      parse_sizes(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const InputError& error) {
      const std::string sentence = error.what();
      EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
      EXPECT_NE(sentence.find("FIRST:LAST:STEP"), std::string::npos) << sentence;
    }
  }
}

TEST(ParseSizes, TenThousandAreTheMost) {
  EXPECT_EQ(parse_sizes("1:10000:1").size(), 10000u);
  EXPECT_THROW(parse_sizes("1:10001:1"), InputError);
  EXPECT_THROW(parse_sizes("1:10000:1,10001"), InputError);
}

SweepPlan small_plan() {
  SweepPlan plan;
  plan.sizes = {20};
  plan.methods = {"lu"};
  plan.pivots = {Pivot::partial};
  plan.precisions = {Precision::single_precision};
  plan.storages = {Storage::buffer};
  plan.effort = {.warmup = 1, .runs = 2, .min_time_s = 0, .timeout_s = 60};
  return plan;
}

/// What a case is, as one line.
std::string line(const Case& what) {
  std::ostringstream text;
  text << what.problem.size.n << ' ' << name(what.problem.dense.precision) << ' '
       << what.implementation << ' ' << what.routine << ' ';
  if (what.device) {
    text << *what.device << ' ' << name(what.problem.dense.storage);
  } else {
    text << "host";
  }
  text << ' ' << name(what.problem.dense.pivot) << ' ' << what.matrix;
  return text.str();
}

std::vector<std::string> lines(const std::vector<Case>& cases) {
  std::vector<std::string> text;
  for (const Case& what : cases) text.push_back(line(what));
  return text;
}

/// Devices that exist only by name.
std::vector<Device> two_devices() {
  std::vector<Device> devices(2);
  devices[0].name = "Ada";
  devices[0].index = 3;
  devices[1].name = "Bob";
  devices[1].index = 5;
  return devices;
}

TEST(CasesOf, SizeBySizeBaselinesFirst) {
  SweepPlan plan = small_plan();
  plan.sizes = {8, 4};
  plan.methods = {"gauss-jordan", "lu"};
  plan.pivots = {Pivot::none, Pivot::full};
  plan.precisions = {Precision::double_precision, Precision::single_precision};
  plan.storages = {Storage::image, Storage::buffer};
  plan.baselines = {"getc2", "getrf"};
  const std::vector<Case> cases = cases_of(plan, two_devices());
  ASSERT_EQ(cases.size(), 2u * 2 * (2 + 2 * 2 * 2 * 2));
  const std::vector<std::string> all = lines(cases);
  const std::vector<std::string> first(all.begin(), all.begin() + 11);
  EXPECT_EQ(
      first,
      (std::vector<std::string>{
          "8 double lapack getc2 host full random", "8 double openblas getrf host partial random",
          "8 double lugpu gauss-jordan Ada image none dominant",
          "8 double lugpu gauss-jordan Ada image full random",
          "8 double lugpu gauss-jordan Ada buffer none dominant",
          "8 double lugpu gauss-jordan Ada buffer full random",
          "8 double lugpu lu Ada image none dominant", "8 double lugpu lu Ada image full random",
          "8 double lugpu lu Ada buffer none dominant", "8 double lugpu lu Ada buffer full random",
          "8 double lugpu gauss-jordan Bob image none dominant"}));
  EXPECT_EQ(all[18], "8 single lapack getc2 host full random");
  EXPECT_EQ(all[36], "4 double lapack getc2 host full random");
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

// As accurate as double is mixed precision, and so are its rivals; they run once.
TEST(CasesOf, RivalsOfMixedPrecisionRunInDouble) {
  SweepPlan plan = small_plan();
  plan.baselines = {"getrf"};
  const Arithmetic mixed = {Precision::single_precision, Refine::mixed};
  const auto rivals = [&](const std::vector<Arithmetic>& precisions) {
    plan.precisions = precisions;
    std::vector<Precision> found;
    for (const Case& what : cases_of(plan, {two_devices().front()})) {
      if (what.is_baseline()) found.push_back(what.problem.dense.precision);
    }
    return found;
  };
  const Precision single = Precision::single_precision, in_double = Precision::double_precision;
  EXPECT_EQ(rivals({mixed}), std::vector<Precision>{in_double});
  EXPECT_EQ(rivals({in_double, mixed}), std::vector<Precision>{in_double});
  EXPECT_EQ(rivals({single, mixed}), (std::vector<Precision>{single, in_double}));
}

TEST(CasesOf, RivalsRunOnEveryDevice) {
  SweepPlan plan = small_plan();
  plan.baselines = {"viennacl", "getrf", "cusolver"};
  EXPECT_EQ(lines(cases_of(plan, two_devices())),
            (std::vector<std::string>{"20 single openblas getrf host partial random",
                                      "20 single viennacl viennacl Ada buffer none dominant",
                                      "20 single cusolver cusolver Ada buffer partial random",
                                      "20 single lugpu lu Ada buffer partial random",
                                      "20 single viennacl viennacl Bob buffer none dominant",
                                      "20 single cusolver cusolver Bob buffer partial random",
                                      "20 single lugpu lu Bob buffer partial random"}));
}

TEST(CasesOf, DevicesThatShareRunMethodsThatCan) {
  SweepPlan plan;
  plan.sizes = {8};
  plan.methods = {"lu", "lu-blocked"};
  plan.pivots = {Pivot::partial, Pivot::full};
  plan.precisions = {Precision::single_precision};
  plan.storages = {Storage::buffer};
  plan.teams = {{&shared_context(), &shared_context()}};
  const std::vector<Case> cases = cases_of(plan, {});
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases.front().routine, "lu-blocked");
  EXPECT_EQ(cases.front().device_index, shared_context().device().index);
  EXPECT_EQ(cases.front().problem.dense.others.size(), 1u);
}

TEST(CasesOf, CarryThePlan) {
  SweepPlan plan = small_plan();
  plan.baselines = {"getrf", "getc2"};
  plan.nrhs = 7;
  plan.seed = 42;
  plan.matrix = "graded";
  const std::vector<Case> cases = cases_of(plan, two_devices());
  ASSERT_EQ(cases.size(), 4u);
  for (const Case& what : cases) {
    EXPECT_EQ(what.problem.size.nrhs, 7u);
    EXPECT_EQ(what.seed, 42u);
    EXPECT_EQ(what.matrix, "graded");
  }
  EXPECT_EQ(cases[0].threads, blas_threads());
  EXPECT_EQ(cases[0].device_index, -1);
  EXPECT_FALSE(cases[0].device);
  EXPECT_FALSE(cases[1].threads) << "getc2 has no threads";
  EXPECT_FALSE(cases[2].threads);
  EXPECT_EQ(cases[2].device_index, 3);
  EXPECT_EQ(cases[3].device_index, 5);
}

TEST(CasesOf, EveryNumberOfCoresOnTheHostAndOnTheDevice) {
  SweepPlan plan = small_plan();
  plan.baselines = {"getrf", "getc2"};
  plan.threads = {1, 3};
  std::vector<Device> devices(2, two_devices().front());
  devices[0].compute_units = 1;
  devices[1].compute_units = 3;
  const std::vector<Case> cases = cases_of(plan, devices);
  ASSERT_EQ(cases.size(), 5u);
  EXPECT_EQ(cases[0].threads, 1);
  EXPECT_EQ(cases[1].threads, 3);
  EXPECT_FALSE(cases[0].units);
  EXPECT_FALSE(cases[2].threads) << "getc2 runs once";
  EXPECT_EQ(cases[3].units, 1u);
  EXPECT_EQ(cases[4].units, 3u);
  EXPECT_EQ(cases[3].device_index, cases[4].device_index);
}

TEST(CasesOf, UnknownNamesAreRefused) {
  SweepPlan plan = small_plan();
  plan.methods = {"cramer"};
  EXPECT_THROW(cases_of(plan, two_devices()), InputError);
  plan = small_plan();
  plan.baselines = {"cramer"};
  EXPECT_THROW(cases_of(plan, two_devices()), InputError);
}

TEST(CasesOf, NoneAtAllAreRefused) {
  SweepPlan plan = small_plan();
  plan.methods = {"gauss-jordan", "lu-blocked"};
  plan.pivots = {Pivot::rook};
  try {
    cases_of(plan, two_devices());
    ADD_FAILURE() << "an empty sweep was accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "There is nothing to run with --pivot rook: gauss-jordan has none, partial, scaled, full; "
        "lu-blocked has none, partial.");
  }
  plan.baselines = {"getrf"};
  EXPECT_EQ(cases_of(plan, two_devices()).size(), 1u);
}

/// Runs plans on one device.
class Sweep : public testing::Test {
 protected:
  explicit Sweep(const Device& device = shared_context().device()) {
    contexts_.emplace_back(device);
  }

  std::vector<Case> cases(const SweepPlan& plan) { return cases_of(plan, {contexts_[0].device()}); }

  std::vector<Result> run(const SweepPlan& plan) {
    const std::vector<Case> all = cases(plan);
    std::vector<Result> results(all.size());
    run_sweep(plan, all, contexts_,
              {.wanted = [](const Case&) { return true; },
               .working = [](const Case&) {},
               .done = [&](const Result& result, std::size_t i) { results.at(i) = result; }});
    return results;
  }
  /// Of a plan with one case.
  Result run_one(const SweepPlan& plan) {
    const std::vector<Result> results = run(plan);
    EXPECT_EQ(results.size(), 1u);
    return results.at(0);
  }

  DeviceContext& context() { return contexts_[0]; }
  std::vector<DeviceContext>& contexts() { return contexts_; }

 private:
  std::vector<DeviceContext> contexts_;
};

void expect_mentions(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST_F(Sweep, EveryMethodPassesWithEveryField) {
  SweepPlan plan = small_plan();
  plan.nrhs = 2;
  plan.methods = {"lu", "gauss-jordan"};
  plan.pivots = {Pivot::none, Pivot::partial, Pivot::full};
  plan.baselines = {"getrf", "getc2"};
  const std::vector<Result> results = run(plan);
  ASSERT_EQ(results.size(), 8u);
  for (const Result& result : results) {
    SCOPED_TRACE(line(result.what));
    EXPECT_STREQ(name(result.status), "ok") << result.reason;
    EXPECT_EQ(result.reason, "");
    EXPECT_EQ(result.times_s.size(), 2u);
    EXPECT_EQ(result.checks.info, 0);
    EXPECT_LT(result.checks.factor_ratio.value(), kFactorRatioLimit);
    EXPECT_LT(result.checks.solve_ratio.value(), kSolveRatioLimit);
    EXPECT_LT(result.checks.hpl_residual.value(), kHplResidualLimit);
    EXPECT_GT(result.checks.rcond.value(), 0);
    EXPECT_EQ(result.checks.growth.has_value(), result.what.routine != "gauss-jordan");
    double total = 0;
    for (const char* phase : {"upload", "factor", "solve", "download"}) {
      EXPECT_EQ(result.phases_s.count(phase), 1u) << phase;
      total += result.phases_s.at(phase);
    }
    EXPECT_DOUBLE_EQ(result.phases_s.at("total"), total);
  }
}

TEST_F(Sweep, DeviceRowsCountWhatRan) {
  SweepPlan plan = small_plan();
  plan.pivots = {Pivot::none, Pivot::partial};
  plan.schedules = {Schedule::paper, Schedule::fused};
  const std::vector<Result> results = run(plan);
  ASSERT_EQ(results.size(), 4u);
  for (const Result& result : results) {
    SCOPED_TRACE(line(result.what));
    const Problem& problem = result.what.problem;
    EXPECT_FALSE(result.device_times_s.empty());
    for (const double seconds : result.device_times_s) EXPECT_GT(seconds, 0);
    EXPECT_EQ(result.phases_s.count("build"), 1u);
    EXPECT_GT(result.phases_s.at("update"), 0);
    EXPECT_EQ(result.phases_s.count("pivot_search") == 1, problem.dense.pivot == Pivot::partial);
    const bool paper = problem.dense.schedule == Schedule::paper;
    EXPECT_GE(result.counters.at("kernel_launches"), paper ? 20u : 1u);
    EXPECT_EQ(result.counters.at("elements_updated"), 19u * 20 * 39 / 6);
    EXPECT_EQ(result.counters.at("bytes_model"), find_method("lu").work(20).bytes);
    EXPECT_GT(result.counters.at("bytes_counted"), 20u * 20 * 4);
    // The paper reads every pivot back.
    const bool reads =
        problem.dense.pivot == Pivot::partial && problem.dense.schedule == Schedule::paper;
    EXPECT_EQ(result.counters.at("readbacks"), reads ? 20u : 0u);
  }
}

TEST_F(Sweep, OnlyWantedCasesRun) {
  SweepPlan plan = small_plan();
  plan.sizes = {4, 3, 2};
  plan.pivots = {Pivot::none, Pivot::partial};
  std::map<std::size_t, std::string> done;
  std::vector<DeviceContext> contexts;
  contexts.emplace_back(context().device());
  run_sweep(plan, cases(plan), contexts,
            {.wanted = [](const Case& what) { return what.problem.size.n != 3; },
             .working = [](const Case&) {},
             .done = [&](const Result& result, std::size_t i) { done[i] = line(result.what); }});
  const std::vector<std::string> all = lines(cases(plan));
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(done, (std::map<std::size_t, std::string>{
                      {0, all[0]}, {1, all[1]}, {4, all[4]}, {5, all[5]}}));
}

/// The cases that a sweep works on, piece by piece, each as its pivoting.
std::string pieces(const SweepPlan& plan, std::vector<DeviceContext>& contexts) {
  std::string text;
  run_sweep(plan, cases_of(plan, {contexts[0].device()}), contexts,
            {.wanted = [](const Case&) { return true; },
             .working = [&](const Case& what) { text += name(what.problem.dense.pivot)[0]; },
             .done =
                 [&](const Result& result, std::size_t) {
                   EXPECT_STREQ(name(result.status), "ok") << result.reason;
                   text += '.';
                 }});
  return text;
}

TEST_F(Sweep, SamplesAreTakenInTurn) {
  SweepPlan plan = small_plan();
  plan.sizes = {20, 3};
  plan.pivots = {Pivot::none, Pivot::partial, Pivot::full};
  plan.effort.turn_s = 0;
  // Begun in order, sampled twice, beginning with another case each time, and finished at once.
  const std::string of_one_size =
      "npf"
      "npf"
      "pp.ff.nn.";
  EXPECT_EQ(pieces(plan, contexts()), of_one_size + of_one_size);
}

TEST_F(Sweep, ShortSamplesShareATurn) {
  SweepPlan plan = small_plan();
  plan.pivots = {Pivot::none, Pivot::partial};
  plan.effort.turn_s = 100;
  EXPECT_EQ(pieces(plan, contexts()), "npnnn.ppp.");
}

TEST_F(Sweep, WithoutRoomForTwoTheyAreTakenCaseByCase) {
  Device device = context().device();
  SweepPlan plan = small_plan();
  plan.sizes = {200};
  plan.pivots = {Pivot::none, Pivot::partial};
  const MemoryNeed one = memory_alone(&device, cases_of(plan, {device}).at(0), plan.effort);
  device.global_memory = static_cast<std::uint64_t>(1.5 * one.device);
  std::vector<DeviceContext> small;
  small.emplace_back(device);
  EXPECT_EQ(pieces(plan, small), "nnnn.pppp.");
}

TEST_F(Sweep, WithoutSamplesThereAreNoTurns) {
  SweepPlan plan = small_plan();
  plan.pivots = {Pivot::none, Pivot::partial};
  plan.effort.runs = 0;
  EXPECT_EQ(pieces(plan, contexts()), "nn.pp.");
}

// The systems of consecutive cases are shared only where they are the same.
TEST_F(Sweep, EveryCaseHasItsOwnSystem) {
  SweepPlan plan = small_plan();
  plan.sizes = {20, 21};
  plan.pivots = {Pivot::none, Pivot::partial, Pivot::none};
  for (const Result& result : run(plan)) {
    EXPECT_STREQ(name(result.status), "ok") << line(result.what) << ": " << result.reason;
    // A dominant matrix does not grow, a random one does.
    const bool dominant = result.what.matrix == "dominant";
    EXPECT_EQ(result.checks.growth.value() < 1.05, dominant) << line(result.what);
  }
}

/// On a device with little memory.
class SmallSweep : public Sweep {
 protected:
  SmallSweep() : Sweep(small_device()) {}

  static Device small_device() {
    Device device = shared_context().device();
    device.max_allocation = 64 * 64 * 4;
    return device;
  }
};

TEST_F(SmallSweep, WhatDoesNotFitIsUnsupported) {
  SweepPlan plan = small_plan();
  plan.sizes = {100, 20};
  const std::vector<Result> results = run(plan);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_STREQ(name(results[0].status), "unsupported");
  expect_mentions(results[0].reason, {"100 x 100", "largest allocation"});
  EXPECT_TRUE(results[0].times_s.empty());
  EXPECT_STREQ(name(results[1].status), "ok") << results[1].reason;
}

// PoCL is not a CUDA device, whether or not CUDA is installed.
TEST_F(Sweep, ARivalThatCannotRunIsUnsupported) {
  if (context().device().type != "cpu") GTEST_SKIP() << "it may run here";
  SweepPlan plan = small_plan();
  plan.baselines = {"cusolver"};
  const std::vector<Result> results = run(plan);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_STREQ(name(results[0].status), "unsupported");
  EXPECT_NE(results[0].reason, "");
  EXPECT_TRUE(results[0].times_s.empty());
  EXPECT_STREQ(name(results[1].status), "ok") << results[1].reason;
}

TEST_F(Sweep, SamplesFillTheTimeAskedFor) {
  SweepPlan plan = small_plan();
  plan.sizes = {2};
  plan.effort = {.warmup = 1, .runs = 1, .min_time_s = 0.5, .timeout_s = 600};
  const Case what = cases(plan).at(0);
  const Matrix a = generate("random", 2, 1), b(2, 1);
  Measurement measurement(context(), find_method("lu"), what, a, b, plan.effort);
  const auto start = std::chrono::steady_clock::now();
  while (measurement.wants_sample()) measurement.sample();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_GE(taken.count(), 0.5);
}

TEST_F(Sweep, OfManySamplesSomeAreKept) {
  SweepPlan plan = small_plan();
  plan.sizes = {2};
  const Case what = cases(plan).at(0);
  const Matrix a = generate("random", 2, 1), b(2, 1);
  for (const auto& [taken, kept] :
       {std::pair<int, std::size_t>{1000, 1000}, {1001, 501}, {4500, 563}}) {
    Measurement measurement(context(), find_method("lu"), what, a, b, plan.effort);
    for (int i = 0; i < taken; ++i) measurement.sample();
    EXPECT_EQ(measurement.finish().times_s.size(), kept) << taken;
  }
}

TEST_F(Sweep, WithoutTimeACaseIsSkipped) {
  SweepPlan plan = small_plan();
  plan.effort.timeout_s = 1e-9;
  const Result result = run_one(plan);
  EXPECT_STREQ(name(result.status), "skipped");
  expect_mentions(result.reason, {"--timeout 1e-09"});
  EXPECT_EQ(line(result.what), line(cases(plan)[0]));
}

// LAPACK cannot be stopped: what would take too long is not started.
TEST_F(Sweep, WithoutTimeABaselineIsNotBegun) {
  SweepPlan plan = small_plan();
  plan.sizes = {400};
  plan.methods = {};
  plan.baselines = {"getrf", "getc2"};
  plan.effort.timeout_s = 1e-9;
  for (const Result& result : run(plan)) {
    EXPECT_STREQ(name(result.status), "skipped");
    expect_mentions(result.reason, {"--timeout"});
    EXPECT_TRUE(result.times_s.empty());
  }
}

TEST_F(Sweep, ACaseThatTimedOutDoesNotStopTheNext) {
  SweepPlan plan = small_plan();
  plan.effort.timeout_s = 1e-9;
  EXPECT_STREQ(name(run_one(plan).status), "skipped");
  const Result next = run_one(small_plan());
  EXPECT_STREQ(name(next.status), "ok") << next.reason;
}

// Events cost time, so they are taken in a separate run, here the one that times out.
TEST_F(Sweep, ACaseThatTimedOutLeavesNoProfilingOn) {
  SweepPlan plan = small_plan();
  plan.effort = {.warmup = 0, .runs = 0, .min_time_s = 0, .timeout_s = 1e-9};
  EXPECT_STREQ(name(run_one(plan).status), "skipped");
  context().timeline().clear();
  Surface surface(context(), 3, 3, Precision::single_precision, Storage::buffer);
  fill(context(), surface, Matrix(3, 3));
  context().queue().finish();
  EXPECT_EQ(context().timeline().kernel_launches(), 1u);
  EXPECT_EQ(context().timeline().span(), 0) << "the launch was timed";
}

TEST_F(Sweep, ABreakdownWithoutPivotingFailsAndSaysWhatToDo) {
  SweepPlan plan = small_plan();
  plan.pivots = {Pivot::none};
  plan.matrix = "tiny-pivot";
  const Result result = run_one(plan);
  EXPECT_STREQ(name(result.status), "failed");
  expect_mentions(result.reason, {"growth", "--pivot partial"});
  EXPECT_GT(result.checks.growth.value(), 1e8);
  plan.pivots = {Pivot::partial};
  EXPECT_STREQ(name(run_one(plan).status), "ok");
}

TEST_F(Sweep, AZeroPivotFailsAndIsNamed) {
  SweepPlan plan = small_plan();
  plan.matrix = "zero-first-column";
  plan.pivots = {Pivot::none, Pivot::partial, Pivot::full};
  const std::vector<Result> results = run(plan);
  ASSERT_EQ(results.size(), 3u);
  for (const Result& result : results) EXPECT_STREQ(name(result.status), "failed");
  EXPECT_EQ(results[0].checks.info, 1);
  expect_mentions(results[0].reason, {"pivot 1", "zero", "--pivot partial"});
  EXPECT_EQ(results[1].checks.info, 1);
  expect_mentions(results[1].reason, {"singular", "pivot 1"});
  EXPECT_EQ(results[2].checks.info, 20);
  expect_mentions(results[2].reason, {"singular", "pivot 20"});
}

TEST_F(Sweep, WhatACaseThrowsIsItsError) {
  SweepPlan plan = small_plan();
  plan.matrix = "no-such-kind";
  const Result result = run_one(plan);
  EXPECT_STREQ(name(result.status), "error");
  expect_mentions(result.reason, {"no-such-kind"});
  EXPECT_EQ(line(result.what), line(cases(plan)[0]));
}

TEST_F(Sweep, NearSingularityIsAWarning) {
  SweepPlan plan = small_plan();
  plan.matrix = "hilbert";
  plan.pivots = {Pivot::full};
  const Result result = run_one(plan);
  ASSERT_FALSE(result.warnings.empty());
  expect_mentions(result.warnings[0], {"pivot", "near zero"});
}

Result example_result() {
  Result result;
  result.what = {
      "lugpu",
      "lu",
      {Size::square(30, 2),
       {Pivot::full, Precision::double_precision, Storage::image, Texel::r, Schedule::paper},
       {}},
      "Testcard",
      0,
      4,
      std::nullopt,
      std::nullopt,
      std::nullopt,
      9,
      "random"};
  result.times_s = {3, 1, 2};
  result.checks.solve_ratio = 0.5;
  result.status = RunStatus::ok;
  return result;
}

TEST(ToJson, OfAnOkResult) {
  const json row = to_json(example_result());
  EXPECT_EQ(row["median_s"], 2.0);
  EXPECT_EQ(row["min_s"], 1.0);
  EXPECT_EQ(row["rel_stdev"], 0.5);
  EXPECT_EQ(row["rel_mad"], 0.5);
  EXPECT_EQ(row["median_interval_s"], json({1.0, 3.0}));
  EXPECT_EQ(row["outliers"], 0);
  EXPECT_DOUBLE_EQ(row["gflops"].get<double>(), 2.0 / 3 * 27000 / 2 * 1e-9);
  EXPECT_EQ(row["status"], "ok");
  EXPECT_EQ(row["pivot"], "full");
  EXPECT_EQ(row["precision"], "double");
  EXPECT_EQ(row["storage"], "image");
  EXPECT_EQ(row["device"], "Testcard");
  EXPECT_EQ(row["n"], 30);
  EXPECT_EQ(row["nrhs"], 2);
  EXPECT_EQ(row["seed"], 9);
  EXPECT_EQ(row["matrix"], "random");
  EXPECT_TRUE(row["threads"].is_null());
  EXPECT_EQ(row["checks"]["solve_ratio"], 0.5);
  EXPECT_TRUE(row["checks"]["growth"].is_null());
}

TEST(ToJson, OneSampleHasNoInterval) {
  Result result = example_result();
  result.times_s = {1};
  EXPECT_TRUE(to_json(result)["median_interval_s"].is_null());
  EXPECT_EQ(to_json(result)["rel_mad"], 0.0);
}

TEST(ToJson, OnlyOkShowsASpeed) {
  for (const RunStatus status :
       {RunStatus::failed, RunStatus::unsupported, RunStatus::skipped, RunStatus::error}) {
    Result result = example_result();
    result.status = status;
    const json row = to_json(result);
    EXPECT_EQ(row["status"], name(status));
    for (const char* key :
         {"gflops", "median_s", "min_s", "rel_stdev", "rel_mad", "median_interval_s", "outliers"}) {
      EXPECT_TRUE(row[key].is_null()) << key;
    }
    EXPECT_EQ(row["times_s"].size(), 3u) << "the samples are kept";
  }
}

TEST(ToJson, NotFiniteIsNull) {
  Result result = example_result();
  result.checks.growth = std::numeric_limits<double>::infinity();
  result.checks.hpl_residual = std::numeric_limits<double>::quiet_NaN();
  const json row = to_json(result);
  EXPECT_TRUE(row["checks"]["growth"].is_null());
  EXPECT_TRUE(row["checks"]["hpl_residual"].is_null());
}

TEST(ToJson, OnTheHostThereIsNoDevice) {
  Result result = example_result();
  result.what.device.reset();
  result.what.threads = 2;
  const json row = to_json(result);
  EXPECT_EQ(row["storage"], "host");
  EXPECT_TRUE(row["device"].is_null());
  EXPECT_TRUE(row["texel"].is_null());
  EXPECT_EQ(row["threads"], 2);
}

TEST(ToJson, ABaselineHasNoSurfaces) {
  Result result = example_result();
  result.what.implementation = "cusolver";
  result.what.routine = "cusolver";
  result.variant = "cusolverDnXgetrf";
  const json row = to_json(result);
  EXPECT_EQ(row["device"], "Testcard");
  EXPECT_EQ(row["variant"], "cusolverDnXgetrf");
  EXPECT_TRUE(row["texel"].is_null());
  EXPECT_TRUE(row["schedule"].is_null());
  EXPECT_TRUE(to_json(example_result())["variant"].is_null());
}

// What a median of 2 s achieves of 10 bytes a second, and of 4 multiply-adds in single and 1 in
// double, which mixed precision does not have.
TEST(Achieved, IsMeasuredAgainstThePeakOfItsPrecision) {
  const Ceilings ceilings = {
      .copy_bytes_per_s = 10,
      .multiply_adds_per_s = {{Precision::single_precision, 4}, {Precision::double_precision, 1}}};
  Result result = example_result();
  result.counters = {{"bytes_model", 10}, {"bytes_counted", 15}, {"elements_updated", 1}};
  json rates = achieved(result, ceilings);
  EXPECT_EQ(rates["bytes_model_per_s"], 5.0);
  EXPECT_EQ(rates["bytes_model_over_copy"], 0.5);
  EXPECT_EQ(rates["bytes_counted_per_s"], 7.5);
  EXPECT_EQ(rates["bytes_counted_over_copy"], 0.75);
  EXPECT_EQ(rates["multiply_adds_per_s"], 0.5);
  EXPECT_EQ(rates["multiply_adds_over_peak"], 0.5);
  EXPECT_FALSE(rates.contains("product_multiply_adds_per_s"));
  result.what.problem.dense.precision = Precision::single_precision;
  for (const Refine refine : {Refine::none, Refine::mixed}) {
    result.what.problem.solve.refine = refine;
    EXPECT_EQ(achieved(result, ceilings)["multiply_adds_over_peak"], 0.125);
  }
  result.product_multiply_adds_per_s = 2;
  rates = achieved(result, ceilings);
  EXPECT_EQ(rates["product_multiply_adds_per_s"], 2.0);
  EXPECT_EQ(rates["multiply_adds_over_product"], 0.25);
}

TEST(Achieved, IsAShareOfLargeProductsAndNotBeyondThem) {
  Ceilings ceilings = {.copy_bytes_per_s = 10,
                       .multiply_adds_per_s = {{Precision::double_precision, 1}}};
  Result result = example_result();  // in double, 2 s
  result.counters = {{"bytes_model", 10}, {"bytes_counted", 15}, {"elements_updated", 4}};
  EXPECT_FALSE(achieved(result, ceilings).contains("share_of_product"));
  EXPECT_NE(disbelief(result, ceilings), "") << "2 a second where there is 1";
  ceilings.products_per_s[Precision::double_precision] = 1.6;
  EXPECT_EQ(achieved(result, ceilings)["share_of_product"], 1.25);
  EXPECT_EQ(disbelief(result, ceilings), "") << "within one and a half times";
}

TEST(SameCase, LooksAtWhatIsRunNotAtHowItWent) {
  const json row = to_json(example_result());
  Result slower = example_result();
  slower.times_s = {30};
  slower.status = RunStatus::failed;
  EXPECT_TRUE(same_case(row, to_json(slower)));
  Result other = example_result();
  other.what.problem.size.n = 31;
  EXPECT_FALSE(same_case(row, to_json(other)));
  other = example_result();
  other.what.problem.dense.pivot = Pivot::none;
  EXPECT_FALSE(same_case(row, to_json(other)));
  other = example_result();
  other.what.seed = 10;
  EXPECT_FALSE(same_case(row, to_json(other)));
  json foreign = row;
  foreign.erase("nb");
  EXPECT_FALSE(same_case(row, foreign));
  json early = row;
  early.erase("devices_used");
  early.erase("device_memory");
  EXPECT_TRUE(same_case(row, early));
  other = example_result();
  other.what.device_memory = 1 << 30;
  EXPECT_FALSE(same_case(row, to_json(other)));
  other = example_result();
  other.what.problem.dense.others = {nullptr};
  EXPECT_FALSE(same_case(row, to_json(other)));
}

}  // namespace
}  // namespace lugpu
