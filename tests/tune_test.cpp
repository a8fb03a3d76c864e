// What `lugpu tune` finds fastest, and what the automatic choice makes of it.
#include "bench/tune.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "kernel_files.hpp"
#include "solve/methods.hpp"

namespace lugpu {
namespace {

constexpr Precision kSingle = Precision::single_precision, kDouble = Precision::double_precision;

Result result(const char* method, std::size_t nb, std::vector<double> times_s,
              RunStatus status = RunStatus::ok) {
  Result one;
  one.what.units = 2;
  one.what.routine = method;
  one.what.problem.size = Size::square(1024, 1);
  one.what.problem.dense.pivot = Pivot::partial;
  one.what.problem.dense.precision = kSingle;
  one.what.problem.dense.nb = nb;
  one.times_s = std::move(times_s);
  one.status = status;
  return one;
}

TEST(FastestVariants, TheDefaultStandsUnlessAnotherIsClearlyFaster) {
  const Result usual = result("lu-blocked", 64, {1.00, 1.02, 1.04});
  const auto nb = [&](const Result& other) { return fastest_variants({usual, other})[0].nb; };
  EXPECT_EQ(nb(result("lu-blocked", 96, {0.90, 0.92, 0.94})), 96u);
  EXPECT_EQ(nb(result("lu-blocked", 96, {0.98, 1.00, 1.02})), 64u);  // by 2 %
  EXPECT_EQ(nb(result("lu-blocked", 96, {0.99, 0.99, 0.99})), 64u);  // not by the shortest
  EXPECT_EQ(nb(result("lu-blocked", 96, {0.90, 1.02, 1.04})), 64u);  // nor by the median
  EXPECT_EQ(nb(result("lu-blocked", 96, {0.5, 0.5, 0.5}, RunStatus::failed)), 64u);
  const Tuning tuning = fastest_variants({result("lu-blocked", 64, {}, RunStatus::unsupported),
                                          result("lu-blocked", 96, {2, 3}), result("lu", 0, {9})});
  ASSERT_EQ(tuning.size(), 2u);
  EXPECT_EQ(tuning[0],
            (TunedVariant{2, "lu-blocked", Pivot::partial, kSingle, 1024, Texel::r, 96, 2.5}));
  EXPECT_EQ(tuning[1].method, "lu");
  EXPECT_TRUE(fastest_variants({}).empty());
}

Device cpu() {
  Device device;
  device.platform = "P";
  device.name = "Ada";
  device.driver_version = "1.0";
  device.type = "cpu";
  device.compute_units = 2;
  device.double_precision = true;
  device.max_work_group = 4096;
  device.global_memory = device.max_allocation = std::uint64_t{1} << 34;
  return device;
}

TEST(TuningCases, TheDefaultOfEachMethodComesFirstAndNoneTwice) {
  const SweepPlan plan = tuning_plan(cpu(), 512);
  const std::vector<Case> cases = tuning_cases(plan, cpu());
  std::vector<std::string> names;
  for (const Case& what : cases) {
    const DenseOptions& dense = what.problem.dense;
    names.push_back(path_name(find_method(what.routine), what.problem) + ' ' +
                    std::to_string(dense.nb));
    EXPECT_EQ(what.problem.size.n, 512u);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(std::count(names.begin(), names.end(), names[i]), 1) << names[i];
  }
  const Method& method = find_method("lu-blocked");
  const auto first = std::ranges::find_if(cases, [](const Case& what) {
    return what.routine == "lu-blocked" && what.problem.dense.pivot == Pivot::partial &&
           what.problem.dense.precision == kDouble;
  });
  ASSERT_NE(first, cases.end());
  EXPECT_EQ(first->problem.dense.nb,
            method.block_size(cpu(), Size::square(512, 1), first->problem.dense));
}

/// A cache folder for the records.
class TuningFile : public testing::Test {
 protected:
  TuningFile() { setenv("XDG_CACHE_HOME", cache_.path().c_str(), 1); }
  ~TuningFile() override { unsetenv("XDG_CACHE_HOME"); }

