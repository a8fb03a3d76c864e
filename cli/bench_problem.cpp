#include "bench_problem.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <optional>
#include <variant>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "baselines/system_baselines.hpp"
#include "bench/problem_bench.hpp"
#include "bench/report.hpp"
#include "bench/sweep.hpp"
#include "bench_report.hpp"
#include "formats/formats.hpp"
#include "noise.hpp"
#include "outputs.hpp"
#include "problem_table.hpp"
#include "progress.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

std::vector<Precision> precisions_on(const ProblemArguments& given, const Device& device) {
  if (!given.precisions.empty()) return given.precisions;
  return {device.double_precision ? Precision::double_precision : Precision::single_precision};
}

bool is_wanted(const std::vector<std::string>& names, const char* name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

StructuredCase on_grid(const GridProblem& problem, std::size_t n) {
  StructuredCase what;
  what.problem = problem.name;
  what.grid = n;
  return what;
}

StructuredCase of_file(const std::string& path) {
  StructuredCase what;
  what.matrix = path;
  return what;
}

// Of a rival, on a device or (null) on the host. what: the system.
StructuredCase rival_case(const ProblemArguments& given, StructuredCase what, Precision precision,
                          const SystemBaseline& rival, const Device* device) {
  what.options = {precision, Storage::buffer, given.rule(), given.nrhs};
  what.implementation = rival.implementation;
  what.routine = rival.name;
  if (device) {
    what.device = device->name;
    what.device_index = device->index;
    what.units = device->compute_units;
  }
  return what;
}

// The cases of lugpu for one system on a device.
std::vector<StructuredCase> cases_of(const ProblemArguments& given, const StructuredCase& system,
                                     Precision precision, const Device& device) {
  std::vector<StructuredCase> cases;
  for (const StructuredMethod& method : structured_methods()) {
    if (!is_wanted(given.methods, method.name)) continue;
    for (const Storage storage : given.storages) {
      StructuredCase what = system;
      what.options = {precision, storage, given.rule(), given.nrhs};
      what.implementation = "lugpu";
      what.routine = method.name;
      what.device = device.name;
      what.device_index = device.index;
      what.units = device.compute_units;
      cases.push_back(std::move(what));
    }
  }
  return cases;
}

void require_countable(const GridProblem& problem, std::size_t n) {
  constexpr double kMostUnknowns = 1 << 30;
  if (std::pow(static_cast<double>(n), problem.dimensions) <= kMostUnknowns) return;
  throw InputError(std::string("--grid: ") + problem.name + " with " + std::to_string(n) +
                   " points along each axis has more than 2^30 unknowns.");
}

// Of a method of lugpu.
void judge(const DeviceContext& context, const Ceilings& ceilings, const StructuredMatrix& a,
           StructuredResult& result) {
  if (result.status != RunStatus::ok) return;
  const StructuredMethod& method = *structured_method(result.what.routine);
  const Work least = method.least_work ? method.least_work(a) : Work();
  judge_time(limits_of(context, ceilings, result.what.options.precision, least), least, result);
}

// The matrices of files, by their names.
using Stored = std::map<std::string, StoredSystem>;

Stored read_files(const ProblemArguments& given) {
  Stored stored;
  for (const std::string& name : given.problems) {
    if (!is_file(name) || stored.count(name) > 0) continue;
    std::variant<Matrix, Sparse> matrix = read_dense_or_sparse(name, {.square = true});
    if (!std::holds_alternative<Sparse>(matrix)) {
      throw InputError(name + ": a dense matrix; --problem takes sparse ones.");
    }
    stored.emplace(name, system_of(std::move(std::get<Sparse>(matrix)), given.nrhs));
  }
  return stored;
}

class ProblemSweep {
 public:
  ProblemSweep(const ProblemArguments& given, const Options& options, const Stored& stored,
               std::vector<DeviceContext> contexts, nlohmann::json report,
               const nlohmann::json& earlier)
      : given_(given),
        options_(options),
        stored_(stored),
        contexts_(std::move(contexts)),
        json_(options),
        report_(std::move(report)),
        table_(options.format),
        progress_(work()) {
    const auto precisions = precisions_on(given, contexts_.front().device());
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      ceilings_.push_back(measure_ceilings(contexts_[i], {precisions.begin(), precisions.end()}));
      report_["devices"][i]["ceilings"] = to_json(ceilings_.back());
    }
    if (!earlier.is_object()) return;
    for (const nlohmann::json& row : earlier["results"]) {
      if (is_final(row)) keep(row);
    }
  }

  Exit run() {
    if (options_.prints_rows() && !options_.prints()) std::cout << table_.header() << std::flush;
    for (const std::string& name : given_.problems) {
      is_file(name) ? run_file(name) : run_grids(find_grid_problem(name));
      if (options_.prints()) std::cout << '\n';
    }
    show_progress("");
    if (options_.prints()) {
      NoiseWarning noise;
      for (const StructuredResult& result : results_) {
        if (result.status == RunStatus::ok) noise.add(result.times_s, result.other_load);
      }
      std::cout << problem_footer() << noise.text() << answer(results_);
    }
    json_.end(report_);
    return json_.status(error_ ? Exit::failure : failed_ ? Exit::check_failed : Exit::ok);
  }

 private:
  // In no particular unit: of each case on so many unknowns.
  static double work_of(std::size_t unknowns) {
    constexpr double kSmall = 1 << 16;
    return 1 + static_cast<double>(unknowns) / kSmall;
  }

  // Of every case, in the order of run().
  std::vector<double> work() const {
    std::size_t cases = 0;  // of one system
    for (const std::string& name : given_.baselines) {
      cases += find_system_baseline(name).on_device ? contexts_.size() : 1;
    }
    for (const DeviceContext& context : contexts_) {
      cases += cases_of(given_, {}, Precision::single_precision, context.device()).size();
    }
    cases *= precisions_on(given_, contexts_.front().device()).size();
    std::vector<double> work;
    for (const std::string& name : given_.problems) {
      if (is_file(name)) {
        work.insert(work.end(), cases, work_of(stored_.at(name).a.rows()));
        continue;
      }
      for (const std::size_t n : parse_sizes(given_.grids, "--grid")) {
        const double unknowns = std::pow(n, find_grid_problem(name).dimensions);
        work.insert(work.end(), cases, work_of(static_cast<std::size_t>(unknowns)));
      }
    }
    return work;
  }

  void run_grids(const GridProblem& problem) {
    print_head(problem.name + std::string(": ") + problem.description);
    for (const std::size_t n : parse_sizes(given_.grids, "--grid")) {
      run(on_grid(problem, n), problem.make(n, given_.nrhs).view());
    }
  }

  void run_file(const std::string& path) {
    const StoredSystem& system = stored_.at(path);
    print_head(printable(path) + ": order " + std::to_string(system.a.rows()) + ", " +
               std::to_string(system.a.values().size()) + " entries");
    run(of_file(path), system.view());
  }

  void print_head(const std::string& title) const {
    if (!options_.prints()) return;
    std::cout << wrapped(title, 0, 0) << "\n\n" << table_.header() << std::flush;
  }

  void run(const StructuredCase& of, const SystemView& system) {
    for (const Precision precision : precisions_on(given_, contexts_.front().device())) {
      run_rivals(of, precision, system, nullptr);
      for (std::size_t i = 0; i < contexts_.size(); ++i) {
        run_rivals(of, precision, system, &contexts_[i]);
        for (const StructuredCase& what : cases_of(given_, of, precision, contexts_[i].device())) {
          const StructuredMethod& method = *structured_method(what.routine);
          const auto make = [&](const StoppingRule& rule) {
            StructuredOptions options = what.options;
            options.rule = rule;
            method.require(system.a, options);
            return method.make(contexts_[i], system.a, options);
          };
          measure(&contexts_[i], what, system, &ceilings_[i], {make, method.direct});
        }
      }
    }
  }

  // Those of the device, or (null) of the host.
  void run_rivals(const StructuredCase& of, Precision precision, const SystemView& system,
                  DeviceContext* context) {
    const Device* device = context ? &context->device() : nullptr;
    std::optional<Sparse> stored;
    for (const std::string& name : given_.baselines) {
      const SystemBaseline& rival = find_system_baseline(name);
      if (rival.on_device != (context != nullptr)) continue;
      const StructuredCase what = rival_case(given_, of, precision, rival, device);
      if (!stored) stored = system.a.stored ? *system.a.stored : sparse(*system.a.grid);
      const auto make = [&](const StoppingRule& rule) {
        rival.require(device, system.a, precision);
        return rival.make(context, system.a, *stored, precision, rule);
      };
      measure(context, what, system, nullptr, {make, rival.direct});
    }
  }

  // A row of an earlier run.
  void keep(const nlohmann::json& row) {
    report_["results"].push_back(row);
    failed_ = failed_ || row["status"] == name(RunStatus::failed);
  }

  bool is_known(const StructuredCase& what, const SystemView& system) const {
    StructuredResult probe;
    probe.what = what;
    probe.unknowns = system.a.order();
    const nlohmann::json& rows = report_["results"];
    return std::any_of(rows.begin(), rows.end(), [row = to_json(probe)](const nlohmann::json& one) {
      return same_structured_case(one, row);
    });
  }

  // ceilings: null for a rival.
  void measure(DeviceContext* context, const StructuredCase& what, const SystemView& system,
               const Ceilings* ceilings, const SolverMaker& maker) {
    const double work = work_of(system.a.order());
    if (is_known(what, system)) return progress_.skip(work);
    const std::string grid = what.grid == 0 ? "" : " " + std::to_string(what.grid);
    show_progress(progress_.text() + ' ' + what.problem + what.matrix + grid + " " + what.routine);
    StructuredResult result = measure_problem(context, what, system, maker, given_.effort);
    if (ceilings) judge(*context, *ceilings, system.a, result);
    progress_.finish(work);
    add(std::move(result));
  }

  void add(StructuredResult result) {
    report_["results"].push_back(to_json(result));
    failed_ = failed_ || result.status == RunStatus::failed;
    error_ = error_ || result.status == RunStatus::error;
    show_progress("");
    if (options_.prints_rows()) std::cout << table_.row(result) << std::flush;
    json_.update(report_);
    results_.push_back(std::move(result));
  }

  const ProblemArguments& given_;
  const Options& options_;
  const Stored& stored_;
  std::vector<DeviceContext> contexts_;
  JsonOutput json_;
  nlohmann::json report_;
  ProblemTable table_;
  Progress progress_;
  std::vector<Ceilings> ceilings_;  // of the contexts
  std::vector<StructuredResult> results_;
  bool failed_ = false;
  bool error_ = false;
};

}  // namespace

bool is_file(const std::string& problem) {
  return is_matrix_path(problem);
}

Exit bench_problems(const ProblemArguments& given, const Options& options,
                    const std::vector<std::string>& arguments) {
  for (const std::string& problem : given.problems) {
    if (is_file(problem)) continue;
    for (const std::size_t n : parse_sizes(given.grids, "--grid")) {
      require_countable(find_grid_problem(problem), n);
    }
  }
  const nlohmann::json earlier = earlier_report(options);
  std::vector<NamedFile> inputs;
  for (const std::string& name : given.problems) {
    if (is_file(name)) inputs.push_back({"--problem", name});
  }
  check_outputs(options, {}, inputs);
  const Stored stored = read_files(given);
  std::vector<DeviceContext> contexts = open_devices(options);
  nlohmann::json head = report_head(arguments, devices_of(contexts), options.kernels());
  add_system_libraries(head, given.baselines);
  nlohmann::json report = begin_report(std::move(head), options, earlier);
  return ProblemSweep(given, options, stored, std::move(contexts), std::move(report), earlier)
      .run();
}

}  // namespace lugpu::cli
