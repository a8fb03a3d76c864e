// The times of parts of launches, by the clock that kernels read, on one compute unit, where no
// work-group waits.
#include "opencl/part_times.hpp"

#include "dense/blocked_gpu.hpp"
#include "factors.hpp"

namespace lugpu {
namespace {

class PartTimesTest : public OneLaunchTest {
 protected:
  void SetUp() override {
    OneLaunchTest::SetUp();
    if (IsSkipped()) return;
    if (!PartTimes::has_clock(context)) GTEST_SKIP() << "Kernels cannot read a clock here";
  }

  /// What ran in the only launch of this kernel during the second of two calls of `work`.
  template <typename Work>
  std::vector<PartTimes::Ran> parts_in(const std::string& kernel, const Work& work) {
    PartTimes times(context);
    work();
    context.set_profiling(true);
    context.timeline().clear();
    work();
    context.set_profiling(false);
    std::vector<Timeline::Command> launches = context.timeline().commands();
    std::erase_if(launches, [&](const auto& launch) { return launch.kernel != kernel; });
    EXPECT_EQ(launches.size(), 1u);
    const std::vector<PartTimes::Ran> ran = times.ran();
    if (launches.size() == 1) expect_inside(launches.front(), ran);
    return ran;
  }

  static void expect_inside(const Timeline::Command& launch,
                            const std::vector<PartTimes::Ran>& ran) {
    double first = launch.end_s, last = launch.start_s;
    for (const PartTimes::Ran& part : ran) {
      EXPECT_GE(part.start_s, launch.start_s) << part.part.name;
      EXPECT_LE(part.start_s, part.end_s) << part.part.name;
      EXPECT_LE(part.end_s, launch.end_s) << part.part.name;
      first = std::min(first, part.start_s), last = std::max(last, part.end_s);
    }
    EXPECT_GE(last - first, 0.1 * (launch.end_s - launch.start_s));
  }

  /// These names in this order, one after the other.
  static void expect_order(const std::vector<PartTimes::Ran>& ran, const std::string& kind,
                           const std::vector<std::string>& names) {
    ASSERT_EQ(ran.size(), names.size());
    for (std::size_t i = 0; i < ran.size(); ++i) {
      EXPECT_EQ(ran[i].part.kind, kind);
      EXPECT_EQ(ran[i].part.name, names[i]);
      EXPECT_GE(ran[i].start_s, i > 0 ? ran[i - 1].end_s : 0) << names[i];
    }
  }

  Surface surface_for(Pivot pivot, std::size_t m, std::size_t n) {
    return surface_of(context, {precision, Storage::buffer},
                      harmless_for(pivot, precision, m, n, 1));
  }
};

TEST_P(PartTimesTest, BlocksInRegisters) {
  Surface a = surface_for(Pivot::partial, 60, 70);
  const cl::Buffer ipiv = context.zeros(60), info = context.zeros(1);
  ResidentLu lu(context, 44, 54, precision, false);
  expect_order(parts_in("factor_columns", [&] { lu.factor(a, 16, ipiv, info); }), "blocks",
               {"block 2 (columns 16-23)", "block 3 (columns 24-31)", "block 4 (columns 32-39)",
                "block 5 (columns 40-47)", "block 6 (columns 48-55)", "block 7 (columns 56-59)"});
}

TEST_P(PartTimesTest, CornersWithoutPivoting) {
  Surface a = surface_for(Pivot::none, 150, 150);
  const cl::Buffer ipiv = context.zeros(150), info = context.zeros(1);
  LuNone lu(context, 150, precision, false);
  expect_order(
      parts_in("factor_none", [&] { lu.factor(a, ipiv, info); }), "corners",
      {"corner 0 (columns 0-63)", "corner 1 (columns 64-127)", "corner 2 (columns 128-149)"});
}

// The first panel has more work-groups than are sure to run at the same time, and so launches of
// its own.
TEST_P(PartTimesTest, PanelBesideTiles) {
  Surface a = surface_for(Pivot::none, 128, 200);
  BlockedGpu lu(context, {128, 200, Pivot::none, precision, 64});
  const std::vector<PartTimes::Ran> ran = parts_in("update_and_factor", [&] { lu.factor(a); });
  ASSERT_EQ(ran.size(), 2u);
  EXPECT_EQ(ran[0].part.kind, "panels");
  EXPECT_EQ(ran[0].part.name, "panel 1 (columns 64-127)");
  EXPECT_EQ(ran[1].part.name, "tiles");
}

TEST_P(PartTimesTest, WhatIsNotTimedHasNoParts) {
  Surface a = surface_for(Pivot::partial, 60, 70);
  const cl::Buffer ipiv = context.zeros(60), info = context.zeros(1);
  ResidentLu lu(context, 60, 70, precision, false);
  PartTimes times(context);
  lu.factor(a, 0, ipiv, info);
  EXPECT_TRUE(times.ran().empty());
}

INSTANTIATE_TEST_SUITE_P(All, PartTimesTest,
                         testing::Values(Precision::single_precision, Precision::double_precision),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace lugpu
