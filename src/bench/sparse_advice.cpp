#include "bench/sparse_advice.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "bench/sweep.hpp"
#include "solve/diagnosis.hpp"

namespace lugpu {
namespace {

// A run is clearly slower than another if it takes more than this many times as long and this many
// seconds longer.
constexpr double kTimesLonger = 4;
constexpr double kSecondsLonger = 0.1;

Precision precision_of(const StructuredResult& result) {
  return result.what.options.precision;
}

// In seconds, of an ok result.
double total(const StructuredResult& result) {
  return result.total(static_cast<double>(result.what.options.nrhs));
}

bool is_direct(const StructuredResult& result) {
  return structured_method(result.what.routine)->direct;
}

bool is_chosen(const StructuredResult& result, const AutomaticChoice& choice) {
  return choice.plan.method && result.what.routine == choice.plan.method->name;
}

class Advising {
 public:
  Advising(const std::vector<StructuredResult>& results, const AutomaticChoice& choice,
           std::optional<int> digits)
      : results_(results), choice_(choice), digits_(digits) {}

  // Those that are good enough.
  std::vector<const StructuredResult*> enough() const {
    std::vector<const StructuredResult*> runs;
    for (const StructuredResult& result : results_) {
      if (is_enough(result)) runs.push_back(&result);
    }
    return runs;
  }

  Advice advise() const {
    if (const auto pivot = zero_pivot()) {
      return {.sentence = "A is singular: pivot " + std::to_string(*pivot) + " is exactly zero.",
              .singular = true};
    }
    const std::vector<const StructuredResult*> runs = enough();
    Advice advice = runs.empty() ? nothing() : recommended(choose(runs));
    advice.wanted = digits_;
    return advice;
  }

 private:
  double tolerance() const { return choice_.plan.options.rule.tolerance; }
  bool is_highest(const StructuredResult& result) const {
    return precision_of(result) == choice_.plan.options.precision;
  }

  bool is_enough(const StructuredResult& result) const {
    if (result.status != RunStatus::ok) return false;
    if (is_highest(result) && is_direct(result) && !digits_) return true;
    // A smaller residual than this is an accident of an X that the precision holds exactly, as
    // ones.
    const double least = is_highest(result) ? 0 : epsilon(precision_of(result));
    return tolerance() >= least && *result.residual <= kResidualSlack * tolerance();
  }

  // The pivot at which direct methods of the highest precision ended, if none found an X.
  std::optional<int> zero_pivot() const {
    std::optional<int> pivot;
    for (const StructuredResult& result : results_) {
      if (!is_direct(result) || !is_highest(result)) continue;
      if (result.residual) return {};
      if (result.iteration.info > 0) pivot = result.iteration.info;
    }
    return pivot;
  }

  // The place in the order in which runs are taken: methods as they were tried.
  std::size_t place(const StructuredResult& result) const {
    const auto first = std::find_if(
        results_.begin(), results_.end(),
        [&](const StructuredResult& one) { return one.what.routine == result.what.routine; });
    const bool later =
        digits_ ? precision_of(result) == Precision::double_precision : !is_highest(result);
    return 2 * static_cast<std::size_t>(first - results_.begin()) + later;
  }

  const StructuredResult& choose(const std::vector<const StructuredResult*>& runs) const {
    double least = INFINITY;
    for (const StructuredResult* run : runs) least = std::min(least, total(*run));
    const StructuredResult* best = nullptr;
    for (const StructuredResult* run : runs) {
      if (total(*run) > kTimesLonger * least && total(*run) > least + kSecondsLonger) continue;
      if (!best || place(*run) < place(*best)) best = run;
    }
    return *best;
  }

  Advice recommended(const StructuredResult& best) const {
    Advice advice;
    advice.best = static_cast<std::size_t>(&best - results_.data());
    advice.sentence =
        "Use " + options_of(best) + ": it leaves a residual of " + short_number(*best.residual) +
        (digits_ ? " (" + short_number(tolerance()) + " wanted)" : "") + about_choice(best) + ".";
    return advice;
  }

  std::string options_of(const StructuredResult& result) const {
    return "--method " + result.what.routine + " --precision " + name(precision_of(result)) +
           (is_direct(result) ? "" : " --tolerance " + short_number(tolerance()));
  }

  // What `solve` would do by itself, and what is wrong with it.
  std::string about_choice(const StructuredResult& best) const {
    const std::string& why = choice_.plan.why;
    if (!choice_.possible) return "; `solve` alone would refuse A: " + why;
    if (is_chosen(best, choice_)) return "; `solve` takes " + best.what.routine + " too: " + why;
    const StructuredResult* own = nullptr;
    for (const StructuredResult& result : results_) {
      if (is_chosen(result, choice_) && is_highest(result)) own = &result;
    }
    if (!own) return "";
    return "; `solve` alone would take " + own->what.routine + " because " + why + ", which " +
           (own->status == RunStatus::skipped ? "did not finish"
            : own->status != RunStatus::ok    ? "does not succeed"
            : is_enough(*own)
                ? "takes " + short_number(total(*own) / total(best)) + " times as long"
                : "leaves " + short_number(*own->residual));
  }

