#include "bench_simulated.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>

#include "base/error.hpp"
#include "bench/report.hpp"
#include "bench/simulated_problems.hpp"
#include "bench/statistics.hpp"
#include "bench/sweep.hpp"
#include "bench_report.hpp"
#include "noise.hpp"
#include "outputs.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

std::string cells(const SimulationRun& run) {
  const auto& [nx, ny, nz] = run.what.options.size;
  return std::to_string(nx) + (nz > 1 ? "^3" : "^2");
}

std::string header() {
  return format("%-7s %-18s %-6s %6s %9s %3s %9s %5s %7s\n", "grid", "method", "prec.", "iter.",
                "ms", "+-%", "frames/s", "left", "speedup");
}

// speedup: over the same iterations in plain loops; 0: there is none.
std::string row(const SimulationRun& run, double speedup) {
  const std::string head = format("%-7s %-18s %-6s ", cells(run).c_str(), run.method.c_str(),
                                  name(run.what.options.precision));
  if (run.status != RunStatus::ok) {
    constexpr std::size_t kIndent = 7;
    const std::string status = name(run.status);
    const std::string sentence = run.reason + (run.reason.ends_with(".") ? "" : ".");
    const std::string text = wrapped(status + ": " + sentence, head.size(), kIndent);
    const bool bad = run.status == RunStatus::failed || run.status == RunStatus::error;
    return head + paint(bad ? Ink::bad : Ink::dim, status) + text.substr(status.size()) + "\n";
  }
  const double frames = run.frames_per_s();
  return head +
         format("%6.0f %9.3f %3.0f %9.*f ", run.solver_iterations, 1e3 / frames,
                std::min(100 * relative_deviation(run.times_s), 999.0), frames < 100 ? 1 : 0,
                frames) +
         paint(Ink::good, format("%5.0e", run.median_left())) +
         format(" %7s\n", speedup > 0 ? format("%.1f", speedup).c_str() : "-");
}

std::string footer() {
  return wrapped(
             "iter.: of the linear solver in a time step, all its systems together. ms: a time "
             "step. left: of the divergence (of the residual of a wave's system) after a step, "
             "relative to what it was before its system was solved; the median. speedup: over the "
             "same iterations in C++ loops of one thread.",
             0, 0) +
         "\n";
}

class SimulatedSweep {
 public:
  SimulatedSweep(const ProblemArguments& given, const Options& options,
                 std::vector<DeviceContext> contexts, nlohmann::json report,
                 const nlohmann::json& earlier)
      : given_(given),
        options_(options),
        contexts_(std::move(contexts)),
        json_(options),
        report_(std::move(report)) {
    if (!earlier.is_object()) return;
    for (const nlohmann::json& one : earlier["results"]) {
      if (!is_final(one)) continue;
      report_["results"].push_back(one);
      failed_ = failed_ || one["status"] == name(RunStatus::failed);
    }
  }

  Exit run() {
    for (const std::string& problem : given_.problems) run(*simulated_problem(problem));
    show_progress("");
    if (options_.prints()) {
      const auto noisy = std::count_if(runs_.begin(), runs_.end(), [](const SimulationRun& run) {
        return run.status == RunStatus::ok && is_noisy(run.times_s);
      });
      std::cout << footer() << noise_warning(static_cast<std::size_t>(noisy)) << fastest();
    }
    json_.end(report_);
    return json_.status(error_ ? Exit::failure : failed_ ? Exit::check_failed : Exit::ok);
  }

 private:
  void run(const SimulatedProblem& problem) {
    const std::size_t few = given_.iterations.value_or(problem.iterations);
    print(std::string(problem.name) + ": " + problem.description + "; " + std::to_string(few) +
          " iterations of every system");
    run_grids(problem, few);
    print(std::string(problem.name) + ": every system to " +
          (given_.tolerance ? format("%g", *given_.tolerance) : "1e-6 (in single precision 1e-3)"));
    run_grids(problem, {});
  }

  void print(const std::string& title) const {
    if (options_.prints()) std::cout << wrapped(title, 0, 0) << "\n\n" << header() << std::flush;
  }

  // iterations: of every system; absent: to the tolerance.
  void run_grids(const SimulatedProblem& problem, std::optional<std::size_t> iterations) {
    for (const std::size_t n : parse_sizes(given_.grids, "--grid")) {
      for (const Precision precision : precisions(iterations.has_value())) {
        SimulationCase what;
        what.physics = problem.physics;
        what.problem = problem.name;
        what.options = problem.options(n);
        what.options.precision = precision;
        what.options.tolerance = iterations ? 0 : rule_of(what.options).tolerance;
        if (!iterations && given_.tolerance) what.options.tolerance = *given_.tolerance;
        if (iterations) what.options.iterations = *iterations;
        plain_.clear();
        if (iterations && problem.has_rivals) run_rivals(what);
        for (DeviceContext& context : contexts_) run_methods(context, what);
      }
    }
    if (options_.prints()) std::cout << '\n';
  }

  // Few iterations as the papers did them, and a tolerance that single precision need not reach.
  std::vector<Precision> precisions(bool few) const {
    if (!given_.precisions.empty()) return given_.precisions;
    const bool has_double = contexts_.front().device().double_precision;
    return {few || !has_double ? Precision::single_precision : Precision::double_precision};
  }

