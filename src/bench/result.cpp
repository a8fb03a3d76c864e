#include "bench/result.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "baselines/baselines.hpp"
#include "bench/statistics.hpp"
#include "bench/wording.hpp"
#include "distributed/crew.hpp"

namespace lugpu {
namespace {

using nlohmann::json;

template <typename T>
json value_or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json to_json(const std::vector<double>& values) {
  json list = json::array();
  for (const double value : values) list.push_back(number_or_null(value));
  return list;
}

json to_json(const Refinement& refinement) {
  const bool fell_back = !refinement.fallback.empty();
  json given_up = json::array();
  for (const auto& [factors, failure] : refinement.given_up) {
    given_up.push_back({{"factors", name(factors)}, {"reason", failure}});
  }
  return {{"steps", refinement.steps},
          {"residuals", refinement.residuals_on_device ? "device" : "host"},
          {"converged", refinement.converged},
          {"factors", name(refinement.factors)},
          {"given_up", given_up},
          {"fallback", fell_back ? json(refinement.fallback) : json(nullptr)}};
}

json to_json(const Scaling& equilibration) {
  return {{"rows", !equilibration.r.empty()},
          {"columns", !equilibration.c.empty()},
          {"rowcnd", equilibration.rowcnd},
          {"colcnd", equilibration.colcnd},
          {"amax", number_or_null(equilibration.amax)}};
}

json to_json(const Determinant& determinant) {
  return {{"mantissa", number_or_null(determinant.mantissa)}, {"exponent", determinant.exponent}};
}

json to_json(const Checks& checks, Precision precision_of_x) {
  return {{"factor_ratio", number_or_null(checks.factor_ratio)},
          {"factor_ratio_estimated", checks.factor_ratio_estimated},
          {"solve_ratio", number_or_null(checks.solve_ratio)},
          {"hpl_residual", number_or_null(checks.hpl_residual)},
          {"growth", number_or_null(checks.growth)},
          {"rcond", number_or_null(checks.rcond)},
          {"rcond_at_most", number_or_null(checks.rcond_at_most)},
          {"berr", to_json(checks.berr)},
          {"ferr", to_json(checks.ferr)},
          {"digits", value_or_null(checks.digits(precision_of_x))},
          {"info", checks.info}};
}

}  // namespace

json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json(nullptr);
}

const char* name(RunStatus status) {
  switch (status) {
    case RunStatus::ok:
      return "ok";
    case RunStatus::failed:
      return "failed";
    case RunStatus::unsupported:
      return "unsupported";
    case RunStatus::skipped:
      return "skipped";
    case RunStatus::unknown:
      return "unknown";
    case RunStatus::error:
      break;
  }
  return "error";
}

std::span<const char* const> case_fields() {
  static constexpr const char* kFields[] = {
      "implementation", "routine",       "pivot",  "precision",     "storage",
      "texel",          "schedule",      "device", "compute_units", "devices_used",
      "processes",      "device_memory", "n",      "nrhs",          "nb",
      "threads",        "seed",          "matrix"};
  return kFields;
}

bool is_of_best_threads(const json& row) {
  return row.value("threads_tried", json()).is_array();
}

bool same_case(const json& a, const json& b) {
  const bool of_best = is_of_best_threads(a) && is_of_best_threads(b);
  return std::ranges::all_of(case_fields(), [&](const char* key) {
    const std::string_view field = key;
    if (of_best && field == "threads") return true;
    // Files of 0.2.0 lack these.
    const bool later = field == "devices_used" || field == "processes" || field == "device_memory";
    if (!later && !(a.contains(key) && b.contains(key))) return false;
    return a.value(key, json()) == b.value(key, json());
  });
}

json to_json(const Case& what) {
  const bool on_host = !what.device;
  const bool lugpu = what.device && !what.is_baseline();
  const Method* method = lugpu ? &find_method(what.routine) : nullptr;
  const bool blocked = method && method->block_size;
  const DenseOptions& dense = what.problem.dense;
  return {
      {"implementation", what.implementation},
      {"routine", what.routine},
      {"pivot", name(what.problem.dense.pivot)},
      {"precision", precision_name(what.problem)},
      {"storage", on_host ? "host" : name(what.problem.dense.storage)},
      {"texel", lugpu ? json(name(what.problem.dense.texel)) : json(nullptr)},
      {"schedule",
       method && method->has_schedules ? json(name(what.problem.dense.schedule)) : json(nullptr)},
      {"device", value_or_null(what.device)},
      {"compute_units", value_or_null(what.units)},
      {"devices_used", dense.shared() ? json(device_count(dense)) : json(nullptr)},
      {"processes", dense.crew ? json(process_count(dense)) : json(nullptr)},
      {"device_memory", value_or_null(what.device_memory)},
      {"windows", value_or_null(what.windows)},
      {"n", what.problem.size.n},
      {"nrhs", what.problem.size.nrhs},
      {"nb", blocked ? json(what.problem.dense.nb) : json(nullptr)},
      {"threads", value_or_null(what.threads)},
      {"threads_tried", what.threads_to_try.empty() ? json(nullptr) : json(what.threads_to_try)},
      {"seed", what.seed},
      {"matrix", what.matrix}};
}

