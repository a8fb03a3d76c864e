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
#include "progress.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

std::string cells(const SimulationRun& run) {
  const auto& [nx, ny, nz] = run.what.options.size;
  return std::to_string(nx) + (nz > 1 ? "^3" : "^2");
}

Table make_table(Format format) {
  return Table({{"problem", "problem", -8, kNotForPeople},
                {"grid", "grid", -7, 0},
                {"method", "routine", -18, 0},
                {"prec.", "precision", -6, 0},
                {"tolerance", "tolerance", 9, kNotForPeople}},
               {{"iter.", "solver_iterations", 6, 1},
                {"ms", "median_s", 9, 0},
                noise_column(3),
                {"frames/s", "frames_per_s", 9, 2},
                {"left", "left", 5, 0},
                {"speedup", "speedup", 7, 0}},
               format);
}

// speedup: over the same iterations in plain loops; 0: there is none.
Row row(const SimulationRun& run, double speedup) {
  const double tolerance = rule_of(run.what.options).tolerance;
  Row row{{{run.what.problem},
           {cells(run)},
           {run.method},
           {name(run.what.options.precision)},
           {format("%g", tolerance), tolerance}},
          {},
          name(run.status),
          run.reason + (run.reason.empty() || run.reason.ends_with('.') ? "" : ".")};
  if (run.status != RunStatus::ok) return row;
  const double frames = run.frames_per_s();
  row.numbers = {{format("%.0f", run.solver_iterations), run.solver_iterations},
                 {format("%.3f", 1e3 / frames), 1 / frames},
                 noise(run.times_s),
                 {format("%.*f", frames < 100 ? 1 : 0, frames), frames},
                 {format("%.0e", run.median_left()), run.median_left(), Ink::good},
                 speedup > 0 ? Cell{format("%.1f", speedup), speedup} : Cell{"-"}};
  return row;
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
        report_(std::move(report)),
        table_(make_table(options.format)),
        progress_(work()) {
    std::set<Precision> all;
    for (const bool few : {false, true}) {
      for (const Precision precision : precisions(few)) all.insert(precision);
    }
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      report_["devices"][i]["ceilings"] = to_json(measure_ceilings(contexts_[i], all));
    }
    if (!earlier.is_object()) return;
    for (const nlohmann::json& one : earlier["results"]) {
      if (!is_final(one)) continue;
      report_["results"].push_back(one);
      failed_ = failed_ || one["status"] == name(RunStatus::failed);
    }
  }

  Exit run() {
    if (options_.prints_rows() && !options_.prints()) std::cout << table_.header() << std::flush;
    for (const std::string& problem : given_.problems) run(*simulated_problem(problem));
    show_progress("");
    if (options_.prints()) {
      NoiseWarning noise;
      for (const SimulationRun& run : runs_) {
        if (run.status == RunStatus::ok) noise.add(run.times_s, run.other_load);
      }
      std::cout << footer() << noise.text() << fastest();
    }
    json_.end(report_);
    return json_.status(error_ ? Exit::failure : failed_ ? Exit::check_failed : Exit::ok);
  }

 private:
  // In no particular unit: of each case on a grid.
  static double work_of(const std::array<std::size_t, 3>& size) {
    constexpr double kSmall = 1 << 16;
    return 1 + static_cast<double>(size[0] * size[1] * size[2]) / kSmall;
  }

  bool wants(const StructuredMethod& method, bool few) const {
    const std::vector<std::string>& wanted = given_.methods;
    const bool chosen =
        wanted.empty() || std::find(wanted.begin(), wanted.end(), method.name) != wanted.end();
    return chosen && !(method.direct && few);  // a direct method has no few iterations
  }

  // Of every case.
  std::vector<double> work() const {
    std::vector<double> work;
    for (const std::string& name : given_.problems) {
      const SimulatedProblem& problem = *simulated_problem(name);
      for (const bool few : {true, false}) {
        const auto methods = std::ranges::count_if(
            structured_methods(), [&](const auto& method) { return wants(method, few); });
        std::size_t cases = static_cast<std::size_t>(methods) * contexts_.size();
        if (few && problem.has_rivals) cases += given_.baselines.size();
        for (const std::size_t n : parse_sizes(given_.grids, "--grid")) {
          work.insert(work.end(), cases * precisions(few).size(), work_of(problem.options(n).size));
        }
      }
    }
    return work;
  }

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
    if (options_.prints())
      std::cout << wrapped(title, 0, 0) << "\n\n" << table_.header() << std::flush;
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
        if (!iterations && given_.tolerance) what.options.tolerance = given_.tolerance;
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
      if (!wants(method, what.options.tolerance == 0)) continue;
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
    const double work = work_of(what.options.size);
    if (known) return progress_.skip(work);
    show_progress(progress_.text() + ' ' + what.problem + " " + cells(probe) + " " + probe.method);
    add(measure_simulation(context, what, make, given_.effort));
    progress_.finish(work);
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
    if (options_.prints_rows()) {
      const double speedup = compares ? run.frames_per_s() / found->second : 0;
      std::cout << table_.row(row(run, speedup)) << std::flush;
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
  Table table_;
  Progress progress_;
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
