#include "bench/tune.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "bench/statistics.hpp"
#include "solve/methods.hpp"

namespace lugpu {
namespace {

constexpr double kGain = 1.03;  // that it takes to leave the default

TunedVariant variant_of(const Result& result) {
  const Problem& problem = result.what.problem;
  return {result.what.units.value_or(0),
          result.what.routine,
          problem.dense.pivot,
          problem.dense.precision,
          problem.size.n,
          problem.dense.texel,
          problem.dense.nb,
          median(result.times_s)};
}

bool rival_variants(const Result& a, const Result& b) {
  const Problem &one = a.what.problem, &other = b.what.problem;
  return a.what.routine == b.what.routine && one.size.n == other.size.n &&
         one.dense.pivot == other.dense.pivot && one.dense.precision == other.dense.precision;
}

bool clearly_faster(const Result& a, const Result& b) {
  return kGain * median(a.times_s) < median(b.times_s) &&
         kGain * std::ranges::min(a.times_s) < std::ranges::min(b.times_s);
}

}  // namespace

SweepPlan tuning_plan(const Device& device, std::size_t n) {
  SweepPlan plan;
  plan.sizes = {n};
  for (const Method& method : methods()) {
    if (method.keeps_factors) plan.methods.push_back(method.name);
  }
  plan.pivots = {Pivot::none, Pivot::partial, Pivot::full};
  plan.precisions = {Precision::single_precision};
  if (device.double_precision) plan.precisions.push_back(Precision::double_precision);
  plan.storages = {Storage::buffer};
  plan.texels = {std::nullopt, Texel::r, Texel::rgba};
  plan.nbs = {0};
  for (const std::size_t nb : {32, 64, 96, 128, 192, 256, 384, 768}) {
    const bool possible = 2 * nb <= n && (nb <= 384 || device.type != "cpu");
    if (possible) plan.nbs.push_back(nb);
  }
  plan.effort.runs = 3;
  plan.effort.min_time_s = 0.05;
  plan.effort.timeout_s = 5;
  plan.effort.check_factors = n <= 1024;
  return plan;
}

std::vector<Case> tuning_cases(const SweepPlan& plan, const Device& device) {
  std::vector<Case> cases = cases_of(plan, {device});
  std::set<std::tuple<std::string, Precision, std::size_t>> seen;
  std::erase_if(cases, [&](const Case& what) {
    const Method& method = find_method(what.routine);
    const DenseOptions& dense = what.problem.dense;
    if (!seen.emplace(path_name(method, what.problem), dense.precision, dense.nb).second) {
      return true;
    }
    try {
      require_possible(device, method, what.problem);
    } catch (const Unsupported&) {
      return true;
    }
    return false;
  });
  return cases;
}

Tuning fastest_variants(const std::vector<Result>& results) {
  std::vector<const Result*> fastest;
  for (const Result& result : results) {
    if (result.status != RunStatus::ok) continue;
    const auto found = std::ranges::find_if(
        fastest, [&](const Result* other) { return rival_variants(result, *other); });
    if (found == fastest.end()) {
      fastest.push_back(&result);
    } else if (clearly_faster(result, **found)) {
      *found = &result;
    }
  }
  Tuning tuning;
  for (const Result* result : fastest) tuning.push_back(variant_of(*result));
  return tuning;
}

}  // namespace lugpu
