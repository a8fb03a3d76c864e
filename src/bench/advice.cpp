#include "bench/advice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace lugpu {
namespace {

// A run is clearly slower than another if it takes more than this many times as long and this many
// seconds longer: other work on the machine can delay a short one.
constexpr double kClearly = 8;
constexpr double kClearlySeconds = 0.1;
// A backward error is noticeably worse than another if it is more than this many times that.
constexpr double kNoticeably = 4;

// Of X; of the factors of mixed precision it is single's.
double epsilon(const Result& result) {
  return epsilon(working_precision(result.what.problem));
}

bool is_mixed(const Result& result) {
  return result.what.problem.solve.refine == Refine::mixed;
}

double factors_epsilon(const Result& result) {
  return epsilon(result.what.problem.dense.precision);
}

bool is_stable(const Result& result) {
  const double limit = std::max(10.0, static_cast<double>(result.what.problem.size.n));
  const bool refined = !result.refinement || result.refinement->converged;
  return result.status == RunStatus::ok && refined && result.checks.growth &&
         *result.checks.growth <= limit;
}

bool is_pivoted(const Result& result) {
  return exchanges_rows(result.what.problem.dense.pivot);
}

bool is_same_arithmetic(const Result& a, const Result& b) {
  return a.what.problem.dense.precision == b.what.problem.dense.precision &&
         is_mixed(a) == is_mixed(b);
}

// Whether no pivoting loses nothing compared with pivoting in the same precision.
bool is_as_good_as_pivoted(const Result& result, const std::vector<Result>& results) {
  return std::none_of(results.begin(), results.end(), [&](const Result& other) {
    return is_pivoted(other) && is_stable(other) && is_same_arithmetic(other, result) &&
           !(*backward_error(result) <= kNoticeably * *backward_error(other));
  });
}

bool is_possible(const Result& result, const std::vector<Result>& results) {
  return is_stable(result) && backward_error(result) &&
         (is_pivoted(result) || is_as_good_as_pivoted(result, results));
}

// The place in the order in which runs are taken, the safest one first.
int place(const Result& result, bool few_digits) {
  const Problem& problem = result.what.problem;
  const int arithmetic = is_mixed(result)                                         ? 1
                         : problem.dense.precision == Precision::double_precision ? 0
                                                                                  : 2;
  if (few_digits && arithmetic == 2 && problem.dense.pivot == Pivot::partial) return -1;
  const int rules = static_cast<int>(pivot_rules().size());
  const PivotRule& rule = rule_of(problem.dense.pivot);
  // None comes after every pivoting in every precision.
  return rule.exchanges_rows ? rules * arithmetic + rule.safety : 3 * rules + arithmetic;
}

int digits_or_0(const Result& result) {
  return guaranteed_digits(result).value_or(0);
}

// The first in the order that is not clearly slower than another one. runs: not empty.
const Result* choose(const std::vector<const Result*>& runs, bool few_digits) {
  double least = INFINITY;
  for (const Result* run : runs) least = std::min(least, run->phases_s.at("total"));
  const Result* best = nullptr;
  for (const Result* run : runs) {
    const double total = run->phases_s.at("total");
    if (total > kClearly * least && total > least + kClearlySeconds) continue;
    if (!best || place(*run, few_digits) < place(*best, few_digits)) best = run;
  }
  return best;
}

bool is_singular(const std::vector<Result>& results) {
  std::size_t pivoted = 0, singular = 0;
  double least = 1;
  for (const Result& result : results) least = std::min(least, factors_epsilon(result));
  for (const Result& result : results) {
    if (!is_pivoted(result) || factors_epsilon(result) > least) continue;
    if (result.status == RunStatus::unsupported) continue;
    ++pivoted;
    singular += result.checks.info > 0;
  }
  return pivoted > 0 && singular == pivoted;
}

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

std::string count(int digits) {
  return digits == 0 ? "no digit" : digits == 1 ? "1 digit" : std::to_string(digits) + " digits";
}

std::string options_of(const Result& result) {
  return std::string("--pivot ") + name(result.what.problem.dense.pivot) + " --precision " +
         precision_name(result.what.problem);
}

// The run with this pivoting in this arithmetic that has an X; null if none does.
const Result* find(const std::vector<Result>& results, Pivot pivot, const Arithmetic& arithmetic) {
  for (const Result& result : results) {
    const Problem& problem = result.what.problem;
    if (problem.dense.pivot == pivot && problem.dense.precision == arithmetic.precision &&
        problem.solve.refine == arithmetic.refine && backward_error(result)) {
      return &result;
    }
  }
  return nullptr;
}

// The case against, or for, a less safe pivoting than that of `best`.
std::string about_pivoting(const std::vector<Result>& results, const Result& best, int wanted) {
  const Problem& problem = best.what.problem;
  const Arithmetic arithmetic{problem.dense.precision, problem.solve.refine};
  if (problem.dense.pivot == Pivot::none) return {};
  if (problem.dense.pivot != Pivot::partial) {
    const Result* partial = find(results, Pivot::partial, arithmetic);
    if (!partial) return {};
    return "; with partial pivoting the backward error is " + two_digits(*backward_error(*partial));
  }
  const Result* none = find(results, Pivot::none, arithmetic);
  if (!none) return {};
  if (is_possible(*none, results) && digits_or_0(*none) >= wanted) {
    return "; this matrix would not need pivoting";
  }
  return "; without pivoting the backward error is " + two_digits(*backward_error(*none));
}

// What the factors of mixed precision are, where that does not go without saying.
std::string about_factors(const Result& best) {
  if (!best.refinement || !is_mixed(best)) return {};
  switch (best.refinement->factors) {
    case FactorArithmetic::half_products:
      return ", from factors with products in half precision";
    case FactorArithmetic::local_pivots:
    case FactorArithmetic::single_precision:
      return {};
    case FactorArithmetic::double_precision:
      return ", from factors in double after all";
  }
  return {};
}

// Why not single precision, where that is an alternative.
std::string about_single(const std::vector<Result>& results, const Result& best) {
  const Result* single = find(results, best.what.problem.dense.pivot, Precision::single_precision);
  if (!single || single == &best || !is_stable(*single)) return {};
  return "; single precision guarantees " + count(digits_or_0(*single));
}

// Why there is nothing to recommend.
Advice no_advice(const std::vector<Result>& results) {
  const auto any = [&](auto... statuses) {
    return std::any_of(results.begin(), results.end(),
                       [&](const Result& result) { return ((result.status == statuses) || ...); });
  };
  const bool skipped = any(RunStatus::skipped);
  Advice advice;
  advice.finished = any(RunStatus::ok, RunStatus::failed);
  if (advice.finished) {
    advice.sentence = std::string("No run ") +
                      (skipped ? "that finished within the timeout " : "") +
                      "was backward stable: do not trust a solution of this system.";
  } else if (skipped) {
    advice.sentence =
        "No run finished within the timeout, so that nothing is known about this system; allow "
        "more time with --timeout.";
  } else {
    advice.sentence = "No run finished: " + (results.empty() ? "" : results.front().reason);
  }
  return advice;
}

// Every pivoting, partial first and none next: they are the quickest.
std::vector<Pivot> pivots_to_try() {
  std::vector<Pivot> pivots = {Pivot::partial};
  for (const PivotRule& rule : pivot_rules()) {
    if (rule.pivot != Pivot::partial) pivots.push_back(rule.pivot);
  }
  return pivots;
}

}  // namespace