namespace {

const FlopFormula& formula_of(const Case& what) {
  return what.is_baseline() ? find_baseline(what.routine).flops : find_method(what.routine).flops;
}

}  // namespace

void set_work(const Method& method, Result& result) {
  const Problem& problem = result.what.problem;
  const WorkModel work = method.work(problem.size.n);
  result.counters["elements_updated"] = work.elements_updated;
  result.counters["bytes_model"] =
      work.bytes * element_size(problem.dense.precision) / sizeof(float);
}

void set_diagnosis(const Diagnosis& diagnosis, Result& result) {
  const bool solved = diagnosis.status == Status::ok || diagnosis.status == Status::unchecked;
  result.status = solved ? RunStatus::ok : RunStatus::failed;
  if (diagnosis.reason) result.reason = words(*diagnosis.reason);
  for (const Warning& warning : diagnosis.warnings) result.warnings.push_back(words(warning));
}

Result record_of(const Case& what, const Report& report) {
  Result result;
  result.what = what;
  result.choice = report.why;
  result.checks = report.checks;
  result.refinement = report.refinement;
  result.equilibration = report.equilibration;
  result.determinant = report.determinant;
  result.phases_s = report.phases_s;
  result.counters = report.counters;
  const auto seconds = [&](const char* phase) {
    const auto found = report.phases_s.find(phase);
    return found == report.phases_s.end() ? 0 : found->second;
  };
  const bool mixed = what.problem.solve.refine == Refine::mixed;
  result.times_s = {seconds("factor") + (mixed ? seconds("solve") : 0)};
  if (report.phases_s.contains("download")) {
    result.phases_s["total"] =
        seconds("upload") + seconds("factor") + seconds("solve") + seconds("download");
  }
  set_work(find_method(what.routine), result);
  set_diagnosis(report.diagnosis, result);
  return result;
}

double operations(const Result& result) {
  return formula_of(result.what).count(static_cast<double>(result.what.problem.size.n));
}

double gflops(const Result& result) {
  return operations(result) / median(result.times_s) * 1e-9;
}

bool clocks_disagree(const Result& result) {
  constexpr double kShare = 0.1, kLaunch = 20e-6;
  if (!result.profiled_s || result.device_times_s.empty()) return false;
  const auto launches = result.counters.find("kernel_launches");
  const double count =
      launches == result.counters.end() ? 1 : static_cast<double>(launches->second);
  const double difference = std::abs(*result.profiled_s - result.device_times_s.front());
  return difference > std::max(kShare * *result.profiled_s, kLaunch * count);
}

void add_statistics(const std::vector<double>& times_s, bool timed, json& row) {
  for (const char* field :
       {"median_s", "min_s", "rel_stdev", "rel_mad", "median_interval_s", "outliers"}) {
    row[field] = nullptr;
  }
  if (!timed) return;
  row["median_s"] = median(times_s);
  row["min_s"] = *std::min_element(times_s.begin(), times_s.end());
  row["rel_stdev"] = relative_deviation(times_s);
  row["rel_mad"] = relative_median_deviation(times_s);
  row["outliers"] = outliers(times_s);
  if (const auto interval = median_interval(times_s)) {
    row["median_interval_s"] = {interval->low, interval->high};
  }
}

json to_json(const Result& result) {
  json row = to_json(result.what);
  const bool timed = result.status == RunStatus::ok && !result.times_s.empty();
  row["variant"] = value_or_null(result.variant);
  row["choice"] = result.choice.empty() ? json(nullptr) : json(result.choice);
  row["times_s"] = result.times_s;
  row["device_times_s"] = result.device_times_s;
  row["profiled_s"] = value_or_null(result.profiled_s);
  add_statistics(result.times_s, timed, row);
  row["energy_j"] = value_or_null(result.energy_j);
  const bool has_energy = timed && result.energy_j;
  row["gflops_per_watt"] = has_energy ? json(operations(result) * 1e-9 / *result.energy_j) : json();
  row["other_load"] = value_or_null(result.other_load);
  row["gflops"] = timed ? json(gflops(result)) : json(nullptr);
  row["flop_formula"] = formula_of(result.what).text;
  row["phases_s"] = result.phases_s;
  row["counters"] = result.counters;
  row["rates"] = nullptr;
  row["checks"] = to_json(result.checks, working_precision(result.what.problem));
  row["refinement"] = result.refinement ? to_json(*result.refinement) : json(nullptr);
  row["equilibration"] = result.equilibration ? to_json(*result.equilibration) : json(nullptr);
  row["determinant"] = result.determinant ? to_json(*result.determinant) : json(nullptr);
  row["status"] = name(result.status);
  row["reason"] = result.reason;
  row["warnings"] = result.warnings;
  return row;
}

}  // namespace lugpu
