#include "bench/verify.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace lugpu {
namespace {

// By the kinds of generate().
struct MatrixType {
  const char* in_single;
  const char* in_double;
  bool needs_pivoting;
  bool is_full = false;  // every element counts, to the last step
};
constexpr MatrixType kTypes[] = {
    {"diagonal", "diagonal", false},
    {"upper", "upper", false},
    {"lower", "lower", false},
    {"well-conditioned", "well-conditioned", true, true},
    {"dominant", "dominant", false, true},
    {"zero-first-column", "zero-first-column", false},
    {"zero-last-column", "zero-last-column", true},
    {"zero-half-columns", "zero-half-columns", true},
    {"ill-conditioned-single", "ill-conditioned", true},
    {"very-ill-conditioned-single", "very-ill-conditioned", true},
    {"near-underflow", "near-underflow-double", true},
    {"near-overflow", "near-overflow-double", true},
    {"permuted", "permuted", true, true},
};

// info of a matrix of this kind: partial pivoting meets the first zero column when its turn comes,
// pivoting that exchanges columns when all others are done.
int expected_info(const Case& what) {
  const std::size_t n = what.problem.size.n;
  const bool columns = exchanges_columns(what.problem.dense.pivot);
  if (what.matrix == "zero-first-column") return columns ? static_cast<int>(n) : 1;
  if (what.matrix == "zero-last-column") return static_cast<int>(n);
  if (what.matrix == "zero-half-columns") return static_cast<int>(n / 2 + 1);
  return 0;
}

// What is wrong with a result that ran; empty if nothing.
std::string fault(const Result& result) {
  const int expected = expected_info(result.what);
  if (result.checks.info != expected) {
    return "info is " + std::to_string(result.checks.info) + ", not " + std::to_string(expected);
  }
  return result.checks.failure();
}

Finding judge(Result result) {
  if (result.status == RunStatus::ok || result.status == RunStatus::failed) {
    // After a zero pivot, what is left of the matrix needs pivoting.
    const bool unfair = !exchanges_rows(result.what.problem.dense.pivot) && result.checks.info > 0;
    if (unfair) result.checks.factor_ratio.reset();
    result.reason = fault(result);
    result.status = result.reason.empty() ? RunStatus::ok : RunStatus::failed;
  }
  if (!result.tried) return {RunStatus::unknown, result.reason, 0, nullptr};
  const bool right = result.status == RunStatus::ok;
  const double largest =
      std::max(result.checks.factor_ratio.value_or(0), result.checks.solve_ratio.value_or(0));
  const bool wrong = !right && result.status != RunStatus::unsupported;
  return {result.status, result.reason, right ? largest : 0,
          wrong ? to_json(result) : nlohmann::json()};
}

std::string path_of(const Case& what) {
  return path_name(find_method(what.routine), what.problem);
}

Verdict& verdict_on(const Case& what, std::vector<Verdict>& paths) {
  const std::string name = path_of(what);
  const auto found = std::find_if(paths.begin(), paths.end(),
                                  [&](const Verdict& verdict) { return verdict.name == name; });
  if (found != paths.end()) return *found;
  Verdict verdict;
  verdict.path = what;
  verdict.name = name;
  return paths.emplace_back(std::move(verdict));
}

}  // namespace

void Verification::add(const Case& what, const Finding& finding) {
  Verdict& verdict = verdict_on(what, paths);
  const auto say = [&](const std::string& reason) {
    verdict.status = finding.status;
    verdict.reason = reason;
  };
  switch (finding.status) {
    case RunStatus::skipped:
    case RunStatus::unsupported:
      if (verdict.systems == 0 && verdict.status == RunStatus::ok) say(finding.reason);
      return;
    case RunStatus::unknown:
      if (verdict.wrong == 0 && verdict.status != RunStatus::unknown) say(finding.reason);
      return;
    case RunStatus::ok:
      ++verdict.systems;
      if (verdict.status == RunStatus::unsupported) say("");
      verdict.largest_ratio = std::max(verdict.largest_ratio, finding.largest_ratio);
      return;
    case RunStatus::failed:
    case RunStatus::error:
      ++verdict.systems;
      wrong.push_back(finding.record);
      if (verdict.wrong++ > 0) return;
      say(what.matrix + " of n = " + std::to_string(what.problem.size.n) + ": " + finding.reason);
  }
}

