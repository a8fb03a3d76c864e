#include "bench/crossover.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace lugpu {
namespace {

using nlohmann::json;

// Samples around so many seconds, within a fraction of them.
std::vector<double> samples(double seconds, double noise = 0.01) {
  std::vector<double> times;
  for (int i = 0; i < 40; ++i) times.push_back(seconds * (1 + noise * std::sin(7.0 * i)));
  return times;
}

// By powers: a n^p seconds at each order.
TimesByOrder times(double a, double p, double noise = 0.01) {
  TimesByOrder all;
  for (const std::size_t n : {128U, 256U, 512U, 1024U}) {
    all[n] = samples(a * std::pow(static_cast<double>(n), p), noise);
  }
  return all;
}

TEST(Crossover, IsWhereTwoPowersOfNMeet) {
  // 490000 n and n^3 meet at n = 700.
  const auto found = crossover(times(490000, 1), times(1, 3));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->last, Standing::ahead);
  EXPECT_EQ(found->behind_at, 512U);
  EXPECT_EQ(found->from, 1024U);
  EXPECT_NEAR(found->at.value(), 700, 1);
  EXPECT_EQ(words(*found, "getrf"), "passes getrf at n = 700 (between 512 and 1024)");
}

TEST(Crossover, OneIsAheadOrBehindAllAlong) {
  EXPECT_EQ(words(crossover(times(1, 2), times(2, 2)).value(), "getrf"),
            "beats getrf from n = 128 on, the smallest");
  EXPECT_EQ(words(crossover(times(2, 2), times(1, 2)).value(), "getrf"),
            "is behind getrf up to n = 1024");
}

TEST(Crossover, NoiseIsUnclear) {
  const TimesByOrder rival = times(1, 2);
  EXPECT_EQ(words(crossover(times(1.001, 2, 0.3), rival).value(), "getrf"),
            "against getrf: unclear at n = 1024, the largest");
  // Single samples have no interval.
  EXPECT_EQ(crossover({{8, {1.0}}}, {{8, {2.0}}})->last, Standing::unclear);
  TimesByOrder method = times(0.5, 2);
  method[256] = rival.at(256);
  method[128] = samples(2 * 128.0 * 128);
  const auto found = crossover(method, rival);
  EXPECT_EQ(found->unclear_between, std::vector<std::size_t>{256});
  EXPECT_NEAR(found->at.value(), 256, 1);  // twice as slow at 128, twice as fast at 512
  EXPECT_EQ(words(*found, "getrf"),
            "passes getrf at n = 256 (between 128 and 512; unclear at 256)");
  method[128] = rival.at(128);
  EXPECT_EQ(words(crossover(method, rival).value(), "getrf"),
            "beats getrf from n = 512 on (unclear at 128, 256)");
}

TEST(Crossover, OnlyOrdersOfBothCount) {
  TimesByOrder method = times(1, 2);
  method[2048] = samples(1e12);
  EXPECT_EQ(crossover(method, times(2, 2))->largest, 1024U);
  EXPECT_FALSE(crossover({{8, {1.0}}}, {{16, {1.0}}}));
}

json row(const char* implementation, const char* routine, const char* pivot, const char* precision,
         std::size_t n, double seconds) {
  return {{"implementation", implementation},
          {"routine", routine},
          {"pivot", pivot},
          {"precision", precision},
          {"n", n},
          {"times_s", samples(seconds)},
          {"flop_formula", "2/3 n^3"},
          {"status", "ok"}};
}

TEST(Crossovers, AreWithRivalsOfTheSamePrecisionAndPivoting) {
  json results = json::array();
  for (const std::size_t n : {256U, 1024U}) {
    results.push_back(row("openblas", "getrf", "partial", "double", n, 1));
    results.push_back(row("openblas", "getrf", "partial", "single", n, 1));
    results.push_back(row("lapack", "getc2", "full", "double", n, 1));
    results.push_back(row("lugpu", "lu", "partial", "double", n, n == 256U ? 2 : 0.5));
    results.push_back(row("lugpu", "lu", "full", "double", n, 2));
    results.push_back(row("lugpu", "lu", "partial", "mixed", n, 0.1));
  }
  EXPECT_EQ(
      crossovers(results),
      (std::vector<std::string>{"lu partial double passes getrf at n = 512 (between 256 and 1024).",
                                "lu full double is behind getc2 up to n = 1024.",
                                "lu partial mixed beats getrf from n = 256 on, the smallest."}));
}

TEST(Crossovers, AreWithRivalsOnAsManyDevices) {
  json results = json::array();
  for (const std::size_t n : {256U, 1024U}) {
    results.push_back(row("openblas", "getrf", "partial", "single", n, 8));
    for (const int devices : {1, 2}) {
      results.push_back(row("cusolver", "cusolver-mg", "partial", "single", n, 4.0 / devices));
      results.push_back(row("lugpu", "lu-blocked", "partial", "single", n, 3.0));
      if (devices == 1) continue;  // which is not told
      for (std::size_t last = results.size() - 2; last < results.size(); ++last) {
        results[last]["devices_used"] = devices;
      }
    }
  }
  const std::string method = "lu-blocked partial single ",
                    smallest = " from n = 256 on, the smallest.";
  EXPECT_EQ(crossovers(results),
            (std::vector<std::string>{
                method + "beats getrf" + smallest, method + "beats cusolver-mg" + smallest,
                method + "on 2 devices beats getrf" + smallest,
                method + "on 2 devices is behind cusolver-mg up to n = 1024."}));
}

TEST(Crossovers, OfARivalOnFourDevicesAreWithMethodsOnFour) {
  json results = json::array();
  for (const std::size_t n : {256U, 1024U}) {
    results.push_back(row("cusolver", "cusolver-mg", "partial", "single", n, 2));
    results.back()["devices_used"] = 4;
    results.push_back(row("lugpu", "lu-blocked", "partial", "single", n, 3));
    results.push_back(row("lugpu", "lu-blocked", "partial", "single", n, 1));
    results.back()["devices_used"] = 4;
  }
  EXPECT_EQ(crossovers(results),
            (std::vector<std::string>{
                "lu-blocked partial single on 4 devices beats cusolver-mg from n = 256 on, the "
                "smallest."}));
}

TEST(Crossovers, NeedTwoOrdersAndTimes) {
  json results = {row("openblas", "getrf", "partial", "double", 8, 1),
                  row("lugpu", "lu", "partial", "double", 8, 2),
                  row("openblas", "getrf", "partial", "double", 16, 1),
                  row("lugpu", "lu", "partial", "double", 16, 2)};
  results[3]["status"] = "failed";
  EXPECT_TRUE(crossovers(results).empty());
}

}  // namespace
}  // namespace lugpu
