#include "bench/result.hpp"

#include <algorithm>
#include <cmath>

#include "bench/statistics.hpp"

namespace lugpu {
namespace {

using nlohmann::json;

template <typename T>
json value_or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

// JSON has no NaN and no infinity.
json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json(nullptr);
}

json to_json(const std::vector<double>& values) {
  json list = json::array();
  for (const double value : values) list.push_back(number_or_null(value));
  return list;
}

json to_json(const Refinement& refinement) {
  const bool fell_back = !refinement.fallback.empty();
  return {{"steps", refinement.steps},
          {"gmres_steps", refinement.gmres_steps},
          {"residuals", refinement.residuals_on_device ? "device" : "host"},
          {"converged", refinement.converged},
          {"fallback", fell_back ? json(refinement.fallback) : json(nullptr)}};
}

json to_json(const Equilibration& equilibration) {
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

json to_json(const Case& what) {
  const bool on_host = !what.device;
  const bool has_surfaces = what.device && !what.is_baseline();
  const bool blocked = what.problem.nb > 0;
  return {
      {"implementation", what.implementation},
      {"routine", what.routine},
      {"pivot", name(what.problem.pivot)},
      {"precision", precision_name(what.problem)},
      {"storage", on_host ? "host" : name(what.problem.storage)},
      {"texel", has_surfaces ? json(name(what.problem.texel)) : json(nullptr)},
      {"schedule", has_surfaces && !blocked ? json(name(what.problem.schedule)) : json(nullptr)},
      {"device", value_or_null(what.device)},
      {"n", what.problem.n},
      {"nrhs", what.problem.nrhs},
      {"nb", blocked ? json(what.problem.nb) : json(nullptr)},
      {"threads", value_or_null(what.threads)},
      {"seed", what.seed},
      {"matrix", what.matrix}};
}

}  // namespace

const char* name(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::failed:
      return "failed";
    case Status::unsupported:
      return "unsupported";
    case Status::skipped:
      return "skipped";
    case Status::unknown:
      return "unknown";
    case Status::error:
      break;
  }
  return "error";
}

bool same_case(const json& a, const json& b) {
  static const char* const keys[] = {
      "implementation", "routine", "pivot", "precision", "storage", "texel", "schedule",
      "device",         "n",       "nrhs",  "nb",        "threads", "seed",  "matrix"};
  return std::all_of(std::begin(keys), std::end(keys), [&](const char* key) {
    return a.contains(key) && b.contains(key) && a.at(key) == b.at(key);
  });
}

double gflops(const Result& result) {
  const double n = static_cast<double>(result.what.problem.n);
  return 2.0 / 3.0 * n * n * n / median(result.times_s) * 1e-9;
}

json to_json(const Result& result) {
  json row = to_json(result.what);
  const bool timed = result.status == Status::ok && !result.times_s.empty();
  row["variant"] = value_or_null(result.variant);
  row["times_s"] = result.times_s;
  row["device_times_s"] = result.device_times_s;
  row["median_s"] = timed ? json(median(result.times_s)) : json(nullptr);
  row["min_s"] =
      timed ? json(*std::min_element(result.times_s.begin(), result.times_s.end())) : json(nullptr);
  row["rel_stdev"] = timed ? json(relative_deviation(result.times_s)) : json(nullptr);
  row["gflops"] = timed ? json(gflops(result)) : json(nullptr);
  row["flop_formula"] = "2/3 n^3";
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
