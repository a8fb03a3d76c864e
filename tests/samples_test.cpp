// When the samples of a case are enough.
#include "bench/samples.hpp"

#include <gtest/gtest.h>

#include "bench/measure.hpp"

namespace lugpu {
namespace {

/// How many samples are taken, one after another of `seconds`, every second one longer by `noise`.
std::size_t taken(const Effort& effort, double seconds, double noise = 0) {
  Samples samples(effort);
  constexpr std::size_t kEnd = 5000;
  while (!samples.enough() && samples.count() < kEnd) {
    samples.add(samples.count() % 2 == 0 ? seconds : seconds * (1 + noise));
  }
  return samples.count();
}

TEST(Samples, AreAsManyAndTakeAsLongAsAskedFor) {
  EXPECT_EQ(taken({.runs = 3, .min_time_s = 0}, 1), 3u);
  EXPECT_EQ(taken({.runs = 3, .min_time_s = 8}, 1), 8u);
  EXPECT_EQ(taken({.runs = 0, .min_time_s = 0}, 1), 0u);
}

TEST(Samples, GoOnFromThoseOfAnEarlierRun) {
  const Effort effort{.runs = 5, .min_time_s = 8};
  Samples samples(effort);
  samples.resume(std::vector{1.0, 2.0}, 4);  // 6 s in all
  EXPECT_EQ(samples.count(), 4u);
  samples.add(1.5);
  EXPECT_FALSE(samples.enough()) << "7.5 s";
  samples.add(1.5);
  EXPECT_TRUE(samples.enough());
  EXPECT_EQ(samples.count(), 6u);
  Samples many(effort);
  many.resume(std::vector(kMostSamples + 1, 1.0), 2 * kMostSamples + 2);
  EXPECT_LE(many.kept().size(), kMostSamples);
  EXPECT_TRUE(many.enough());
}

TEST(Samples, TakeNoLongerThanAllowed) {
  EXPECT_EQ(taken({.runs = 10, .min_time_s = 8, .max_time_s = 4}, 1), 4u);
  EXPECT_EQ(taken({.runs = 10, .max_time_s = 0}, 1), 1u) << "one at least";
  EXPECT_EQ(taken({.runs = 2, .min_time_s = 0, .max_time_s = 9, .noise = 1e-3}, 1, 0.5), 8u);
}

TEST(Samples, GoOnUntilTheMedianIsKnown) {
  EXPECT_EQ(taken({.runs = 5, .min_time_s = 0, .noise = 0.01}, 1), 5u) << "no noise";
  const std::size_t rough = taken({.runs = 5, .min_time_s = 0, .noise = 0.2}, 1, 0.5);
  const std::size_t fine = taken({.runs = 5, .min_time_s = 0, .noise = 0.02}, 1, 0.5);
  EXPECT_LT(rough, fine);
  EXPECT_EQ(taken({.runs = 5, .min_time_s = 50, .noise = 0.2}, 1), 50u);
  const Effort brief = {.runs = 2, .min_time_s = 0, .noise = 1e-3, .noise_time_s = 9};
  EXPECT_EQ(taken(brief, 1, 0.5), 8u) << "no longer than is allowed for that";
}

TEST(Samples, AreThinnedOut) {
  Samples samples(Effort{});
  for (int i = 0; i < 4500; ++i) samples.add(i);
  EXPECT_EQ(samples.count(), 4500u);
  ASSERT_EQ(samples.kept().size(), 563u);
  for (std::size_t i = 0; i < 563; ++i) EXPECT_EQ(samples.kept()[i], 8.0 * static_cast<double>(i));
}

TEST(Samples, OfBatchesCountTheTimeOfAll) {
  Samples samples({.runs = 1, .min_time_s = 1});
  samples.add(0.1, 0.6);
  EXPECT_FALSE(samples.enough());
  samples.add(0.1, 0.6);
  EXPECT_TRUE(samples.enough());
  EXPECT_EQ(samples.kept(), std::vector<double>({0.1, 0.1}));
}

}  // namespace
}  // namespace lugpu
