// What two files of a benchmark say of each other.
#include "bench/comparison.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "matrix/random.hpp"

namespace lugpu {
namespace {

using nlohmann::json;

constexpr double kThreshold = 0.05;

/// `count` samples of about so many seconds, with uniform noise of this fraction to both sides.
std::vector<double> samples(double seconds, double noise, std::uint64_t seed,
                            std::size_t count = 100) {
  Random random(seed);
  std::vector<double> times(count);
  for (double& time : times) time = seconds * (1 + 2 * noise * random.uniform());
  return times;
}

Change change(const std::vector<double>& a, const std::vector<double>& b,
              double threshold = kThreshold) {
  return compare_times(a, b, threshold).change;
}

TEST(CompareTimes, EqualSamplesAreTheSame) {
  const std::vector<double> times = samples(1, 0.03, 1);
  const SpeedRatio ratio = compare_times(times, times, kThreshold);
  EXPECT_EQ(ratio.change, Change::same);
  EXPECT_EQ(ratio.value, 1);
}

TEST(CompareTimes, NoiseOfThreePerCentIsNoChange) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    EXPECT_EQ(change(samples(1, 0.03, seed), samples(1, 0.03, 100 + seed)), Change::same) << seed;
  }
}

TEST(CompareTimes, TwentyPerCentAreAChange) {
  const std::vector<double> fast = samples(1, 0.03, 1), slow = samples(1.2, 0.03, 2);
  const SpeedRatio ratio = compare_times(fast, slow, kThreshold);
  EXPECT_EQ(ratio.change, Change::slower);
  EXPECT_NEAR(ratio.value, 1 / 1.2, 0.02);
  EXPECT_LT(ratio.interval->high, 0.9);
  EXPECT_EQ(change(slow, fast), Change::faster);
  EXPECT_EQ(change(fast, slow, 0.3), Change::same) << "within another threshold";
}

TEST(CompareTimes, AnOutlierChangesNothing) {
  std::vector<double> times = samples(1, 0.03, 1);
  times[50] = 100;
  EXPECT_EQ(change(samples(1, 0.03, 2), times), Change::same);
  EXPECT_EQ(change(samples(1.2, 0.03, 2), times), Change::faster);
}

TEST(CompareTimes, OneSampleSaysNothing) {
  const SpeedRatio ratio = compare_times({1}, samples(2, 0.03, 1), kThreshold);
  EXPECT_EQ(ratio.change, Change::unclear);
  EXPECT_FALSE(ratio.interval);
  EXPECT_NEAR(ratio.value, 0.5, 0.02);
  EXPECT_EQ(change(samples(2, 0.03, 1), {1}), Change::unclear);
}

TEST(CompareTimes, ADifferenceAtTheThresholdIsUnclear) {
  EXPECT_EQ(change(samples(1, 0.1, 1), samples(1.05, 0.1, 2)), Change::unclear);
}

// Other load in three quarters of a run: most of its samples are longer, its shortest are not.
TEST(CompareTimes, OtherLoadIsUnclear) {
  std::vector<double> disturbed = samples(1, 0.01, 1, 400);
  for (std::size_t i = 100; i < 400; ++i) disturbed[i] *= 1.5;
  EXPECT_EQ(change(samples(1, 0.01, 2, 400), disturbed), Change::unclear);
  EXPECT_EQ(change(disturbed, samples(1, 0.01, 2, 400)), Change::unclear);
}

json row(std::size_t n, const std::vector<double>& times, const char* device = "Ada") {
  return {{"implementation", "lugpu"},
          {"routine", "lu"},
          {"pivot", "full"},
          {"precision", "single"},
          {"storage", "buffer"},
          {"texel", "r"},
          {"schedule", "fused"},
          {"device", device},
          {"compute_units", 4},
          {"n", n},
          {"nrhs", 1},
          {"nb", nullptr},
          {"threads", nullptr},
          {"seed", 1},
          {"matrix", "random"},
          {"times_s", times},
          {"status", "ok"},
          {"reason", ""}};
}

json report(const std::vector<json>& rows) {
  return {{"results", rows}};
}

std::vector<std::string> changes(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const ComparedCase& one : comparison.cases) names.emplace_back(name(one.change));
  return names;
}

const std::vector<double> kSecond = samples(1, 0.01, 1), kTwoSeconds = samples(2, 0.01, 2);

