#include "bench/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace lugpu