std::vector<Case> advice_cases(const Device& device, std::size_t n, std::size_t nrhs,
                               const std::string& matrix, const PathRecords& records) {
  std::vector<Case> cases;
  const Arithmetic arithmetics[] = {Precision::single_precision,
                                    Precision::double_precision,
                                    {Precision::single_precision, Refine::mixed}};
  for (const auto& [precision, refine] : arithmetics) {
    if (precision == Precision::double_precision && !device.double_precision) continue;
    for (const Pivot pivot : pivots_to_try()) {
      Problem problem;
      problem.size = Size::square(n, nrhs);
      problem.dense.pivot = pivot;
      problem.dense.precision = precision;
      problem.solve.refine = refine;
      problem.dense.storage = automatic_storage(device);
      problem.dense.schedule = Schedule::fused;
      const Method& method = automatic_method(device, problem, std::nullopt, records);
      if (refine == Refine::mixed && !method.keeps_factors) continue;
      Case what;
      what.implementation = "lugpu";
      what.routine = method.name;
      what.problem = completed(problem, method, device, std::nullopt, 0, records);
      what.device = device.name;
      what.device_index = device.index;
      what.units = device.compute_units;
      what.matrix = matrix;
      cases.push_back(what);
    }
  }
  return cases;
}

std::optional<double> backward_error(const Result& result) {
  if (!result.checks.hpl_residual) return std::nullopt;
  return *result.checks.hpl_residual * static_cast<double>(result.what.problem.size.n) *
         epsilon(result);
}

std::optional<int> guaranteed_digits(const Result& result) {
  return result.checks.digits(working_precision(result.what.problem));
}

Advice advise(const std::vector<Result>& results, std::optional<int> digits) {
  if (is_singular(results)) {
    return {.sentence = "A is singular: every pivoting ends at a zero pivot.", .singular = true};
  }
  std::vector<const Result*> runs;
  for (const Result& result : results) {
    if (is_possible(result, results)) runs.push_back(&result);
  }
  if (runs.empty()) return no_advice(results);
  const auto safest = [](const Result* a, const Result* b) {
    return place(*a, false) < place(*b, false);
  };
  const auto fewer_digits = [&](const Result* a, const Result* b) {
    return digits_or_0(*a) != digits_or_0(*b) ? digits_or_0(*a) < digits_or_0(*b) : safest(b, a);
  };
  const Result* const reference = *std::min_element(runs.begin(), runs.end(), safest);
  const Result* const most = *std::max_element(runs.begin(), runs.end(), fewer_digits);
  Advice advice;
  advice.wanted = digits.value_or(digits_or_0(*reference));
  if (digits_or_0(*most) < advice.wanted) {
    const int at_most = digits_or_0(*most);
    advice.sentence =
        "No run guarantees " + count(*advice.wanted) + " of X" +
        (at_most == 0 ? ", or any at all."
                      : "; the most is " + count(at_most) + ", by " + options_of(*most) + ".");
    return advice;
  }
  std::erase_if(runs, [&](const Result* run) { return digits_or_0(*run) < *advice.wanted; });
  const Result* const best = *advice.wanted == 0 ? most : choose(runs, digits.has_value());
  advice.best = static_cast<std::size_t>(best - results.data());
  const int guaranteed = digits_or_0(*best);
  advice.sentence = "Use " + options_of(*best) + ": " +
                    (guaranteed == 0 ? "no run guarantees a digit of X, and this is the safest one"
                                     : "it guarantees " + count(guaranteed) + " of X") +
                    (digits ? " (" + std::to_string(*digits) + " wanted)" : "") +
                    ", with a backward error of " + two_digits(*backward_error(*best)) +
                    about_factors(*best) + about_pivoting(results, *best, *advice.wanted) +
                    (guaranteed == 0 ? "" : about_single(results, *best)) + ".";
  return advice;
}

}  // namespace lugpu