TEST(Compare, MatchesCasesInAnyOrder) {
  const Comparison comparison =
      compare(report({row(8, kSecond), row(16, kSecond), row(32, kSecond)}),
              report({row(64, kSecond), row(16, kTwoSeconds), row(8, kSecond)}), kThreshold);
  EXPECT_EQ(changes(comparison),
            std::vector<std::string>({"same", "slower", "only in A", "only in B"}));
  EXPECT_EQ(comparison.cases[1].what["n"], 16);
  EXPECT_NEAR(*comparison.cases[1].b_s, 2, 0.01);
  EXPECT_FALSE(comparison.cases[2].b_s);
  EXPECT_FALSE(comparison.cases[3].a_s);
  EXPECT_FALSE(comparison.cases[3].ratio);
}

TEST(Compare, EveryFieldTellsCasesApart) {
  for (const char* field : {"implementation", "routine", "pivot", "precision", "storage",
                            "schedule", "nrhs", "threads", "seed", "matrix"}) {
    json other = row(8, kSecond);
    other[field] = "other";
    EXPECT_EQ(changes(compare(report({row(8, kSecond), row(16, kSecond)}),
                              report({other, row(16, kSecond)}), kThreshold)),
              std::vector<std::string>({"only in A", "same", "only in B"}))
        << field;
  }
}

TEST(Compare, OneDeviceMayStandForAnother) {
  json other = row(8, kTwoSeconds, "Bob");
  other["compute_units"] = 16;
  const Comparison comparison = compare(report({row(8, kSecond)}), report({other}), kThreshold);
  EXPECT_EQ(changes(comparison), std::vector<std::string>({"slower"}));
  EXPECT_FALSE(comparison.cases[0].what.contains("device"));
  EXPECT_FALSE(comparison.cases[0].what.contains("compute_units"));
}

// As after `lugpu tune`.
TEST(Compare, WhatLugpuChoosesMayBeAnother) {
  json before = row(8, kSecond), after = before;
  before["nb"] = 64;
  after["nb"] = 96;
  after["texel"] = "rgba";
  const Comparison comparison =
      compare(report({before, row(16, kSecond)}), report({after, row(16, kSecond)}), kThreshold);
  EXPECT_EQ(changes(comparison), std::vector<std::string>({"same", "same"}));
  EXPECT_EQ(comparison.cases[0].what["nb"], "64/96");
  EXPECT_EQ(comparison.cases[0].what["texel"], "r/rgba");
  EXPECT_EQ(comparison.cases[1].what["texel"], "r");
}

TEST(Compare, AChoiceIsThatOfTheOtherReportWhereOneHasNone) {
  json before = row(8, kSecond), skipped = before;
  before["nb"] = 64;
  skipped["texel"] = nullptr;
  skipped["status"] = "skipped";
  const json what = compare(report({before}), report({skipped}), kThreshold).cases[0].what;
  EXPECT_EQ(what["nb"], 64);
  EXPECT_EQ(what["texel"], "r");
}

TEST(Compare, ASweepOfBlocksHasACaseForEach) {
  std::vector<json> rows;
  for (const int nb : {64, 96}) {
    rows.push_back(row(8, kSecond));
    rows.back()["nb"] = nb;
  }
  const Comparison comparison = compare(report(rows), report({rows[1]}), kThreshold);
  EXPECT_EQ(changes(comparison), std::vector<std::string>({"only in A", "same"}));
  EXPECT_EQ(comparison.cases[1].what["nb"], 96);
}

TEST(Compare, SeveralDevicesAreKnownByTheirNames) {
  const json both = report({row(8, kSecond, "Ada"), row(8, kTwoSeconds, "Bob")});
  EXPECT_EQ(changes(compare(both, report({row(8, kTwoSeconds, "Bob")}), kThreshold)),
            std::vector<std::string>({"only in A", "same"}));
}

TEST(Compare, TheBestNumberOfThreadsMayBeAnother) {
  json one = row(8, kSecond), two = row(8, kSecond);
  one["threads"] = 1;
  two["threads"] = 2;
  EXPECT_EQ(changes(compare(report({one, row(16, kSecond)}), report({two, row(16, kSecond)}),
                            kThreshold)),
            std::vector<std::string>({"only in A", "same", "only in B"}));
  two["threads_tried"] = {1, 2};
  EXPECT_EQ(changes(compare(report({one}), report({two}), kThreshold)),
            std::vector<std::string>({"same"}));
}

