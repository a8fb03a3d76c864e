// What `lugpu advise` concludes from runs that went this way or that.
#include "bench/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace lugpu {
namespace {

/// A run of order 100 that is backward stable.
Result stable(Pivot pivot, Precision precision, double seconds, double rcond) {
  Result result;
  result.what.problem.n = 100;
  result.what.problem.pivot = pivot;
  result.what.problem.precision = precision;
  result.status = Status::ok;
  result.phases_s["total"] = seconds;
  result.checks.hpl_residual = 0.01;
  result.checks.growth = 5;
  result.checks.rcond = rcond;
  return result;
}

/// The same in mixed precision.
Result mixed(Pivot pivot, double seconds, double rcond) {
  Result result = stable(pivot, Precision::single_precision, seconds, rcond);
  result.what.problem.refine = Refine::mixed;
  result.refinement = Refinement();
  return result;
}

Result singular(Pivot pivot, Precision precision) {
  Result result = stable(pivot, precision, 1, 0);
  result.status = Status::failed;
  result.checks.info = 7;
  return result;
}

constexpr Precision kSingle = Precision::single_precision;
constexpr Precision kDouble = Precision::double_precision;

/// Partial and none in single, then in double.
std::vector<Result> four(double rcond) {
  return {stable(Pivot::partial, kSingle, 2, rcond), stable(Pivot::none, kSingle, 1, rcond),
          stable(Pivot::partial, kDouble, 4, rcond), stable(Pivot::none, kDouble, 3, rcond)};
}

TEST(Advise, TakesTheCheapest) {
  const Advice advice = advise(four(0.1));
  EXPECT_EQ(advice.best, 1u);
  EXPECT_FALSE(advice.singular);
  EXPECT_EQ(advice.sentence,
            "Use --pivot none --precision single, the cheapest run that is backward stable; the "
            "reciprocal condition number is 0.1, so that X has about 6 correct digits.");
}

TEST(Advise, LetsNoNoiseDecide) {
  std::vector<Result> results = four(0.1);
  results[1].phases_s["total"] = 1.7;
  EXPECT_EQ(advise(results).best, 0u);
}

TEST(Advise, PassesOverWhatIsNotStable) {
  std::vector<Result> results = four(0.1);
  results[1].checks.growth = 101;
  EXPECT_EQ(advise(results).best, 0u);
  results[0].checks.growth = 100;
  EXPECT_EQ(advise(results).best, 0u);
  results[0].status = Status::failed;
  EXPECT_EQ(advise(results).best, 3u);
  results[3].checks.growth.reset();
  EXPECT_EQ(advise(results).best, 2u);
  results[2].status = Status::skipped;
  const Advice none = advise(results);
  EXPECT_FALSE(none.best);
  EXPECT_FALSE(none.singular);
  EXPECT_EQ(none.sentence, "No run was backward stable: do not trust a solution of this system.");
}

TEST(Advise, TakesDoubleWhereSingleLeavesNoDigits) {
  EXPECT_EQ(advise(four(1e-5)).best, 1u);
  const Advice advice = advise(four(1e-6));
  EXPECT_EQ(advice.best, 3u);
  EXPECT_NE(advice.sentence.find("1e-06, so that X has about 9 correct digits."),
            std::string::npos);
}

TEST(Advise, TakesMixedWhereThatIsFasterThanDouble) {
  std::vector<Result> results = four(1e-6);  // too ill-conditioned for single
  results.push_back(mixed(Pivot::partial, 2.3, 1e-6));
  const Advice advice = advise(results);
  EXPECT_EQ(advice.best, 4u);
  EXPECT_EQ(advice.sentence,
            "Use --pivot partial --precision mixed, the cheapest run that is backward stable; the "
            "reciprocal condition number is 1e-06, so that X has about 9 correct digits.");
  results[4].phases_s["total"] = 2.7;  // not clearly
  EXPECT_EQ(advise(results).best, 3u);
  results[4].phases_s["total"] = 0.1;
  results[4].refinement->converged = false;
  EXPECT_EQ(advise(results).best, 3u);
}

TEST(Advise, TakesSingleBeforeMixedWhereThatIsEnough) {
  std::vector<Result> results = four(0.1);
  results.push_back(mixed(Pivot::none, 1.1, 0.1));
  EXPECT_EQ(advise(results).best, 1u);
}

// The condition that single precision sees is no smaller than its eps.
TEST(Advise, BelievesTheConditionOfTheHighestPrecision) {
  std::vector<Result> results = four(1e-12);
  results[0].checks.rcond = results[1].checks.rcond = 1e-3;
  EXPECT_EQ(advise(results).best, 3u);
  std::reverse(results.begin(), results.end());
  EXPECT_EQ(advise(results).best, 0u);
  // Mixed precision has its factors.
  results.push_back(mixed(Pivot::partial, 9, 1e-3));
  EXPECT_EQ(advise(results).best, 0u);
}

TEST(Advise, SaysWhereNoPrecisionIsEnough) {
  const Advice advice = advise(four(1e-17));
  EXPECT_EQ(advice.best, 3u);
  EXPECT_NE(advice.sentence.find("1e-17, so that X may have no correct digit."), std::string::npos);
}

TEST(Advise, KnowsASingularMatrix) {
  std::vector<Result> results = {singular(Pivot::partial, kSingle),
                                 stable(Pivot::none, kSingle, 1, 1e-20),
                                 singular(Pivot::partial, kDouble), singular(Pivot::full, kDouble)};
  EXPECT_TRUE(advise(results).singular);
  EXPECT_FALSE(advise(results).best);
  // Singular in single precision alone.
  results[2] = results[3] = stable(Pivot::partial, kDouble, 1, 1e-9);
  EXPECT_FALSE(advise(results).singular);
  EXPECT_EQ(advise(results).best, 2u);
  // In mixed precision, where the device has no double.
  results = {singular(Pivot::partial, kSingle), mixed(Pivot::partial, 1, 0)};
  results[1].status = Status::failed;
  results[1].checks.info = 7;
  EXPECT_TRUE(advise(results).singular);
  // A zero pivot without pivoting says nothing.
  EXPECT_FALSE(advise({singular(Pivot::none, kDouble)}).singular);
}

TEST(Advise, IsOfAnyPivotingThatIsStable) {
  std::vector<Result> results;
  for (const Pivot pivot : {Pivot::partial, Pivot::none, Pivot::rook, Pivot::full}) {
    results.push_back(stable(pivot, kDouble, 1, 0.1));
  }
  for (std::size_t only = 0; only < results.size(); ++only) {
    std::vector<Result> others_grow = results;
    for (Result& result : others_grow) result.checks.growth = 1e6;
    others_grow[only].checks.growth = 5;
    others_grow[only].phases_s["total"] = 100;
    const Advice advice = advise(others_grow);
    EXPECT_EQ(advice.best, only);
    EXPECT_NE(advice.sentence.find(std::string("--pivot ") +
                                   name(others_grow[only].what.problem.pivot) + " "),
              std::string::npos)
        << advice.sentence;
  }
}

// Not one that some pivoting can factor in the highest precision; what did not run says nothing.
TEST(Advise, SingularIsWhatNoPivotingCanFactor) {
  std::vector<Result> results = {singular(Pivot::partial, kDouble), singular(Pivot::rook, kDouble),
                                 stable(Pivot::full, kDouble, 1, 0.1)};
  EXPECT_FALSE(advise(results).singular);
  EXPECT_EQ(advise(results).best, 2u);
  results[2].status = Status::unsupported;
  EXPECT_TRUE(advise(results).singular);
  results[0].status = results[1].status = Status::unsupported;
  EXPECT_FALSE(advise(results).singular);
  EXPECT_FALSE(advise(results).best);
}

TEST(Advise, BackwardErrorIsWithoutHplsScale) {
  EXPECT_DOUBLE_EQ(*backward_error(stable(Pivot::none, kDouble, 1, 1)), 0.01 * 100 * 0x1p-53);
  EXPECT_DOUBLE_EQ(*backward_error(stable(Pivot::none, kSingle, 1, 1)), 0.01 * 100 * 0x1p-24);
  EXPECT_DOUBLE_EQ(*backward_error(mixed(Pivot::none, 1, 1)), 0.01 * 100 * 0x1p-53);
  EXPECT_FALSE(backward_error(Result()));
}

TEST(AdviceCases, AreEveryPivotingInEveryPrecision) {
  Device device;
  device.type = "cpu";
  device.double_precision = true;
  const std::vector<Case> cases = advice_cases(device, 10, 2, "a.mtx");
  ASSERT_EQ(cases.size(), 12u);
  for (const Case& what : cases) {
    EXPECT_EQ(what.routine, exchanges_columns(what.problem.pivot) ? "lu" : "lu-blocked");
    EXPECT_EQ(what.problem.n, 10u);
    EXPECT_EQ(what.problem.nrhs, 2u);
    EXPECT_EQ(what.matrix, "a.mtx");
  }
  EXPECT_EQ(std::count_if(cases.begin(), cases.end(),
                          [](const Case& what) {
                            return precision_name(what.problem) == std::string("mixed");
                          }),
            4);
  device.double_precision = false;
  EXPECT_EQ(advice_cases(device, 10, 2, "a.mtx").size(), 8u);
}

TEST(AdviceCases, MixedNeedsFactors) {
  Device device;
  device.type = "cpu";
  device.double_precision = true;
  // All that is left for full pivoting is gauss-jordan.
  for (const char* precision : {"single", "double"}) {
    device.failed_paths.push_back(std::string("lu full ") + precision + " buffer r fused");
  }
  int full = 0;
  for (const Case& what : advice_cases(device, 10, 2, "a.mtx")) {
    if (what.problem.pivot != Pivot::full) continue;
    ++full;
    EXPECT_EQ(what.routine, "gauss-jordan");
    EXPECT_EQ(what.problem.refine, Refine::none);
  }
  EXPECT_EQ(full, 2);
}

}  // namespace
}  // namespace lugpu
