#include "bench_problem.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>

#include "base/error.hpp"
#include "bench/problem_bench.hpp"
#include "bench/report.hpp"
#include "bench/resume.hpp"
#include "bench/sweep.hpp"
#include "outputs.hpp"
#include "problem_table.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

std::vector<Precision> precisions_on(const ProblemArguments& given, const Device& device) {
  if (!given.precisions.empty()) return given.precisions;
  return {device.double_precision ? Precision::double_precision : Precision::single_precision};
}

// The cases of one system on a device.
std::vector<StructuredCase> cases_of(const ProblemArguments& given, const std::string& problem,
                                     std::size_t n, const Device& device) {
  std::vector<StructuredCase> cases;
  for (const Precision precision : precisions_on(given, device)) {
    for (const StructuredMethod& method : structured_methods()) {
      const bool wanted =
          given.methods.empty() ||
          std::find(given.methods.begin(), given.methods.end(), method.name) != given.methods.end();
      if (!wanted) continue;
      for (const Storage storage : given.storages) {
        cases.push_back({problem,
                         n,
                         "",
                         "lugpu",
                         method.name,
                         {precision, storage, given.rule},
                         given.nrhs,
                         device.name,
                         device.index,
                         device.compute_units});
      }
    }
  }
  return cases;
}

class ProblemSweep {
 public:
  ProblemSweep(const ProblemArguments& given, const Options& options,
               std::vector<DeviceContext> contexts, nlohmann::json report)
      : given_(given),
        options_(options),
        contexts_(std::move(contexts)),
        json_(options),
        report_(std::move(report)) {
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      ceilings_.push_back(measure_ceilings(contexts_[i]));
      report_["devices"][i]["ceilings"] = to_json(ceilings_.back());
    }
  }

  Exit run() {
    for (const std::string& name : given_.problems) {
      const GridProblem& problem = find_grid_problem(name);
      if (options_.prints())
        std::cout << problem.name << ": " << problem.description << "\n\n"
                  << problem_header() << std::flush;
      for (const std::size_t n : parse_sizes(given_.grids, "--grid")) run_grid(problem, n);
      if (options_.prints()) std::cout << '\n';
    }
    show_progress("");
    if (options_.prints()) std::cout << problem_footer() << answer(results_);
    json_.end(report_);
    return json_.status(error_ ? Exit::failure : failed_ ? Exit::check_failed : Exit::ok);
  }

 private:
  void run_grid(const GridProblem& problem, std::size_t n) {
    require_host_memory(problem, n);
    const GridSystem system = problem.make(n, given_.nrhs);
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      for (const StructuredCase& what : cases_of(given_, problem.name, n, contexts_[i].device())) {
        show_progress(problem.name + (" " + std::to_string(n)) + " " + what.routine);
        const StructuredMethod& method = *structured_method(what.routine);
        const MakeSolver make = [&] {
          method.require(system.grid, what.options);
          return method.make(contexts_[i], system.grid, what.options);
        };
        StructuredResult result = measure_problem(&contexts_[i], what, system, make, given_.effort);
        judge_bandwidth(ceilings_[i], cache_bytes(contexts_[i].device()), result);
        add(std::move(result));
      }
    }
  }

  // Of the system, its solution and what checks take.
  static void require_host_memory(const GridProblem& problem, std::size_t n) {
    constexpr double kMostUnknowns = 1 << 30;
    const double unknowns = std::pow(static_cast<double>(n), problem.dimensions);
    if (unknowns <= kMostUnknowns) return;
    throw InputError(std::string("--grid: ") + problem.name + " with " + std::to_string(n) +
                     " points along each axis has more than 2^30 unknowns.");
  }

  void add(StructuredResult result) {
    report_["results"].push_back(to_json(result));
    failed_ = failed_ || result.status == RunStatus::failed;
    error_ = error_ || result.status == RunStatus::error;
    show_progress("");
    if (options_.prints()) std::cout << problem_row(result) << std::flush;
    json_.update(report_);
    results_.push_back(std::move(result));
  }

  const ProblemArguments& given_;
  const Options& options_;
  std::vector<DeviceContext> contexts_;
  JsonOutput json_;
  nlohmann::json report_;
  std::vector<Ceilings> ceilings_;  // of the contexts
  std::vector<StructuredResult> results_;
  bool failed_ = false;
  bool error_ = false;
};

}  // namespace

Exit bench_problems(const ProblemArguments& given, const Options& options,
                    const std::vector<std::string>& arguments) {
  for (const std::string& problem : given.problems) find_grid_problem(problem);
  parse_sizes(given.grids, "--grid");
  check_outputs(options, {}, {});
  std::vector<DeviceContext> contexts = open_devices(options);
  std::vector<Device> devices;
  for (const DeviceContext& context : contexts) devices.push_back(context.device());
  nlohmann::json report = report_head(arguments, devices, options.kernels());
  add_digests(report, options.kernel_dir);
  return ProblemSweep(given, options, std::move(contexts), std::move(report)).run();
}

}  // namespace lugpu::cli