TEST(Compare, TakesEarlyFiles) {
  json early = row(8, kSecond);
  early.erase("compute_units");
  EXPECT_EQ(changes(compare(report({early}), report({row(8, kSecond)}), kThreshold)),
            std::vector<std::string>({"same"}));
}

TEST(Compare, WhatIsNotOkSaysWhy) {
  json skipped = row(8, {}), failed = row(16, kSecond);
  skipped["status"] = "skipped";
  skipped["reason"] = "It takes too long.";
  failed["status"] = "failed";
  const Comparison comparison = compare(report({row(8, kSecond), failed, row(32, {0, 0})}),
                                        report({skipped, failed, row(32, kSecond)}), kThreshold);
  EXPECT_EQ(changes(comparison),
            std::vector<std::string>({"no longer ok", "not comparable", "not comparable"}));
  EXPECT_TRUE(is_worse(comparison.cases[0], 0.99));
  EXPECT_FALSE(is_worse(comparison.cases[1], 0));
  EXPECT_EQ(comparison.cases[0].reason, "skipped in B: It takes too long");
  EXPECT_EQ(comparison.cases[1].reason, "failed in A; failed in B");
  EXPECT_EQ(comparison.cases[2].reason, "takes no time in A");
}

TEST(Compare, OtherProgramsMayBeWhyARunIsSlower) {
  json loaded = row(8, kTwoSeconds);
  loaded["other_load"] = 0.4;
  const Comparison comparison = compare(report({row(8, kSecond)}), report({loaded}), kThreshold);
  EXPECT_EQ(changes(comparison), std::vector<std::string>({"unclear"}));
  EXPECT_EQ(comparison.cases[0].reason, "other programs had 40 % of the processors in B");
  EXPECT_EQ(changes(compare(report({loaded}), report({row(8, kSecond)}), kThreshold)),
            std::vector<std::string>({"unclear"}));
  json longest = row(8, samples(4, 0.01, 3));
  longest["other_load"] = 0.01;
  EXPECT_EQ(changes(compare(report({loaded}), report({longest}), kThreshold)),
            std::vector<std::string>({"slower"}))
      << "slower though the other one was disturbed";
}

TEST(Compare, TakesProblemsAndSimulations) {
  const json problem = {{"problem", "poisson2d"},
                        {"grid", 32},
                        {"routine", "cg"},
                        {"times_s", kSecond},
                        {"status", "ok"}};
  const json simulation = {{"problem", "fluid2d"}, {"scene", "smoke"},   {"grid", {32, 32, 1}},
                           {"routine", "cg"},      {"times_s", kSecond}, {"status", "ok"}};
  json longer = simulation;
  longer["grid"] = {64, 64, 1};
  EXPECT_EQ(changes(compare(report({problem, simulation}), report({longer, problem}), kThreshold)),
            std::vector<std::string>({"same", "only in A", "only in B"}));
}

TEST(Compare, NeedsACaseInCommon) {
  EXPECT_THROW(compare(report({row(8, kSecond)}), report({row(16, kSecond)}), kThreshold),
               InputError);
  EXPECT_THROW(compare(report({}), report({}), kThreshold), InputError);
}

TEST(Summary, CountsAndAveragesTheRatios) {
  const Comparison comparison = compare(
      report({row(8, {1, 1}), row(16, {1, 1}), row(32, {2, 2}), row(64, {1, 1})}),
      report({row(8, {1, 1}), row(16, {2, 2}), row(32, {0.5, 0.5}), row(128, {1, 1})}), kThreshold);
  const ComparisonSummary summary = summary_of(comparison);
  EXPECT_EQ(summary.counts, (std::array<std::size_t, kChanges>{1, 1, 1, 0, 0, 1, 1, 0}));
  EXPECT_NEAR(*summary.geometric_mean, std::cbrt(1 * 0.5 * 4), 1e-15);
  EXPECT_EQ(summary.slowest->what["n"], 16);
  EXPECT_EQ(summary.fastest->what["n"], 32);
  const json record = to_json(comparison);
  EXPECT_EQ(record["counts"]["only in B"], 1);
  EXPECT_EQ(record["lowest_ratio"], 0.5);
  EXPECT_EQ(record["highest_ratio"], 4);
  EXPECT_EQ(record["cases"][0]["ratio_interval"], json({1.0, 1.0}));
  EXPECT_TRUE(record["cases"][3]["ratio"].is_null());
}

}  // namespace
}  // namespace lugpu