  void run_rivals(SimulationCase what) {
    what.implementation = "plain";
    for (const std::string& rival : given_.baselines) {
      what.options.method = rival;
      measure(nullptr, what, [&](std::size_t iterations) {
        SimulationOptions options = what.options;
        options.iterations = iterations;
        return make_simulated_baseline(rival, options);
      });
    }
  }

  void run_methods(DeviceContext& context, SimulationCase what) {
    what.device_index = context.device().index;
    for (const StructuredMethod& method : structured_methods()) {
      const std::vector<std::string>& wanted = given_.methods;
      const bool chosen =
          wanted.empty() || std::find(wanted.begin(), wanted.end(), method.name) != wanted.end();
      // A direct method has no few iterations.
      if (!chosen || (method.direct && what.options.tolerance == 0)) continue;
      what.options.method = method.name;
      measure(&context, what, [&](std::size_t iterations) -> std::unique_ptr<TimeStepper> {
        SimulationOptions options = what.options;
        options.iterations = iterations;
        return find_simulation(what.physics).make(context, options);
      });
    }
  }

  void measure(DeviceContext* context, const SimulationCase& what, const StepperMaker& make) {
    SimulationRun probe;
    probe.what = what;
    probe.method = what.options.method;
    if (context) probe.device = context->device().name;
    const nlohmann::json& rows = report_["results"];
    const bool known = std::any_of(
        rows.begin(), rows.end(),
        [key = to_json(probe)](const nlohmann::json& one) { return same_simulation(one, key); });
    if (known) return;
    show_progress(what.problem + " " + cells(probe) + " " + probe.method);
    add(measure_simulation(context, what, make, given_.effort));
  }

  void add(const SimulationRun& run) {
    report_["results"].push_back(to_json(run));
    failed_ = failed_ || run.status == RunStatus::failed;
    error_ = error_ || run.status == RunStatus::error;
    const bool plain = run.device.empty();
    const std::string rival = plain ? run.method : "plain-" + run.method;
    if (plain && run.status == RunStatus::ok) plain_[rival] = run.frames_per_s();
    const auto found = plain_.find(rival);
    const bool compares = !plain && found != plain_.end();
    show_progress("");
    if (options_.prints()) {
      std::cout << row(run, compares ? run.frames_per_s() / found->second : 0) << std::flush;
    }
    json_.update(report_);
    runs_.push_back(run);
  }

  // The fastest method of each grid of those that reach the tolerance.
  std::string fastest() const {
    std::map<std::string, const SimulationRun*> best;
    std::vector<std::string> order;
    for (const SimulationRun& run : runs_) {
      if (run.status != RunStatus::ok || run.what.options.tolerance == 0) continue;
      const std::string what = run.what.problem + ", " + cells(run) + ", " +
                               name(run.what.options.precision) + ", " + run.device;
      if (best.count(what) == 0) order.push_back(what);
      const SimulationRun*& one = best[what];
      if (!one || run.frames_per_s() > one->frames_per_s()) one = &run;
    }
    std::string text = order.empty() ? "" : "\nFastest to the tolerance\n";
    for (const std::string& what : order) {
      const SimulationRun& run = *best[what];
      text += wrapped("  " + what + ": " + run.method + ", " +
                          format("%.1f frames/s", run.frames_per_s()),
                      0, 4) +
              "\n";
    }
    return text;
  }

  const ProblemArguments& given_;
  const Options& options_;
  std::vector<DeviceContext> contexts_;
  JsonOutput json_;
  nlohmann::json report_;
  std::vector<SimulationRun> runs_;
  std::map<std::string, double> plain_;  // frames a second of the rivals of this grid
  bool failed_ = false;
  bool error_ = false;
};

// Throws InputError unless a problem has such grids.
void require_grids(const SimulatedProblem& problem, const std::vector<std::size_t>& grids) {
  constexpr double kMostCells = 1 << 30;
  for (const std::size_t n : grids) {
    if (n < 2) throw InputError("--grid: a simulation needs at least 2 cells along each axis.");
    if (std::pow(static_cast<double>(n), problem.dimensions) <= kMostCells) continue;
    throw InputError(std::string("--grid: ") + problem.name + " with " + std::to_string(n) +
                     " cells along each axis has more than 2^30 cells.");
  }
}

}  // namespace

bool is_simulated(const std::string& problem) {
  return simulated_problem(problem) != nullptr;
}

Exit bench_simulated(const ProblemArguments& given, const Options& options,
                     const std::vector<std::string>& arguments) {
  for (const std::string& problem : given.problems) {
    require_grids(*simulated_problem(problem), parse_sizes(given.grids, "--grid"));
  }
  ProblemArguments used = given;
  const std::vector<std::string>& known = simulated_baselines();
  std::erase_if(used.baselines, [&](const std::string& rival) {
    return std::find(known.begin(), known.end(), rival) == known.end();
  });
  const nlohmann::json earlier = earlier_report(options);
  check_outputs(options, {}, {});
  std::vector<DeviceContext> contexts = open_devices(options);
  nlohmann::json head = report_head(arguments, devices_of(contexts), options.kernels());
  nlohmann::json report = begin_report(std::move(head), options, earlier);
  return SimulatedSweep(used, options, std::move(contexts), std::move(report), earlier).run();
}

}  // namespace lugpu::cli
