#include "bench/structured_result.hpp"

#include <algorithm>

#include "bench/result.hpp"
#include "bench/statistics.hpp"
#include "bench/wording.hpp"
#include "opencl/element.hpp"

namespace lugpu {
namespace {

using nlohmann::json;

}  // namespace

double StructuredResult::total(double count) const {
  return *setup_s + count / static_cast<double>(what.options.nrhs) * median(times_s);
}

StructuredCase case_of(const SparsePlan& plan, const std::string& matrix, const Device& device) {
  StructuredCase what;
  what.matrix = matrix;
  what.implementation = "lugpu";
  what.routine = plan.method->name;
  what.options = plan.options;
  what.device = device.name;
  what.device_index = device.index;
  what.units = device.compute_units;
  return what;
}

StructuredResult record_of(const StructuredCase& what, const Solution<double>& solution) {
  StructuredResult result;
  result.what = what;
  result.what.routine = solution.method;
  result.what.options.nrhs = solution.nrhs;
  result.choice = solution.why;
  result.unknowns = solution.n;
  result.setup_s = solution.phases_s.at("setup");
  result.times_s = {solution.phases_s.at("solve")};
  result.iteration = {solution.iterations, false, solution.residuals, "", solution.checks.info};
  result.residual = solution.checks.residual;
  result.solve_ratio = solution.checks.solve_ratio;
  const bool solved = solution.diagnosis.status == Status::ok;
  result.status = solved ? RunStatus::ok : RunStatus::failed;
  if (solution.diagnosis.reason) result.reason = words(*solution.diagnosis.reason);
  return result;
}

std::span<const char* const> structured_case_fields() {
  static constexpr const char* kFields[] = {
      "problem",   "grid",      "matrix",         "implementation", "routine",
      "precision", "storage",   "device",         "compute_units",  "n",
      "nrhs",      "tolerance", "most_iterations"};
  return kFields;
}

bool same_structured_case(const json& a, const json& b) {
  return std::ranges::all_of(structured_case_fields(), [&](const char* key) {
    return a.contains(key) && b.contains(key) && a.at(key) == b.at(key);
  });
}

json to_json(const StructuredResult& result) {
  const StructuredCase& what = result.what;
  const bool timed = result.status == RunStatus::ok;
  const bool has_steps = !result.iteration.residuals.empty();
  json residuals = json::array();
  for (const double value : result.iteration.residuals) residuals.push_back(number_or_null(value));
  json row = {{"problem", what.problem.empty() ? json(nullptr) : json(what.problem)},
              {"grid", what.grid == 0 ? json(nullptr) : json(what.grid)},
              {"matrix", what.matrix.empty() ? json(nullptr) : json(what.matrix)},
              {"implementation", what.implementation},
              {"routine", what.routine},
              {"precision", name(what.options.precision)},
              {"storage", what.device ? name(what.options.storage) : "host"},
              {"device", what.device ? json(*what.device) : json(nullptr)},
              {"compute_units", what.units ? json(*what.units) : json(nullptr)},
              {"n", result.unknowns},
              {"nrhs", what.options.nrhs},
              {"tolerance", what.options.rule.tolerance},
              {"most_iterations", what.options.rule.iterations}};
  row["choice"] = result.choice.empty() ? json(nullptr) : json(result.choice);
  row["setup_s"] = timed ? number_or_null(result.setup_s) : json(nullptr);
  row["times_s"] = result.times_s;
  add_statistics(result.times_s, timed, row);
  row["other_load"] = result.other_load ? json(*result.other_load) : json(nullptr);
  row["iterations"] = has_steps ? json(result.iteration.iterations) : json(nullptr);
  row["residuals"] = residuals;
  row["checks"] = {{"residual", number_or_null(result.residual)},
                   {"error", number_or_null(result.error)},
                   {"solve_ratio", number_or_null(result.solve_ratio)}};
  row["bandwidth"] = result.bandwidth ? json{{"bytes_per_s", result.bandwidth->bytes_per_s},
                                             {"over_copy", result.bandwidth->over_copy}}
                                      : json(nullptr);
  row["status"] = name(result.status);
  row["reason"] = result.reason;
  return row;
}

}  // namespace lugpu
