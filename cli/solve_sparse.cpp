#include "solve_sparse.hpp"

#include <iostream>

#include "base/printable.hpp"
#include "bench/report.hpp"
#include "bench/structured_result.hpp"
#include "formats/formats.hpp"
#include "outputs.hpp"
#include "solve_report.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

bool is_direct(const Solution<double>& solution) {
  return structured_method(solution.method)->direct;
}

std::string residual_text(const SparsePlan& plan, const Solution<double>& solution) {
  const Checks& checks = solution.checks;
  std::string text = format("||b - A x|| / ||b|| = %.3g", *checks.residual);
  if (is_direct(solution)) {
    return text + format(", solve_ratio %.3g (passes under 30)", *checks.solve_ratio);
  }
  return text + format(" (asked for: %.3g)", plan.options.rule.tolerance);
}

void print_report(const SparsePlan& plan, const SparseSystem& system, const Device& device,
                  const Solution<double>& solution, bool passed, bool written) {
  const std::string n = std::to_string(solution.n);
  print_line("A", printable(system.matrix) + ", " + n + " x " + n + ", " +
                      std::to_string(system.a.values().size()) + " entries");
  print_line("B", description(system.rhs, system.b));
  print_line("method", solution.method + ", " + name(plan.options.precision) + " precision, " +
                           name(plan.options.storage) +
                           (solution.why.empty() ? "" : ": " + solution.why));
  print_line("device", device.name + " (" + device.platform + ")");
  std::string times;
  for (const char* phase : {"setup", "upload", "solve", "download"}) {
    times += (times.empty() ? "" : ", ") + std::string(phase) + " " +
             duration(solution.phases_s.at(phase));
  }
  print_line("time", times + "; kernels built on the way");
  if (!is_direct(solution)) print_line("steps", std::to_string(solution.iterations));
  if (solution.checks.residual) {
    print_line("residual", residual_text(plan, solution));
    print_line("bounds", format("backward error %.3g", largest(solution.checks.berr)));
  }
  print_checks(passed);
  if (passed && std::isfinite(system.b.solution)) print_error_of(solution.x, system.b.solution);
  if (written) {
    print_line("X", shape(solution.n, solution.nrhs) + ", written to " + printable(system.output));
  }
}

}  // namespace

Exit solve_sparse(DeviceContext& context, const SparsePlan& plan, const SparseSystem& system,
                  const Options& options, const std::vector<std::string>& arguments,
                  Watchdog& watchdog) {
  Solution<double> solution = lugpu::solve(context, plan, system.a, system.b.b);
  watchdog.clear();
  const StructuredResult result =
      record_of(case_of(plan, system.matrix, context.device()), solution);
  const bool passed = result.status == RunStatus::ok;
  bool written = false, kept = true;
  if (passed && !system.output.empty()) {
    Matrix x(solution.n, solution.nrhs);
    x.values() = solution.x;
    written = kept = attempt_to_write([&] { write_matrix(x, system.output); });
  }
  JsonOutput json(options);
  nlohmann::json report = report_head(arguments, {context.device()}, context.settings());
  report["results"].push_back(to_json(result));
  json.write(report);
  if (options.prints()) {
    print_report(plan, system, context.device(), solution, passed, written);
  }
  if (passed) return json.status(kept ? Exit::ok : Exit::failure);
  print_error(system.matrix + " is not solved: " + result.reason);
  const bool singular = solution.diagnosis.status == Status::singular;
  return json.status(singular ? Exit::singular : Exit::check_failed);
}

}  // namespace lugpu::cli