  Advice nothing() const {
    Advice advice;
    const StructuredResult* least = nullptr;
    bool skipped = false;
    advice.finished = false;
    for (const StructuredResult& result : results_) {
      skipped = skipped || result.status == RunStatus::skipped;
      if (!result.residual) continue;
      advice.finished = true;
      if (!least || *result.residual < *least->residual) least = &result;
    }
    const std::string wanted = "a residual of " + short_number(tolerance());
    if (least) {
      advice.sentence = std::string("No run ") + (skipped ? "within the timeout " : "") +
                        "reaches " + wanted + "; the least is " + short_number(*least->residual) +
                        ", by --method " + least->what.routine + " --precision " +
                        name(precision_of(*least)) + ".";
    } else if (skipped) {
      advice.sentence =
          "No run finished within the timeout, so that nothing is known about this system; allow "
          "more time with --timeout.";
    } else {
      advice.sentence = "No method can take this system.";
    }
    return advice;
  }

  const std::vector<StructuredResult>& results_;
  const AutomaticChoice& choice_;
  std::optional<int> digits_;
};

// max |x - solution| / |solution| of the first column.
double error_of(const Solution<double>& x, double solution) {
  double most = 0;
  for (std::size_t i = 0; i < x.n; ++i) {
    const double error = std::abs(x.x[i] / solution - 1);
    most = !(error <= most) ? error : most;
  }
  return most;
}

// By solve(), the second time if the first one may have waited for kernels.
Solution<double> solve_timed(DeviceContext& context, const SparsePlan& plan,
                             const AdvisedSystem& system, double limit_s) {
  if (!plan.method->direct) {
    SparsePlan few_steps = plan;
    few_steps.options.rule.iterations = 2;
    few_steps.check = false;
    lugpu::solve(context, few_steps, system.a, system.b);
  }
  context.deadline().set(limit_s);
  Solution<double> solution = lugpu::solve(context, plan, system.a, system.b);
  constexpr double kBuilding = 5;  // seconds at most
  if (!plan.method->direct || solution.phases_s.at("setup") > kBuilding) return solution;
  context.deadline().set(limit_s);
  return lugpu::solve(context, plan, system.a, system.b);
}

}  // namespace

AutomaticChoice automatic_choice(const Device& device, const Sparse& a, std::optional<int> digits) {
  Options options;
  if (digits) options.tolerance = std::pow(10.0, -*digits);
  try {
    return {true, make_plan(options, device, a)};
  } catch (const Unsupported& error) {
    return {false, {nullptr, structured_options(options, device), error.reason()}};
  }
}

std::vector<SparsePlan> advice_plans(const AutomaticChoice& choice, const Device& device) {
  std::vector<const StructuredMethod*> methods;
  if (choice.plan.method) methods.push_back(choice.plan.method);
  for (const StructuredMethod& method : structured_methods()) {
    if (&method != choice.plan.method) methods.push_back(&method);
  }
  std::vector<SparsePlan> plans;
  for (const StructuredMethod* method : methods) {
    for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
      if (precision == Precision::double_precision && !device.double_precision) continue;
      plans.push_back({method, choice.plan.options, ""});
      plans.back().options.precision = precision;
    }
  }
  return plans;
}

double advice_limit(const std::vector<StructuredResult>& results, const AutomaticChoice& choice,
                    std::optional<int> digits, double timeout_s) {
  // Twice what is clearly slower, and kernels may have to be built.
  constexpr double kOfUse = 2 * kTimesLonger, kLeast = 4;
  double limit = timeout_s;
  for (const StructuredResult* run : Advising(results, choice, digits).enough()) {
    limit = std::min(limit, std::max(kLeast, kOfUse * total(*run)));
  }
  return limit;
}

StructuredResult try_plan(DeviceContext& context, const SparsePlan& plan,
                          const AdvisedSystem& system, double limit_s) {
  StructuredResult result;
  result.what = case_of(plan, system.matrix, context.device());
  result.what.options.nrhs = system.b.cols();
  result.unknowns = system.a.rows();
  try {
    plan.method->require(system.a, plan.options);
  } catch (const Unsupported& error) {
    result.status = RunStatus::unsupported;
    result.reason = error.reason() + ".";
    return result;
  }
  context.deadline().set(INFINITY);
  attempt_into(result, {}, [&] {
    const Solution<double> solution = solve_timed(context, plan, system, limit_s);
    result = record_of(result.what, solution);
    if (solution.diagnosis.reason) result.reason = solution.diagnosis.reason->reason + ".";
    if (std::isfinite(system.solution) && !solution.x.empty()) {
      result.error = error_of(solution, system.solution);
    }
  });
  context.deadline().set(INFINITY);
  if (result.status == RunStatus::skipped) {
    result.reason = "it did not finish within " + short_number(limit_s) + " s.";
  }
  return result;
}

Advice advise(const std::vector<StructuredResult>& results, const AutomaticChoice& choice,
              std::optional<int> digits) {
  return Advising(results, choice, digits).advise();
}

}  // namespace lugpu
