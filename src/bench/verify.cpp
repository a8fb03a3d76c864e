#include "bench/verify.hpp"

#include <algorithm>
#include <cmath>

namespace lugpu {
namespace {

// By the kinds of generate().
struct MatrixType {
  const char* in_single;
  const char* in_double;
  bool needs_pivoting;
};
constexpr MatrixType kTypes[] = {
    {"diagonal", "diagonal", false},
    {"upper", "upper", false},
    {"lower", "lower", false},
    {"well-conditioned", "well-conditioned", true},
    {"dominant", "dominant", false},
    {"zero-first-column", "zero-first-column", false},
    {"zero-last-column", "zero-last-column", true},
    {"zero-half-columns", "zero-half-columns", true},
    {"ill-conditioned-single", "ill-conditioned", true},
    {"very-ill-conditioned-single", "very-ill-conditioned", true},
    {"near-underflow", "near-underflow-double", true},
    {"near-overflow", "near-overflow-double", true},
    {"permuted", "permuted", true},
};

// info of a matrix of this kind: partial pivoting meets the first zero column when its turn comes,
// pivoting that exchanges columns when all others are done.
int expected_info(const Case& what) {
  const std::size_t n = what.problem.n;
  const bool columns = exchanges_columns(what.problem.pivot);
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

void judge(Result& result) {
  if (result.status != Status::ok && result.status != Status::failed) return;
  // After a zero pivot, what is left of the matrix needs pivoting.
  const bool unfair = result.what.problem.pivot == Pivot::none && result.checks.info > 0;
  if (unfair) result.checks.factor_ratio.reset();
  result.reason = fault(result);
  result.status = result.reason.empty() ? Status::ok : Status::failed;
}

void add(const Result& result, Verdict& verdict) {
  if (result.status == Status::unsupported) {
    if (verdict.systems == 0) verdict.status = Status::unsupported;
    if (verdict.reason.empty()) verdict.reason = result.reason;
    return;
  }
  ++verdict.systems;
  if (result.status == Status::ok) {
    if (verdict.wrong == 0) verdict.status = Status::ok, verdict.reason.clear();
    verdict.largest_ratio = std::max({verdict.largest_ratio, result.checks.factor_ratio.value_or(0),
                                      result.checks.solve_ratio.value_or(0)});
    return;
  }
  if (verdict.wrong++ > 0) return;
  verdict.status = result.status == Status::failed ? Status::failed : Status::error;
  verdict.reason = result.what.matrix + " of n = " + std::to_string(result.what.problem.n) + ": " +
                   result.reason;
}

}  // namespace

std::vector<std::string> Verification::failed_paths() const {
  std::vector<std::string> names;
  for (const Verdict& verdict : paths) {
    if (verdict.wrong > 0) names.push_back(verdict.name);
  }
  return names;
}

std::vector<Case> verification_cases(const Device& device, bool thorough) {
  SweepPlan plan;
  plan.sizes = {1, 2, 3, 33, 66};
  plan.nbs = {64};
  if (thorough) {
    plan.sizes = {1, 2, 3, 5, 10, 31, 32, 33, 50, 63, 64, 65, 127, 128, 129, 132, 260};
    plan.nbs = {64, 128, 192, 256, 384};
  }
  for (const Method& method : methods()) plan.methods.push_back(method.name);
  plan.storages = {Storage::buffer, Storage::image};
  plan.texels = {Texel::r, Texel::rgba};
  plan.schedules = {Schedule::fused, Schedule::paper};
  plan.nrhs = 2;

  std::vector<Case> cases;
  for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
    for (const MatrixType& type : kTypes) {
      plan.precisions = {precision};
      plan.matrix = precision == Precision::double_precision ? type.in_double : type.in_single;
      plan.pivots = {Pivot::partial, Pivot::rook, Pivot::full};
      if (!type.needs_pivoting) plan.pivots.insert(plan.pivots.begin(), Pivot::none);
      const std::vector<Case> more = cases_of(plan, {device});
      cases.insert(cases.end(), more.begin(), more.end());
    }
  }
  return cases;
}

Verification verify(const std::vector<Case>& cases, std::vector<DeviceContext>& contexts,
                    const std::function<void(const Case&)>& begun) {
  Verification verification;
  SweepPlan plan;
  plan.effort = {
      .warmup = 0, .runs = 0, .min_time_s = 0, .timeout_s = INFINITY, .build_first = false};
  const auto wanted = [&](const Case& what) {
    begun(what);
    return true;
  };
  run_sweep(plan, cases, contexts, wanted, [&](Result result) {
    judge(result);
    const std::string name = path_name(find_method(result.what.routine), result.what.problem);
    auto& paths = verification.paths;
    auto found = std::find_if(paths.begin(), paths.end(),
                              [&](const Verdict& verdict) { return verdict.name == name; });
    if (found == paths.end()) {
      found = paths.emplace(paths.end());
      found->path = result.what;
      found->name = name;
    }
    add(result, *found);
    if (result.status != Status::ok && result.status != Status::unsupported) {
      verification.wrong.push_back(std::move(result));
    }
  });
  return verification;
}

nlohmann::json to_json(const Verdict& verdict) {
  const Case& path = verdict.path;
  const bool blocked = path.problem.nb > 0;
  return {
      {"routine", path.routine},
      {"pivot", name(path.problem.pivot)},
      {"precision", name(path.problem.precision)},
      {"storage", name(path.problem.storage)},
      {"texel", name(path.problem.texel)},
      {"schedule", blocked ? nlohmann::json(nullptr) : nlohmann::json(name(path.problem.schedule))},
      {"device", *path.device},
      {"systems", verdict.systems},
      {"wrong", verdict.wrong},
      {"largest_ratio", verdict.largest_ratio},
      {"status", name(verdict.status)},
      {"reason", verdict.reason}};
}

}  // namespace lugpu
