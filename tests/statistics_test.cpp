#include "bench/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "matrix/random.hpp"

namespace lugpu {
namespace {

TEST(Median, IsTheMiddleOfTheSortedSamples) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1}), 5);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({100, 1, 2, 4}), 3);
}

TEST(RelativeDeviation, ByHand) {
  EXPECT_EQ(relative_deviation({}), 0);
  EXPECT_EQ(relative_deviation({3}), 0);
  EXPECT_EQ(relative_deviation({3, 3, 3}), 0);
  // Mean 2, squares 1 + 0 + 1 over n - 1 = 2.
  EXPECT_DOUBLE_EQ(relative_deviation({1, 2, 3}), 0.5);
  EXPECT_DOUBLE_EQ(relative_deviation({1, 3}), std::sqrt(2.0) / 2);
  EXPECT_EQ(relative_deviation({0, 0}), 0);
}

TEST(MedianDeviation, ByHand) {
  EXPECT_EQ(median_deviation({3}), 0);
  // Median 3; deviations 2 1 0 1 97.
  EXPECT_EQ(median_deviation({1, 2, 3, 4, 100}), 1);
  EXPECT_DOUBLE_EQ(relative_median_deviation({1, 2, 3, 4, 100}), 1.0 / 3);
  EXPECT_EQ(relative_median_deviation({0, 0}), 0);
}

TEST(Outliers, AreBeyondFiveStandardDeviations) {
  EXPECT_EQ(outliers({3}), 0u);
  // Median 3, MAD 1: the limit is 3 + 7.413.
  EXPECT_EQ(outliers({1, 2, 3, 4, 10.4}), 0u);
  EXPECT_EQ(outliers({1, 2, 3, 4, 10.5}), 1u);
  EXPECT_EQ(outliers({1, 1, 1, 1, 2}), 1u) << "of equal samples, any other";
}

/// 1 with a uniform noise of this much to both sides.
std::vector<double> noisy(std::size_t count, double noise, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> samples(count);
  for (double& sample : samples) sample = 1 + 2 * noise * random.uniform();
  return samples;
}

TEST(MedianInterval, OfFewSamples) {
  EXPECT_FALSE(median_interval({1}));
  const auto equal = median_interval({2, 2, 2});
  EXPECT_EQ(equal->low, 2);
  EXPECT_EQ(equal->high, 2);
  // Of five, each end has 5.8 % of the resampled medians.
  const auto five = median_interval({5, 1, 3, 2, 4});
  EXPECT_EQ(five->low, 1);
  EXPECT_EQ(five->high, 5);
}

TEST(MedianInterval, IsTheSameForTheSameSamples) {
  const std::vector<double> samples = noisy(200, 0.1, 1);
  EXPECT_EQ(median_interval(samples)->low, median_interval(samples)->low);
  EXPECT_EQ(median_interval(samples)->high, median_interval(samples)->high);
}

// Of independent samples. Ten blocks estimate the width roughly, so it covers somewhat less.
TEST(MedianInterval, HoldsTheTrueMedianNineTimesInTen) {
  for (const std::size_t count : {11, 100, 400}) {
    int held = 0;
    constexpr int kTrials = 200;
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto interval = median_interval(noisy(count, 0.1, 1000 + trial));
      held += interval->low <= 1 && interval->high >= 1;
    }
    EXPECT_GE(held, kTrials * 85 / 100) << count;
  }
}

TEST(MedianInterval, NarrowsWithTheSamples) {
  EXPECT_GT(uncertainty(noisy(10, 0.1, 1)), 0.02);
  EXPECT_LT(uncertainty(noisy(1000, 0.1, 1)), 0.01);
  EXPECT_TRUE(std::isinf(uncertainty({1})));
}

// Half of the run at one speed of the clock, half at another: single draws would not see that.
TEST(MedianInterval, IsWideWhereSamplesDrift) {
  std::vector<double> drifting = noisy(1000, 0.01, 1);
  for (std::size_t i = 500; i < 1000; ++i) drifting[i] *= 1.2;
  EXPECT_GT(uncertainty(drifting), 0.08);
  EXPECT_LT(uncertainty(noisy(1000, 0.01, 1)), 0.002);
}

TEST(RatioInterval, IsAroundTheRatioOfTheMedians) {
  EXPECT_FALSE(ratio_interval({1}, {1, 2}));
  EXPECT_FALSE(ratio_interval({1, 2}, {1}));
  std::vector<double> twice = noisy(300, 0.1, 2);
  for (double& sample : twice) sample *= 2;
  const auto interval = ratio_interval(noisy(300, 0.1, 1), twice);
  EXPECT_LT(interval->low, 0.5);
  EXPECT_GT(interval->high, 0.5);
  EXPECT_LT(interval->high - interval->low, 0.05);
}

// Both are resampled, also where they are the same.
TEST(RatioInterval, OfEqualSamplesIsNoPoint) {
  const std::vector<double> samples = noisy(100, 0.1, 1);
  const auto interval = ratio_interval(samples, samples);
  EXPECT_LT(interval->low, 0.995);
  EXPECT_GT(interval->high, 1.005);
}

}  // namespace
}  // namespace lugpu