std::vector<std::string> Verification::failed_paths() const {
  std::vector<std::string> names;
  for (const Verdict& verdict : paths) {
    if (verdict.wrong > 0) names.push_back(verdict.name);
  }
  return names;
}

std::vector<const Verdict*> Verification::unknown_paths() const {
  std::vector<const Verdict*> found;
  for (const Verdict& verdict : paths) {
    if (verdict.status == RunStatus::unknown) found.push_back(&verdict);
  }
  return found;
}

std::vector<Case> verification_cases(const Device& device, bool thorough) {
  SweepPlan plan;
  plan.nbs = {64};
  if (thorough) plan.nbs = {64, 128, 192, 256, 384};
  plan.storages = {Storage::buffer, Storage::image};
  plan.texels = {Texel::r, Texel::rgba};
  plan.schedules = {Schedule::fused, Schedule::paper};
  plan.nrhs = 2;

  std::vector<Case> cases;
  const auto add_cases = [&](const Arithmetic& arithmetic, const MatrixType& type) {
    const bool in_double = arithmetic != Arithmetic(Precision::single_precision);
    plan.precisions = {arithmetic};
    plan.matrix = in_double ? type.in_double : type.in_single;
    plan.pivots.clear();
    for (const PivotRule& rule : pivot_rules()) {
      if (rule.exchanges_rows || !type.needs_pivoting) plan.pivots.push_back(rule.pivot);
    }
    const std::vector<Case> more = cases_of(plan, {device});
    cases.insert(cases.end(), more.begin(), more.end());
  };
  for (const MatrixType& type : kTypes) {
    plan.sizes = {1, 2, 3, 10};
    if (type.is_full) plan.sizes = {1, 2, 3, 33, 66};
    if (thorough)
      plan.sizes = {1, 2, 3, 5, 10, 31, 32, 33, 50, 63, 64, 65, 127, 128, 129, 132, 260};
    plan.methods.clear();
    for (const Method& method : methods()) plan.methods.push_back(method.name);
    add_cases(Precision::single_precision, type);
    add_cases(Precision::double_precision, type);
    // What it falls back to needs double precision.
    plan.methods = {methods().front().name};
    if (device.double_precision) add_cases({Precision::single_precision, Refine::mixed}, type);
  }
  return cases;
}

std::size_t verification_part(const Case& what) {
  const Problem& problem = what.problem;
  const bool in_double = working_precision(problem) == Precision::double_precision;
  return (in_double ? 0 : 4) + (problem.dense.storage == Storage::image ? 0 : 2) +
         (problem.dense.texel == Texel::rgba ? 0 : 1);
}

void verify(const std::vector<Case>& cases, std::vector<DeviceContext>& contexts,
            const std::function<void(std::size_t)>& begun,
            const std::function<void(std::size_t, const Finding&)>& found) {
  SweepPlan plan;
  plan.effort = {
      .warmup = 0, .runs = 0, .min_time_s = 0, .timeout_s = INFINITY, .build_first = false};
  std::set<std::string> given_up;
  run_sweep(
      plan, cases, contexts,
      {.wanted = [&](const Case& what) { return !given_up.contains(path_of(what)); },
       .working = [&](const Case& what) { begun(static_cast<std::size_t>(&what - cases.data())); },
       .done =
           [&](const Result& result, std::size_t i) {
             if (!result.tried) given_up.insert(path_of(cases[i]));
             found(i, judge(result));
           }});
}

nlohmann::json to_json(const Verdict& verdict) {
  const Case& path = verdict.path;
  const bool has_schedules = find_method(path.routine).has_schedules;
  return {{"routine", path.routine},
          {"pivot", name(path.problem.dense.pivot)},
          {"precision", precision_name(path.problem)},
          {"storage", name(path.problem.dense.storage)},
          {"texel", name(path.problem.dense.texel)},
          {"schedule", has_schedules ? nlohmann::json(name(path.problem.dense.schedule))
                                     : nlohmann::json(nullptr)},
          {"device", *path.device},
          {"systems", verdict.systems},
          {"wrong", verdict.wrong},
          {"largest_ratio", verdict.largest_ratio},
          {"status", name(verdict.status)},
          {"reason", verdict.reason}};
}

}  // namespace lugpu