  Folder cache_;
  const Tuning two_ = {{2, "lu-blocked", Pivot::partial, kSingle, 1024, Texel::r, 96, 0.00193},
                       {2, "lu", Pivot::full, kDouble, 512, Texel::rgba, 0, 1.5}};
};

TEST_F(TuningFile, IsReadAsWritten) {
  EXPECT_TRUE(read_tuning(cpu(), {}).empty());
  write_tuning(cpu(), {}, two_);
  EXPECT_EQ(read_tuning(cpu(), {}), two_);
  Device other = cpu();
  other.compute_units = 1;
  EXPECT_TRUE(read_tuning(other, {}).empty());
  Tuning one = {two_[0]};
  one[0].units = 1;
  write_tuning(other, {}, one);
  EXPECT_EQ(read_tuning(other, {}), one);
  EXPECT_EQ(read_tuning(cpu(), {}), two_);
  write_tuning(cpu(), {}, {two_[1]});
  EXPECT_EQ(read_tuning(cpu(), {}), Tuning{two_[1]});
  EXPECT_EQ(read_tuning(other, {}), one);
  EXPECT_TRUE(read_tuning(cpu(), {"", false}).empty());
}

TEST_F(TuningFile, ALineThatIsNoneMakesItNothing) {
  const std::string good = describe(two_[0]);
  const auto read = [&](const std::string& line) {
    write_record(kTuningRecord, cpu(), {}, {good, line});
    return read_tuning(cpu(), {}).size();
  };
  EXPECT_EQ(read(describe(two_[1])), 2u);
  for (const std::string& line :
       {std::string(), std::string("units 2 lu"), good + " ", good.substr(0, good.size() - 1),
        std::string("units 2 lu partial single n 0 r nb 0 1 s"),
        std::string("units 2 lu partial single n 4 r nb 0 0 s"),
        std::string("units 2 lu partial single n -4 r nb 0 1 s"),
        std::string("units 2 lu partial single n 99999999999999999999 r nb 0 1 s"),
        std::string("units 2 lu best single n 4 r nb 0 1 s"),
        std::string("units 2 lu none half n 4 r nb 0 1 s"),
        std::string("units 2 lu none single n 4 rg nb 0 1 s"),
        std::string("units 2 lu none single n 4 r nb 0 nan s")}) {
    if (line.empty()) continue;
    EXPECT_EQ(read(line), 0u) << line;
  }
}

TEST(Tuning, IsOfTheNearestOrderWithinAFactorOfTwo) {
  Tuning tuning;
  for (const std::size_t n : {256, 512, 1024}) {
    tuning.push_back({2, "lu-blocked", Pivot::none, kSingle, n, Texel::r, n / 8, 1});
  }
  const auto nb = [&](std::size_t n) {
    const TunedVariant* variant = find_variant(tuning, "lu-blocked", Pivot::none, kSingle, n);
    return variant ? variant->nb : 0;
  };
  EXPECT_EQ(nb(0), 0u);
  EXPECT_EQ(nb(127), 0u);
  EXPECT_EQ(nb(128), 32u);
  EXPECT_EQ(nb(362), 32u);
  EXPECT_EQ(nb(363), 64u);
  EXPECT_EQ(nb(2048), 128u);
  EXPECT_EQ(nb(2049), 0u);
  EXPECT_FALSE(find_variant(tuning, "lu-blocked", Pivot::none, kDouble, 512));
  EXPECT_FALSE(find_variant(tuning, "lu-blocked", Pivot::partial, kSingle, 512));
  EXPECT_FALSE(find_variant(tuning, "lu", Pivot::none, kSingle, 512));
}

// The method, the block size and the texel where the options leave them open.
TEST(Tuning, DecidesWhatTheOptionsLeaveOpen) {
  Problem problem;
  problem.size = Size::square(512, 1);
  problem.dense = {Pivot::partial, kSingle};
  PathRecords records;
  const auto choice = [&] {
    const Method& method = automatic_method(cpu(), problem, std::nullopt, records);
    const Problem complete = completed(problem, method, cpu(), std::nullopt, 0, records);
    return std::string(method.name) + ' ' + std::to_string(complete.dense.nb) + ' ' +
           name(complete.dense.texel);
  };
  const std::string usual = choice();
  EXPECT_TRUE(usual.starts_with("lu-blocked ")) << usual;
  records.tuning = {{2, "lu-blocked", Pivot::partial, kSingle, 512, Texel::r, 32, 2}};
  EXPECT_EQ(choice(), "lu-blocked 32 r");
  records.tuning.push_back({2, "lu", Pivot::partial, kSingle, 512, Texel::rgba, 0, 3});
  EXPECT_EQ(choice(), "lu-blocked 32 r");
  records.tuning[1].seconds = 1;
  EXPECT_EQ(choice(), "lu 0 rgba");
  records.tuning[1].n = 256;  // measured at another order
  EXPECT_EQ(choice(), "lu-blocked 32 r");
  records.tuning[1].n = 512;
  records.failed = {"lu partial single buffer rgba fused"};
  EXPECT_EQ(choice(), "lu 0 r");

  const Method& blocked = find_method("lu-blocked");
  EXPECT_EQ(completed(problem, blocked, cpu(), std::nullopt, 48, records).dense.nb, 48u);
  problem.size.n = 4096;
  EXPECT_EQ(completed(problem, blocked, cpu(), std::nullopt, 0, records).dense.nb,
            blocked.block_size(cpu(), problem.size, problem.dense));
}

}  // namespace
}  // namespace lugpu
