// What `lugpu advise` concludes from given runs.
#include "bench/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "bench/sparse_advice.hpp"

namespace lugpu {
namespace {

constexpr Precision kSingle = Precision::single_precision;
constexpr Precision kDouble = Precision::double_precision;

/// A backward stable run of order 100 with a bound on its forward error.
Result stable(Pivot pivot, Precision precision, double seconds, double ferr) {
  Result result;
  result.what.problem.size.n = 100;
  result.what.problem.dense.pivot = pivot;
  result.what.problem.dense.precision = precision;
  result.status = RunStatus::ok;
  result.phases_s["total"] = seconds;
  result.checks.hpl_residual = 0.01;
  result.checks.growth = 5;
  result.checks.ferr = {ferr};
  return result;
}

/// The same in mixed precision.
Result mixed(Pivot pivot, double seconds, double ferr) {
  Result result = stable(pivot, kSingle, seconds, ferr);
  result.what.problem.solve.refine = Refine::mixed;
  result.refinement = Refinement();
  result.refinement->factors = FactorArithmetic::single_precision;
  return result;
}

Result singular(Pivot pivot, Precision precision) {
  Result result = stable(pivot, precision, 1, 1);
  result.status = RunStatus::failed;
  result.checks.info = 7;
  return result;
}

/// Partial and none in single, then in double, then partial in mixed precision: errors of 1e-4 and
/// 1e-12.
std::vector<Result> five() {
  return {stable(Pivot::partial, kSingle, 2, 5e-5), stable(Pivot::none, kSingle, 1, 5e-5),
          stable(Pivot::partial, kDouble, 4, 5e-13), stable(Pivot::none, kDouble, 3, 5e-13),
          mixed(Pivot::partial, 3, 5e-13)};
}

void expect_mentions(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Advice, NamesUnusualFactorsOfMixedPrecision) {
  std::vector<Result> results = {mixed(Pivot::partial, 3, 5e-13)};
  EXPECT_EQ(advise(results, std::nullopt).sentence.find("factors"), std::string::npos);
  results[0].refinement->factors = FactorArithmetic::half_products;
  expect_mentions(advise(results, std::nullopt).sentence,
                  ", from factors with products in half precision");
  results[0].refinement->factors = FactorArithmetic::double_precision;
  results[0].refinement->fallback = "refinement did not converge";
  expect_mentions(advise(results, std::nullopt).sentence, ", from factors in double after all");
}

TEST(GuaranteedDigits, AreOfThePrecisionOfX) {
  EXPECT_EQ(guaranteed_digits(stable(Pivot::partial, kDouble, 1, 1e-13)), 13);
  EXPECT_EQ(guaranteed_digits(stable(Pivot::partial, kSingle, 1, 1e-13)), 7);
  EXPECT_EQ(guaranteed_digits(mixed(Pivot::partial, 1, 1e-13)), 13);
  EXPECT_FALSE(guaranteed_digits(mixed(Pivot::partial, 1, INFINITY)));
}

TEST(Advise, TakesPartialPivotingInDouble) {
  const Advice advice = advise(five(), std::nullopt);
  EXPECT_EQ(advice.best, 2u);
  EXPECT_EQ(advice.wanted, 12);
  EXPECT_FALSE(advice.singular);
  EXPECT_TRUE(advice.finished);
  EXPECT_EQ(advice.sentence,
            "Use --pivot partial --precision double: it guarantees 12 digits of X, with a backward "
            "error of 1.1e-16; this matrix would not need pivoting; single precision guarantees 4 "
            "digits.");
}

TEST(Advise, TakesSingleWhereThatGuaranteesTheDigitsWanted) {
  for (const int digits : {1, 4}) {
    const Advice advice = advise(five(), digits);
    EXPECT_EQ(advice.best, 0u);
    EXPECT_EQ(advice.wanted, digits);
    expect_mentions(advice.sentence,
                    "Use --pivot partial --precision single: it guarantees 4 "
                    "digits of X (" +
                        std::to_string(digits) + " wanted)");
  }
  EXPECT_EQ(advise(five(), 5).best, 2u);
  EXPECT_EQ(advise(five(), 12).best, 2u);
}

TEST(Advise, SaysWhereNoRunGuaranteesTheDigitsWanted) {
  std::vector<Result> results = five();
  results[4].checks.ferr = {5e-14};
  EXPECT_EQ(advise(results, 13).best, 4u);
  const Advice advice = advise(results, 14);
  EXPECT_FALSE(advice.best);
  EXPECT_FALSE(advice.singular);
  EXPECT_EQ(advice.sentence,
            "No run guarantees 14 digits of X; the most is 13 digits, by --pivot partial "
            "--precision mixed.");
  for (Result& result : results) result.checks.ferr = {INFINITY};
  EXPECT_EQ(advise(results, 1).sentence, "No run guarantees 1 digit of X, or any at all.");
}

TEST(Advise, TakesWhatGuaranteesMostWhereTheSafestRunGuaranteesNothing) {
  std::vector<Result> results = {stable(Pivot::partial, kSingle, 0.1, 7),
                                 stable(Pivot::partial, kDouble, 9, 0.7),
                                 mixed(Pivot::partial, 1, INFINITY)};
  const Advice none = advise(results, std::nullopt);
  EXPECT_EQ(none.best, 1u);
  EXPECT_EQ(none.wanted, 0);
  expect_mentions(none.sentence,
                  "no run guarantees a digit of X, and this is the safest one, with a backward "
                  "error of 1.1e-16");
  results.push_back(stable(Pivot::full, kDouble, 9, 0.07));
  EXPECT_EQ(advise(results, std::nullopt).best, 3u);
}

TEST(Advise, TakesAClearlyFasterRun) {
  std::vector<Result> results = five();
  results[2].phases_s["total"] = 24;
  EXPECT_EQ(advise(results, std::nullopt).best, 2u);
  results[2].phases_s["total"] = 24.1;  // more than 8 times 3 s
  EXPECT_EQ(advise(results, std::nullopt).best, 4u);
  results[4].refinement->converged = false;
  EXPECT_EQ(advise(results, std::nullopt).best, 3u);
  for (Result& result : results) result.phases_s["total"] /= 1000;  // a moment
  EXPECT_EQ(advise(results, std::nullopt).best, 2u);
}

// Without pivoting, the backward error of `graded` is 300 times that of partial pivoting.
TEST(Advise, NeverTakesNoPivotingWhereThatIsWorse) {
  std::vector<Result> results = {stable(Pivot::partial, kDouble, 100, 5e-13),
                                 stable(Pivot::none, kDouble, 1, 5e-13)};
  EXPECT_EQ(advise(results, std::nullopt).best, 1u);
  results[1].checks.hpl_residual = 0.05;
  const Advice advice = advise(results, std::nullopt);
  EXPECT_EQ(advice.best, 0u);
  expect_mentions(advice.sentence, "without pivoting the backward error is 5.6e-16");
  results[0].checks.hpl_residual = 0;
  EXPECT_EQ(lugpu::advise(results, std::nullopt).best, 0u);
}

TEST(Advise, PassesOverWhatIsNotStable) {
  std::vector<Result> results = five();
  results[2].checks.growth = 101;
  EXPECT_EQ(advise(results, std::nullopt).best, 4u);
  results[2].checks.growth = 100;
  EXPECT_EQ(advise(results, std::nullopt).best, 2u);
  results[2].status = RunStatus::failed;
  results[4].refinement->converged = false;
  results.push_back(stable(Pivot::rook, kDouble, 8, 5e-11));
  const Advice rook = advise(results, std::nullopt);
  EXPECT_EQ(rook.best, 5u);
  EXPECT_EQ(rook.wanted, 10);
  expect_mentions(rook.sentence, "with partial pivoting the backward error is 1.1e-16");
  for (Result& result : results) result.checks.growth.reset();
  const Advice none = advise(results, std::nullopt);
  EXPECT_FALSE(none.best);
  EXPECT_FALSE(none.singular);
  EXPECT_TRUE(none.finished);
  EXPECT_EQ(none.sentence, "No run was backward stable: do not trust a solution of this system.");
  results[0].status = RunStatus::skipped;
  expect_mentions(advise(results, std::nullopt).sentence,
                  "No run that finished within the timeout was backward stable");
}

TEST(Advise, SaysThatNothingFinished) {
  std::vector<Result> results = five();
  for (Result& result : results) {
    const Case what = result.what;
    result = Result();
    result.what = what;
    result.status = RunStatus::skipped;
  }
  const Advice late = advise(results, std::nullopt);
  EXPECT_FALSE(late.best);
  EXPECT_FALSE(late.finished);
  EXPECT_EQ(late.sentence,
            "No run finished within the timeout, so that nothing is known about this system; allow "
            "more time with --timeout.");
  for (Result& result : results) {
    result.status = RunStatus::error;
    result.reason = "The device is lost.";
  }
  EXPECT_EQ(advise(results, 3).sentence, "No run finished: The device is lost.");
  EXPECT_FALSE(advise(results, 3).finished);
}

/// A row of a recorded run: what decides, and its time in microseconds.
struct Recorded {
  Pivot pivot;
  const char* precision;
  double backward_error, growth, ferr, microseconds;
};

std::vector<Result> recorded(const std::vector<Recorded>& rows) {
  std::vector<Result> results;
  for (const Recorded& row : rows) {
    const std::string precision = row.precision;
    Result result = precision == "mixed"
                        ? mixed(row.pivot, row.microseconds * 1e-6, row.ferr)
                        : stable(row.pivot, precision == "double" ? kDouble : kSingle,
                                 row.microseconds * 1e-6, row.ferr);
    result.checks.growth = row.growth;
    result.checks.hpl_residual =
        row.backward_error / (100 * epsilon(working_precision(result.what.problem)));
    results.push_back(result);
  }
  return results;
}

/// Runs of order 100 as once timed on PoCL, and of order 4000 on a device where double is half as
/// fast as single and on one where it is much slower; each with the digits asked for and the run to
/// be recommended.
struct RecordedSystem {
  std::size_t best;
  std::optional<int> digits;
  std::vector<Result> results;
};

std::vector<RecordedSystem> recorded_systems() {
  constexpr Pivot none = Pivot::none, partial = Pivot::partial, rook = Pivot::rook,
                  full = Pivot::full;
  const std::vector<Result> large = recorded({{partial, "single", 1.2e-08, 4, 5e-5, 500e3},
                                              {none, "single", 2e-08, 4, 5e-5, 450e3},
                                              {partial, "double", 2e-17, 4, 5e-14, 1000e3},
                                              {none, "double", 3e-17, 4, 5e-14, 900e3},
                                              {rook, "double", 2e-17, 4, 5e-14, 6000e3},
                                              {partial, "mixed", 2e-17, 4, 5e-14, 600e3},
                                              {none, "mixed", 2e-17, 4, 5e-14, 550e3}});
  return {{2, std::nullopt, large},
          {0, 3, large},
          {3, std::nullopt,
           recorded({{partial, "single", 1.6e-07, 16.1, 3.2e-3, 218},
                     {rook, "single", 1.6e-07, 7.9, 3.6e-3, 192},
                     {full, "single", 1.1e-07, 5.5, 2.4e-3, 134},
                     {partial, "double", 2.9e-16, 16.1, 7.4e-10, 199},
                     {none, "double", 1.7e-14, 424, 1.0e-9, 125},
                     {rook, "double", 2.3e-16, 7.9, 7.4e-10, 344},
                     {full, "double", 2.4e-16, 5.5, 7.4e-10, 128},
                     {partial, "mixed", 6.2e-17, 16.1, 7.3e-10, 249},
                     {none, "mixed", 7.1e-17, 425, 7.4e-10, 150}})},
          {2, std::nullopt,
           recorded({{partial, "single", 1.1e-13, 1.6, 4.3, 406},
                     {none, "single", 1.1e-12, 30.6, 3.6, 155},
                     {partial, "double", 1.7e-16, 1.6, 0.05, 408},
                     {none, "double", 5.7e-14, 30.7, 0.18, 376},
                     {rook, "double", 2e-16, 1.5, 0.046, 701},
                     {full, "double", 9.8e-17, 1.5, 0.046, 659},
                     {partial, "mixed", 3.3e-17, 1.6, 0.046, 705},
                     {none, "mixed", 1.6e-16, 30.6, 0.046, 572}})},
          {4, std::nullopt,
           recorded({{partial, "single", 0.3, 5.8e17, 65, 155},
                     {rook, "single", 0, 2, 3.3e-13, 333},
                     {partial, "double", 0.05, 5.8e17, 5, 290},
                     {none, "double", 0.05, 5.8e17, 5, 150},
                     {rook, "double", 0, 2, 7.2e-13, 953},
                     {full, "double", 0, 2, 7.2e-13, 621},
                     {partial, "mixed", 0, 5.8e17, INFINITY, 398},
                     {rook, "mixed", 0, 2, 3.3e-13, 907}})},
          {3, std::nullopt,
           recorded({{partial, "single", 1.2e-08, 4, 1e-4, 50e3},
                     {none, "single", 2e-08, 4, 1e-4, 25e3},
                     {none, "double", 3e-17, 4, 1e-13, 1.7e6},
                     {partial, "mixed", 2e-17, 4, 1e-13, 60e3},
                     {partial, "double", 2e-17, 4, 1e-13, 2e6},
                     {none, "mixed", 2e-17, 4, 1e-13, 35e3}})}};
}

TEST(Advise, LetsNoNoiseDecide) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> noise(0.4, 1.6);
  std::size_t number = 0;
  for (const auto& [best, digits, results] : recorded_systems()) {
    const std::string sentence = advise(results, digits).sentence;
    for (int run = 0; run < 1000; ++run) {
      std::vector<Result> disturbed = results;
      for (Result& result : disturbed) result.phases_s["total"] *= noise(generator);
      const Advice advice = advise(disturbed, digits);
      ASSERT_EQ(advice.best, best) << "system " << number;
      ASSERT_EQ(advice.sentence, sentence);
    }
    ++number;
  }
}

TEST(Advise, KnowsASingularMatrix) {
  std::vector<Result> results = {singular(Pivot::partial, kSingle),
                                 stable(Pivot::none, kSingle, 1, 1),
                                 singular(Pivot::partial, kDouble), singular(Pivot::full, kDouble)};
  EXPECT_TRUE(advise(results, std::nullopt).singular);
  EXPECT_FALSE(advise(results, std::nullopt).best);
  // Singular in single precision alone.
  results[2] = results[3] = stable(Pivot::partial, kDouble, 1, 1e-9);
  EXPECT_FALSE(advise(results, std::nullopt).singular);
  EXPECT_EQ(advise(results, std::nullopt).best, 2u);
  // In mixed precision, where the device has no double.
  results = {singular(Pivot::partial, kSingle), mixed(Pivot::partial, 1, 0)};
  results[1].status = RunStatus::failed;
  results[1].checks.info = 7;
  EXPECT_TRUE(advise(results, std::nullopt).singular);
  // A zero pivot without pivoting says nothing.
  EXPECT_FALSE(advise({singular(Pivot::none, kDouble)}, std::nullopt).singular);
}

TEST(Advise, IsOfAnyPivotingThatIsStable) {
  std::vector<Result> results;
  for (const PivotRule& rule : pivot_rules()) {
    results.push_back(stable(rule.pivot, kDouble, 1, 0.1));
  }
  for (std::size_t only = 0; only < results.size(); ++only) {
    std::vector<Result> others_grow = results;
    for (Result& result : others_grow) result.checks.growth = 1e6;
    others_grow[only].checks.growth = 5;
    others_grow[only].phases_s["total"] = 100;
    const Advice advice = advise(others_grow, std::nullopt);
    EXPECT_EQ(advice.best, only);
    EXPECT_NE(advice.sentence.find(std::string("--pivot ") +
                                   name(others_grow[only].what.problem.dense.pivot) + " "),
              std::string::npos)
        << advice.sentence;
  }
}

// Not if some pivoting can factor it in the highest precision; what did not run says nothing.
TEST(Advise, SingularIsWhatNoPivotingCanFactor) {
  std::vector<Result> results = {singular(Pivot::partial, kDouble), singular(Pivot::rook, kDouble),
                                 stable(Pivot::full, kDouble, 1, 0.1)};
  EXPECT_FALSE(advise(results, std::nullopt).singular);
  EXPECT_EQ(advise(results, std::nullopt).best, 2u);
  results[2].status = RunStatus::unsupported;
  EXPECT_TRUE(advise(results, std::nullopt).singular);
  results[0].status = results[1].status = RunStatus::unsupported;
  EXPECT_FALSE(advise(results, std::nullopt).singular);
  EXPECT_FALSE(advise(results, std::nullopt).best);
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
  PathRecords records;
  const std::vector<Case> cases = advice_cases(device, 10, 2, "a.mtx", records);
  const std::size_t pivotings = pivot_rules().size();
  ASSERT_EQ(cases.size(), 3 * pivotings);
  for (const Case& what : cases) {
    const PivotRule& rule = rule_of(what.problem.dense.pivot);
    EXPECT_EQ(what.routine, find_method("lu-blocked").has(rule) ? "lu-blocked" : "lu");
    EXPECT_EQ(what.problem.size.n, 10u);
    EXPECT_EQ(what.problem.size.nrhs, 2u);
    EXPECT_EQ(what.matrix, "a.mtx");
  }
  EXPECT_EQ(std::count_if(cases.begin(), cases.end(),
                          [](const Case& what) {
                            return precision_name(what.problem) == std::string("mixed");
                          }),
            pivotings);
  device.double_precision = false;
  EXPECT_EQ(advice_cases(device, 10, 2, "a.mtx", records).size(), 2 * pivotings);
}

TEST(AdviceCases, MixedNeedsFactors) {
  Device device;
  device.type = "cpu";
  device.double_precision = true;
  PathRecords records;
  // All that is left for full pivoting is gauss-jordan.
  for (const char* precision : {"single", "double"}) {
    records.failed.push_back(std::string("lu full ") + precision + " buffer r fused");
  }
  int full = 0;
  for (const Case& what : advice_cases(device, 10, 2, "a.mtx", records)) {
    if (what.problem.dense.pivot != Pivot::full) continue;
    ++full;
    EXPECT_EQ(what.routine, "gauss-jordan");
    EXPECT_EQ(what.problem.solve.refine, Refine::none);
  }
  EXPECT_EQ(full, 2);
}

/// A run by a method for sparse matrices that solve() accepts.
StructuredResult sparse_run(const char* method, Precision precision, double seconds,
                            double residual) {
  StructuredResult result;
  result.what.routine = method;
  result.what.options.precision = precision;
  result.status = RunStatus::ok;
  result.setup_s = seconds / 2;
  result.times_s = {seconds / 2};
  result.residual = residual;
  return result;
}

/// `solve` takes this method, to 10^-digits.
AutomaticChoice choice_of(const char* method, int digits = 10) {
  AutomaticChoice choice{true, {structured_method(method), {}, "it suits"}};
  choice.plan.options.rule.tolerance = std::pow(10.0, -digits);
  return choice;
}

/// Banded first, then conjugate gradients, which are slower, in both precisions.
std::vector<StructuredResult> four() {
  return {sparse_run("banded", kDouble, 1, 1e-15), sparse_run("banded", kSingle, 0.5, 1e-6),
          sparse_run("cg", kDouble, 2, 9e-11), sparse_run("cg", kSingle, 1, 0)};
}

TEST(SparseAdvice, IsWhatSolveTakesWhereThatIsNotClearlySlower) {
  std::vector<StructuredResult> results = four();
  const Advice advice = advise(results, choice_of("banded"), {});
  EXPECT_EQ(advice.best, 0u);
  expect_mentions(advice.sentence, "`solve` takes banded too: it suits");
  results[0].times_s = {7};
  EXPECT_EQ(advise(results, choice_of("banded"), {}).best, 0u);
  results[0].times_s = {9};
  const Advice other = advise(results, choice_of("banded"), {});
  EXPECT_EQ(other.best, 2u);
  expect_mentions(other.sentence, "`solve` alone would take banded because it suits, which takes");
}

TEST(SparseAdvice, DigitsAreOfTheResidual) {
  const std::vector<StructuredResult> results = four();
  EXPECT_EQ(advise(results, choice_of("banded", 5), 5).best, 1u);
  EXPECT_EQ(advise({results[2], results[3]}, choice_of("cg", 7), 7).best, 1u);
  // A residual of 0 in single precision is an accident.
  EXPECT_EQ(advise({results[2], results[3]}, choice_of("cg", 8), 8).best, 0u);
  const Advice many = advise(results, choice_of("banded", 12), 12);
  EXPECT_EQ(many.best, 0u);
  EXPECT_EQ(many.wanted, 12);
}

TEST(SparseAdvice, ADirectSolutionIsAsGoodAsTheMatrixAllows) {
  const std::vector<StructuredResult> results = {sparse_run("banded", kDouble, 1, 1e-7)};
  EXPECT_EQ(advise(results, choice_of("banded"), {}).best, 0u);
  const Advice advice = advise(results, choice_of("banded"), 10);
  EXPECT_FALSE(advice.best);
  EXPECT_TRUE(advice.finished);
  expect_mentions(advice.sentence, "the least is 1e-07, by --method banded --precision double");
}

TEST(SparseAdvice, ASingularMatrixIsOneForDirectMethods) {
  std::vector<StructuredResult> results = four();
  results[0].status = RunStatus::failed;
  results[0].residual = std::nullopt;
  results[0].iteration.info = 7;
  const Advice advice = advise(results, choice_of("banded"), {});
  EXPECT_TRUE(advice.singular);
  EXPECT_FALSE(advice.best);
  expect_mentions(advice.sentence, "pivot 7");
  // A zero pivot of single precision alone says nothing.
  std::swap(results[0].what.options.precision, results[1].what.options.precision);
  EXPECT_FALSE(advise(results, choice_of("banded"), {}).singular);
  std::swap(results[0].what.options.precision, results[1].what.options.precision);
  // Nor does one of two methods.
  results[2].what.routine = "lu-blocked";
  EXPECT_FALSE(advise(results, choice_of("banded"), {}).singular);
}

TEST(SparseAdvice, LimitsFollowTheRunsThatAreGoodEnough) {
  EXPECT_EQ(advice_limit({}, choice_of("cg"), {}, 20), 20);
  const std::vector<StructuredResult> results = {sparse_run("cg", kDouble, 2, 9e-11),
                                                 sparse_run("cg", kSingle, 1, 1e-6)};
  EXPECT_EQ(advice_limit(results, choice_of("cg"), {}, 20), 16);
  EXPECT_EQ(advice_limit(results, choice_of("cg"), {}, 3), 3);
  EXPECT_EQ(advice_limit({sparse_run("cg", kDouble, 0.1, 9e-11)}, choice_of("cg"), {}, 20), 4);
}

TEST(SparseAdvice, SaysWhyThereIsNone) {
  StructuredResult failed = sparse_run("cg", kDouble, 1, 1e-3);
  failed.status = RunStatus::failed;
  expect_mentions(advise({failed}, choice_of("cg"), {}).sentence, "the least is 0.001");
  StructuredResult skipped = sparse_run("cg", kDouble, 1, 1);
  skipped.status = RunStatus::skipped;
  skipped.residual = std::nullopt;
  const Advice advice = advise({skipped}, choice_of("cg"), {});
  EXPECT_FALSE(advice.finished);
  expect_mentions(advice.sentence, "--timeout");
  const AutomaticChoice refused{false, {nullptr, {}, "A is odd"}};
  expect_mentions(advise(four(), refused, {}).sentence, "`solve` alone would refuse A: A is odd");
}

}  // namespace
}  // namespace lugpu
