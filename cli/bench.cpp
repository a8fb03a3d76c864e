#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "base/cores.hpp"
#include "base/error.hpp"
#include "base/watchdog.hpp"
#include "baselines/baselines.hpp"
#include "baselines/scalapack.hpp"
#include "baselines/system_baselines.hpp"
#include "bench/case_memory.hpp"
#include "bench/crossover.hpp"
#include "bench/report.hpp"
#include "bench/simulated_problems.hpp"
#include "bench/sweep.hpp"
#include "bench_batch.hpp"
#include "bench_problem.hpp"
#include "bench_report.hpp"
#include "bench_simulated.hpp"
#include "bench_table.hpp"
#include "commands.hpp"
#include "help.hpp"
#include "in_processes.hpp"
#include "matrix/generate.hpp"
#include "memory_table.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "progress.hpp"
#include "terminal.hpp"
#include "unfinished.hpp"

namespace lugpu::cli {
namespace {

constexpr int kMostThreads = 1024;
constexpr std::size_t kMostRightHandSides = 1 << 20;
constexpr std::int64_t kMostMembers = 100'000'000;

struct BenchArguments {
  Options options;
  std::string sizes = "128:1024:*2";
  std::vector<std::string> methods = {"lu-blocked", "lu", "gauss-jordan"};
  std::vector<std::string> pivots = {"none", "partial", "full"};
  std::vector<std::string> precisions = {"single"};
  std::vector<std::string> storages = {"auto"};
  std::vector<std::string> texels = {"auto"};
  std::vector<std::string> schedules = {"fused"};
  std::vector<std::size_t> nbs = {0};
  std::vector<std::string> baselines = {"getrf", "getc2"};
  std::string matrix = "auto";
  std::size_t nrhs = 1;
  std::uint64_t seed = 1;
  int threads = 0;
  std::string trace;
  Effort effort{.time_products = true};
  ProblemArguments problem;
  std::size_t batch = 0;  // members; 0: one system at a time
  bool dry_run = false;
};

// The values without repetitions, e.g. for --pivot full,complete.
template <typename T, typename Convert>
auto distinct(const std::vector<T>& names, Convert&& convert) {
  std::vector<decltype(convert(names.front()))> values;
  for (const T& name : names) {
    const auto value = convert(name);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

// The rivals, for the help text.
std::string list_of_rivals() {
  std::string text = "Rivals:\n";
  for (const Baseline& baseline : baselines()) {
    const std::string head = format("  %-18s ", baseline.name);
    text += head + wrapped(baseline.description, head.size(), head.size()) + '\n';
  }
  text += "With --batch:\n";
  for (const BatchRival& rival : batch_rivals()) {
    const std::string head = format("  %-18s ", rival.name);
    text += head + wrapped(rival.description, head.size(), head.size()) + '\n';
  }
  text += "With --problem:\n";
  for (const SystemBaseline& rival : system_baselines()) {
    const std::string head = format("  %-18s ", rival.name);
    text += head + wrapped(rival.description, head.size(), head.size()) + '\n';
  }
  return text;
}

std::vector<std::string> baseline_names(const std::vector<std::string>& given) {
  if (given == std::vector<std::string>{"none"}) return {};
  if (std::count(given.begin(), given.end(), "none") > 0) {
    throw InputError("--baseline: none means no rivals; give it alone or leave it out.");
  }
  for (const std::string& name : given) find_baseline(name);
  return distinct(given, [](const std::string& name) { return name; });
}

// Of the host's rivals: as many as the user says, or as the CPU has compute units in its turn; none
// where the best number is to be found.
std::vector<int> threads_of(const BenchArguments& given, const Device& device) {
  if (given.threads > 0) return {blas_threads()};
  if (device.type != "cpu") return {};
  const std::set<int> numbers(given.options.units.begin(), given.options.units.end());
  return {numbers.begin(), numbers.end()};
}

// That all of the methods are for dense systems, or for problems.
void require_methods(const std::vector<std::string>& names, bool for_problems) {
  const std::vector<std::string> dense = method_names();
  for (const std::string& name : names) {
    if (for_problems && !structured_method(name)) {
      throw InputError("--method " + name + " is not for --problem.");
    }
    if (!for_problems && std::find(dense.begin(), dense.end(), name) == dense.end()) {
      throw InputError("--method " + name + " needs --problem, which says what it is to solve.");
    }
  }
}

SweepPlan make_plan(const BenchArguments& given, const SweepDevices& opened, Crew* crew) {
  const Device& device = opened.contexts.front().device();
  SweepPlan plan;
  plan.teams = opened.teams;
  plan.crew = crew;
  plan.sizes = parse_sizes(given.sizes);
  plan.methods = distinct(given.methods, [](const std::string& name) { return name; });
  plan.pivots = distinct(given.pivots, to_pivot);
  plan.precisions = distinct(given.precisions, to_arithmetic);
  plan.storages =
      distinct(given.storages, [&](const std::string& name) { return to_storage(name, device); });
  plan.texels = distinct(given.texels, to_texel);
  plan.schedules = distinct(given.schedules, to_schedule);
  plan.nbs = distinct(given.nbs, [](std::size_t nb) { return nb; });
  plan.baselines = baseline_names(given.baselines);
  plan.threads = threads_of(given, device);
  plan.device_memory = given.options.device_memory;
  plan.nrhs = given.nrhs;
  plan.seed = given.seed;
  plan.matrix = given.matrix;
  plan.effort = given.effort;
  plan.effort.trace = !given.trace.empty();
  if (plan.matrix != "auto") generate(plan.matrix, 1, plan.seed);  // an unknown kind ends here
  for (const DeviceContext& context : opened.contexts) {
    const int index = context.device().index;
    if (!plan.path_records.contains(index)) plan.path_records[index] = note_path_records(context);
  }
  return plan;
}

bool is_row_of(const nlohmann::json& row, const Case& what) {
  return same_case(row, to_json(what));
}

// The libraries of the rivals on a device, where they are found.
void print_rivals(const std::vector<std::string>& names) {
  std::vector<std::string> printed;
  for (const std::string& name : names) {
    const Baseline& baseline = find_baseline(name);
    const std::string implementation = baseline.implementation;
    if (!baseline.on_device || std::count(printed.begin(), printed.end(), implementation)) continue;
    printed.push_back(implementation);
    if (const auto library = baseline.on_device->found_library()) {
      const std::string path = library->path.empty() ? "" : ", " + library->path;
      std::cout << format("%-9s ", implementation.c_str())
                << wrapped(library->version + path, 10, 10) << '\n';
    }
  }
}

template <typename T>
std::string list(const std::vector<T>& numbers) {
  std::string text;
  for (const T number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

void print_setting(const BenchArguments& given, const SweepPlan& plan,
                   const std::vector<DeviceContext>& contexts) {
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    const Device& device = contexts[i].device();
    std::vector<unsigned> units = {device.compute_units};
    for (; i + 1 < contexts.size() && contexts[i + 1].device().index == device.index; ++i) {
      units.push_back(contexts[i + 1].device().compute_units);
    }
    std::cout << "device    "
              << wrapped(device.name + " (" + device.platform + "), compute units: " + list(units),
                         10, 10)
              << '\n';
  }
  const BlasLibrary blas = blas_library();
  std::cout << "baseline  " << blas.name << " for " << blas.core << ", threads: "
            << (plan.threads.empty() ? "the best of " + list(powers_of_two_up_to(blas_threads()))
                                     : list(plan.threads))
            << '\n';
  print_rivals(plan.baselines);
  const std::string matrix =
      given.matrix == "auto" ? "random (dominant without pivoting)" : given.matrix;
  const std::string rest = format("%s, seed %llu; right-hand sides: %zu", matrix.c_str(),
                                  static_cast<unsigned long long>(given.seed), given.nrhs);
  std::cout << "matrix    " << wrapped(rest, 10, 10) << "\n\n";
}

// OpenBLAS falls back to its slowest kernels on a processor that it does not know.
void warn_of_slow_baseline() {
  if (blas_library().core == "Prescott" && __builtin_cpu_supports("avx2")) {
    print_warning(
        "OpenBLAS does not know this processor and uses its kernels for Prescott; set "
        "OPENBLAS_CORETYPE=Haswell or SkylakeX for a fair baseline.");
  }
}

void note_missing_clocks(std::vector<DeviceContext>& contexts) {
  for (DeviceContext& context : contexts) {
    if (PartTimes::has_clock(context)) continue;
    print_warning("--trace: kernels cannot read a clock on " + context.device().name +
                  "; the trace has launches without their parts.");
  }
}

std::string description(const Case& what) {
  return format("%s %s %s n=%zu", what.routine.c_str(), name(what.problem.dense.pivot),
                precision_name(what.problem), what.problem.size.n);
}

// In no particular unit: the samples of a small case take as long as they shall, the checks of a
// large one n^3.
double work_of(const Case& what) {
  constexpr double kSmall = 1024;
  return 1 + std::pow(static_cast<double>(what.problem.size.n) / kSmall, 3);
}

std::vector<double> work_of(const std::vector<Case>& cases) {
  std::vector<double> work;
  for (const Case& what : cases) work.push_back(work_of(what));
  return work;
}

// Collects the results: the JSON file after every case, and the table on stdout in the order of the
// cases.
class Sink {
 public:
  /// precisions: of the factors
  Sink(const Options& options, const std::string& trace, nlohmann::json report,
       std::vector<DeviceContext>& contexts, const std::set<Precision>& precisions,
       const Effort& effort)
      : options_(options),
        json_(options),
        trace_(trace),
        report_(std::move(report)),
        contexts_(contexts),
        precisions_(precisions),
        table_(options.units.size() > 1, options.format),
        unfinished_(effort) {
    for (std::size_t i = 0; i < contexts.size(); ++i) {
      ceilings_.push_back(measure_ceilings(contexts[i], precisions_));
      report_["devices"][i]["ceilings"] = to_json(ceilings_[i]);
    }
  }

  bool has(const Case& what) const {
    const nlohmann::json& rows = report_["results"];
    return std::any_of(rows.begin(), rows.end(),
                       [&](const nlohmann::json& row) { return is_row_of(row, what); });
  }

  /// Case number i is to be run; called in order.
  void expect(std::size_t i) { expected_.insert(expected_.end(), i); }

  /// The result of case number i.
  void add(Result result, std::size_t i) {
    const bool has_rates = !result.what.is_baseline() && result.status == RunStatus::ok;
    if (has_rates) judge(result);
    nlohmann::json row = to_json(result);
    if (has_rates && result.status == RunStatus::ok) {
      row["rates"] = achieved(result, ceilings_[device_of(result.what)]);
    }
    unprinted_.emplace(i, std::pair(result, row));
    nlohmann::json& rows = report_["results"];
    const auto later = std::distance(numbers_.upper_bound(i), numbers_.end());
    numbers_.insert(i);
    rows.insert(rows.end() - later, std::move(row));
    failed_ = failed_ || result.status == RunStatus::failed;
    error_ = error_ || result.status == RunStatus::error;
    expected_.erase(i);
    print_rows();
    unfinished_.remove(i);
    write();
    trace_.add(result);
  }

  /// The samples that an earlier run took of case number i.
  std::optional<EarlierSamples> earlier(const Case& what, std::size_t i) {
    return unfinished_.take(what, i);
  }

  /// More samples of case number i.
  void sampled(const Case& what, std::size_t i, std::span<const double> seconds) {
    unfinished_.add(what, i, seconds);
    if (unfinished_.is_time_to_write()) write();
  }

  Exit finish() {
    show_progress("");
    if (options_.prints()) {
      std::cout << '\n' << table_.footer();
      for (const std::string& sentence : crossovers(report_["results"])) {
        std::cout << wrapped(sentence, 0, 2) << '\n';
      }
    }
    json_.end(report_);
    trace_.end();
    const Exit status = error_ ? Exit::failure : failed_ ? Exit::check_failed : Exit::ok;
    return trace_.status(json_.status(status));
  }

  /// Takes over the results of an earlier run, except those that are not final and whose cases this
  /// run repeats, and the samples of cases that it did not finish.
  void resume(const nlohmann::json& earlier, const std::vector<Case>& cases) {
    unfinished_.resume(earlier.value("unfinished", nlohmann::json::array()));
    for (const nlohmann::json& row : earlier["results"]) {
      const bool again =
          !is_final(row) && std::any_of(cases.begin(), cases.end(),
                                        [&](const Case& what) { return is_row_of(row, what); });
      if (again) continue;
      report_["results"].push_back(row);
      failed_ = failed_ || row["status"] == "failed";
      error_ = error_ || row["status"] == "error";
      table_.remember(row);
    }
  }

  const BenchTable& table() const { return table_; }

 private:
  void write() {
    if (!json_.has_file()) return;
    unfinished_.write([&] {
      unfinished_.put_into(report_);
      json_.update(report_);
    });
  }

  // The place of the case's device in contexts_.
  std::size_t device_of(const Case& what) const {
    const auto found = std::ranges::find_if(contexts_, [&](const DeviceContext& context) {
      return context.device().index == what.device_index &&
             context.device().compute_units == what.units;
    });
    return static_cast<std::size_t>(std::distance(contexts_.begin(), found));
  }

  // Refuses a time that cannot be true. The ceilings are measured again first: other programs may
  // have slowed them down.
  void judge(Result& result) {
    // Devices that share the work have no ceiling of their own.
    const bool shared = result.what.problem.dense.shared();
    const std::size_t device = device_of(result.what);
    if (shared || disbelief(result, ceilings_[device]).empty()) return;
    contexts_[device].deadline().set(INFINITY);  // not that of the case
    ceilings_[device] = measure_ceilings(contexts_[device], precisions_);
    report_["devices"][device]["ceilings"] = to_json(ceilings_[device]);
    result.reason = disbelief(result, ceilings_[device]);
    if (!result.reason.empty()) result.status = RunStatus::error;
  }

  // The rows that no missing earlier case must precede.
  void print_rows() {
    show_progress("");
    const auto end =
        expected_.empty() ? unprinted_.end() : unprinted_.lower_bound(*expected_.begin());
    for (auto next = unprinted_.begin(); next != end; next = unprinted_.erase(next)) {
      const auto& [result, record] = next->second;
      if (options_.prints_rows()) std::cout << table_.row(result, record) << std::flush;
    }
  }

  const Options& options_;
  JsonOutput json_;
  TraceOutput trace_;
  nlohmann::json report_;
  std::vector<DeviceContext>& contexts_;
  std::set<Precision> precisions_;
  std::vector<Ceilings> ceilings_;  // of the contexts
  BenchTable table_;
  Unfinished unfinished_;
  std::set<std::size_t> expected_, numbers_;  // of the pending cases, and of those done
  std::map<std::size_t, std::pair<Result, nlohmann::json>> unprinted_;
  bool failed_ = false;
  bool error_ = false;
};

// Seconds for a piece of work on a case, which only a device that hangs exceeds: far more than the
// timeout, with which a working one ends by itself, time to build kernels, and 10 GFLOP/s for what
// the host does to make and check a system, some 200 n^3 operations.
double seconds_until_hung(std::size_t order, const Effort& effort) {
  const double n = static_cast<double>(order);
  return std::max(10 * effort.timeout_s, 60.0) + 200 * n * n * n / 10e9;
}

// What may share a system, here and on other processes.
std::vector<Team> teams_of(SweepDevices& opened) {
  std::vector<Team> teams;
  for (std::size_t d = 0; d < opened.alone.size(); ++d) teams.push_back({&opened.contexts[d]});
  teams.insert(teams.end(), opened.teams.begin(), opened.teams.end());
  return teams;
}

// What the cases would take.
Exit print_memory(const BenchArguments& given, const SweepPlan& plan,
                  const std::vector<Case>& cases, const std::vector<Device>& devices) {
  std::cout << memory_table(cases, devices, plan.effort, host_memory_for_cases(),
                            given.options.units.size() > 1, given.options.format);
  return Exit::ok;
}

void check_arguments(const BenchArguments& given) {
  require_methods(given.methods, false);
  parse_sizes(given.sizes);
  if (given.trace == "-") {
    throw InputError("--trace - is not possible: standard output has the table; give a file.");
  }
  if (given.dry_run && given.options.format == Format::json) {
    throw InputError("--dry-run prints a table; use --format table, csv or markdown.");
  }
}

// OpenBLAS does not know of CPU limits; threads beyond them slow it down.
void start_blas(const BenchArguments& given) {
  const int usable = static_cast<int>(cores().usable);
  set_blas_threads(given.threads > 0 ? given.threads : std::min(blas_threads(), usable));
  reserve_memory_of_blas();
}

Exit bench(const BenchArguments& given, const std::vector<std::string>& arguments) {
  set_colour(given.options.colour);
  check_arguments(given);
  const nlohmann::json earlier = earlier_report(given.options);
  check_outputs(given.options, {{"--trace", given.trace}}, {});
  std::string at_work = "the first use of the devices";
  Sink* results = nullptr;
  Watchdog watchdog([&] {
    if (results) results->finish();
    end_late(at_work + format(": the device does not answer, far beyond --timeout %g s; no more "
                              "cases were run.",
                              given.effort.timeout_s));
  });
  watchdog.set(seconds_until_hung(0, given.effort));
  SweepDevices opened = open_sweep_devices(given.options);
  std::vector<DeviceContext>& contexts = opened.contexts;
  const std::unique_ptr<Crew> crew = make_crew(teams_of(opened));
  if (!given.trace.empty()) note_missing_clocks(contexts);
  start_blas(given);
  const SweepPlan plan = make_plan(given, opened, crew.get());
  const std::vector<Device> devices = devices_of(contexts);
  const std::vector<Case> cases = cases_of(plan, opened.alone);
  if (given.dry_run) return print_memory(given, plan, cases, devices);
  nlohmann::json head = report_head(arguments, devices, given.options.kernels());
  add_libraries(head, plan.baselines);
  nlohmann::json report = begin_report(std::move(head), given.options, earlier);
  std::set<Precision> precisions;
  for (const Arithmetic& arithmetic : plan.precisions) precisions.insert(arithmetic.precision);
  Sink sink(given.options, given.trace, std::move(report), contexts, precisions, given.effort);
  if (earlier.is_object()) sink.resume(earlier, cases);
  if (!plan.baselines.empty()) warn_of_slow_baseline();
  if (given.options.prints()) print_setting(given, plan, contexts);
  if (given.options.prints_rows()) std::cout << sink.table().header() << std::flush;
  Progress progress(work_of(cases));
  std::size_t number = 0;
  results = &sink;
  run_sweep(plan, cases, contexts,
            {.wanted =
                 [&](const Case& what) {
                   const bool known = sink.has(what);
                   known ? progress.skip(work_of(what)) : sink.expect(number);
                   ++number;
                   return !known;
                 },
             .working =
                 [&](const Case& what) {
                   watchdog.clear();
                   at_work = description(what);
                   watchdog.set(seconds_until_hung(what.problem.size.n, given.effort));
                   show_progress(progress.text() + ' ' + at_work);
                 },
             .done =
                 [&](const Result& result, std::size_t i) {
                   watchdog.clear();
                   progress.finish(work_of(result.what));
                   sink.add(result, i);
                 },
             .earlier = [&](std::size_t i) { return sink.earlier(cases[i], i); },
             .sampled = [&](const Case& what, std::size_t i,
                            std::span<const double> seconds) { sink.sampled(what, i, seconds); }});
  return sink.finish();
}

void add_sweep_options(CLI::App& command, BenchArguments& given) {
  command.option_defaults()->group("What is measured");
  command
      .add_option("-n,--sizes", given.sizes,
                  "Orders: N, FIRST:LAST:STEP, FIRST:LAST:*FACTOR, separated by commas "
                  "(default: 128:1024:*2)")
      ->type_name("SIZES");
  const auto list = [&](const char* flag, std::vector<std::string>& values,
                        const std::vector<std::string>& known, const char* help) {
    command.add_option(flag, values, help)
        ->delimiter(',')
        ->check(CLI::IsMember(known))
        ->type_name("LIST");
  };
  list("--method", given.methods, all_method_names(),
       "Methods (default: lu-blocked,lu,gauss-jordan; with --problem all that are for it)");
  list("--pivot", given.pivots, pivot_names(),
       "Pivotings; complete is another name for full (default: none,partial,full)");
  list("--precision", given.precisions, arithmetic_names(),
       "single, double, mixed: factors in single, X as accurate as in double (default: single; "
       "with --problem double)");
  list("--storage", given.storages, storage_names(), "Surfaces (default: auto, the fastest)");
  list("--texel", given.texels, texel_names(),
       "r: one element per texel, rgba: 4 floats or 2 doubles (default: auto, the fastest)");
  list("--schedule", given.schedules, schedule_names(),
       "For the unblocked methods; fused: one pass per step, paper: LU-GPU's own passes "
       "(default: fused)");
  command.add_option("--nb", given.nbs, "Columns per block of lu-blocked (default: the fastest)")
      ->delimiter(',')
      ->transform(whole_number(1, kLargestBlock))
      ->type_name("LIST");
  command
      .add_option("--baseline", given.baselines,
                  "Rivals, or none (default: getrf,getc2; with --problem all that are for it)")
      ->delimiter(',')
      ->type_name("LIST");
  command
      .add_option(
          "--threads", given.threads,
          "Threads for getrf (default: of 1, 2, 4 ... all cores the fastest at each n; or --units)")
      ->transform(whole_number(1, kMostThreads))
      ->type_name("N");
  command
      .add_option("--matrix", given.matrix,
                  "A kind of `lugpu generate` (default: auto, random; dominant without pivoting)")
      ->type_name("KIND");
  command
      .add_option("--batch", given.batch,
                  "As many small systems at once, n up to 512, instead of one after the other; "
                  "pivotings none, partial and full")
      ->transform(whole_number(1, kMostMembers))
      ->type_name("COUNT");
  command.add_option("--nrhs", given.nrhs, "Right-hand sides (default: 1)")
      ->transform(whole_number(1, kMostRightHandSides))
      ->type_name("N");
  command.add_option("--seed", given.seed, "Seed of the matrices (default: 1)")
      ->transform(whole_number(0, kLargestSeed))
      ->type_name("SEED");
}

void add_effort_options(CLI::App& command, BenchArguments& given) {
  command.option_defaults()->group("How long");
  command.add_flag("--dry-run", given.dry_run,
                   "Say how much memory each case of a dense sweep takes and whether it fits, and "
                   "run nothing");
  command.add_option("--warmup", given.effort.warmup, "Untimed runs per case (default: 1)")
      ->transform(whole_number(0, 1000))
      ->type_name("N");
  command.add_option("--runs", given.effort.runs, "Timed runs per case, at least (default: 5)")
      ->transform(whole_number(1, 1000))
      ->type_name("N");
  command
      .add_option("--min-time", given.effort.min_time_s,
                  "Seconds of timed runs per case, at least, but at most half of --timeout "
                  "(default: 0.2); the record keeps at most 1000 of the times, evenly spaced")
      ->check(number(0, 3600))
      ->type_name("S");
  command
      .add_option("--max-time", given.effort.max_time_s,
                  "Seconds of timed runs per case, at most, whatever else asks for more; but one "
                  "run (default: half of --timeout)")
      ->check(number(0, 1e6))
      ->type_name("S");
  command
      .add_option("--noise", given.effort.noise,
                  "After --runs and --min-time, go on until the 95 % interval of the median is "
                  "within so much of it, but not beyond --max-time (default: 2%, and not beyond "
                  "five times --min-time)")
      ->transform(fraction(1e-4, 1))
      ->type_name("P");
  command
      .add_option("--timeout", given.effort.timeout_s,
                  "Time limit of a case in seconds; longer ones are skipped, and a device that "
                  "hangs far beyond it ends the run (default: 20)")
      ->check(number(0.001, 1e6))
      ->type_name("S");
}

void add_record_options(CLI::App& command, BenchArguments& given) {
  add_format_option(command, given.options);
  command.add_flag("--resume", given.options.resume, "Continue from the results in --json FILE");
  command
      .add_option("--trace", given.trace,
                  "Write when each kernel of a factorization ran, and panels within kernels, for "
                  "chrome://tracing or Perfetto")
      ->type_name("FILE");
}

// Where the user does not say how well a median is to be known.
void set_default_noise(Effort& effort) {
  constexpr double kNoise = 0.02, kMinTimes = 5;
  if (effort.noise) return;
  effort.noise = kNoise;
  effort.noise_time_s = kMinTimes * effort.min_time_s;
}

std::vector<std::string> problem_baselines(const std::vector<std::string>& given, bool chosen) {
  std::vector<std::string> names;
  for (const SystemBaseline& rival : system_baselines()) {
    if (!chosen) names.emplace_back(rival.name);
  }
  if (!chosen || given == std::vector<std::string>{"none"}) return names;
  for (const std::string& name : given) find_system_baseline(name);
  return distinct(given, [](const std::string& name) { return name; });
}

// What the options of a sweep mean for a problem. The defaults of dense systems are not meant.
ProblemArguments problem_of(const BenchArguments& given, const CLI::App& command) {
  for (const char* other : {"--sizes", "--pivot", "--texel", "--schedule", "--nb", "--matrix",
                            "--seed", "--threads", "--trace", "--dry-run"}) {
    if (command.count(other) > 0) {
      throw InputError(std::string(other) + " is for dense systems, and --problem for others.");
    }
  }
  ProblemArguments problem = given.problem;
  if (command.count("--method") > 0) {
    problem.methods = distinct(given.methods, [](const std::string& name) { return name; });
    require_methods(problem.methods, true);
  }
  if (command.count("--precision") > 0) {
    if (std::count(given.precisions.begin(), given.precisions.end(), "mixed") > 0) {
      throw InputError("--precision mixed is not for --problem; use single or double.");
    }
    problem.precisions = distinct(given.precisions, to_precision);
  }
  problem.baselines = problem_baselines(given.baselines, command.count("--baseline") > 0);
  problem.storages =
      distinct(given.storages, [](const std::string& name) { return to_storage(name, {}); });
  problem.nrhs = given.nrhs;
  problem.effort = given.effort;
  return problem;
}

// What the options of a sweep mean for batches. The default sizes are smaller.
BatchArguments batch_of(const BenchArguments& given, const CLI::App& command) {
  for (const char* other :
       {"--method", "--storage", "--texel", "--schedule", "--nb", "--threads", "--trace",
        "--problem", "--grid", "--tolerance", "--iterations", "--device-memory", "--dry-run"}) {
    if (command.count(other) > 0) {
      throw InputError(std::string(other) + " is not for --batch.");
    }
  }
  if (std::count(given.precisions.begin(), given.precisions.end(), "mixed") > 0) {
    throw InputError("--precision mixed is not for --batch; use single or double.");
  }
  BatchArguments batch;
  batch.count = given.batch;
  batch.sizes = command.count("--sizes") > 0 ? given.sizes : "4:512:*2";
  batch.pivots = distinct(given.pivots, to_pivot);
  for (const Pivot pivot : batch.pivots) {
    if (pivot == Pivot::none || pivot == Pivot::partial || pivot == Pivot::full) continue;
    throw InputError(std::string("--pivot ") + name(pivot) + " is not for --batch.");
  }
  batch.precisions = distinct(given.precisions, to_precision);
  if (given.baselines != std::vector<std::string>{"none"}) {
    for (const std::string& name : given.baselines) find_batch_rival(name);
    batch.baselines = distinct(given.baselines, [](const std::string& name) { return name; });
  }
  batch.matrix = given.matrix;
  if (batch.matrix != "auto") generate(batch.matrix, 1, given.seed);  // an unknown kind ends here
  batch.seed = given.seed;
  batch.nrhs = given.nrhs;
  batch.effort = given.effort;
  return batch;
}

void require_for_simulations(const BenchArguments& given, const CLI::App& command) {
  const std::vector<std::string>& rivals = simulated_baselines();
  for (const std::string& name : given.baselines) {
    const bool known = name == "none" || std::count(rivals.begin(), rivals.end(), name) > 0;
    if (command.count("--baseline") > 0 && !known) {
      throw InputError("--baseline " + name + " does not simulate; plain-jacobi and the like do.");
    }
  }
  for (const char* option : {"--storage", "--nrhs"}) {
    if (command.count(option) > 0) {
      throw InputError(std::string(option) + " is for linear systems, and not for simulations.");
    }
  }
}

void require_no_problem(const BenchArguments& given, const CLI::App& command) {
  parse_sizes(given.problem.grids, "--grid");
  for (const char* option : {"--grid", "--tolerance", "--iterations"}) {
    if (command.count(option) > 0) {
      throw InputError(std::string(option) + " needs --problem, which says what is to be solved.");
    }
  }
}

// A name of a problem, or a file.
CLI::Validator known_problem() {
  std::vector<std::string> names;
  for (const GridProblem& problem : grid_problems()) names.emplace_back(problem.name);
  for (const SimulatedProblem& problem : simulated_problems()) names.emplace_back(problem.name);
  CLI::Validator known = CLI::IsMember(names);
  const auto check = [known](std::string& text) { return is_file(text) ? "" : known(text); };
  return {check, known.get_description()};
}

void add_problem_options(CLI::App& command, BenchArguments& given) {
  command.option_defaults()->group("Equations, sparse matrices, simulations");
  command
      .add_option(
          "--problem", given.problem.problems,
          "Equations on grids, files of sparse matrices or simulations (fluid2d, fluid3d, wave2d) "
          "instead of dense matrices; every method is taken to the same tolerance")
      ->delimiter(',')
      ->check(known_problem())
      ->type_name("LIST");
  command
      .add_option("--grid", given.problem.grids,
                  "With --problem: points along each axis, as --sizes (default: 32:256:*2)")
      ->type_name("SIZES");
  command
      .add_option("--tolerance", given.problem.tolerance,
                  "With --problem: of ||b - A x|| / ||b|| (default: 1e-6); of a simulation: what "
                  "may be left (default: 1e-3 in single precision, 1e-6 in double)")
      ->check(number(1e-16, 1))
      ->type_name("T");
  command
      .add_option("--iterations", given.problem.iterations,
                  "With --problem: steps of an iterative method at most (default: 10000); of a "
                  "simulation: of every system in its first table (default: 10 in 2D, 4 in 3D, 5 "
                  "of waves)")
      ->transform(whole_number(1, 10'000'000))
      ->type_name("N");
}

}  // namespace

Command add_bench(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("bench", "Time the methods against LAPACK and other rivals");
  const auto given = std::make_shared<BenchArguments>();
  add_sweep_options(*command, *given);
  add_effort_options(*command, *given);
  add_problem_options(*command, *given);
  add_device_options(*command, given->options, DeviceUse::in_turn);
  add_record_options(*command, *given);
  add_output_options(*command, given->options);
  command->footer(
      list_of_rivals() + '\n' +
      exit_statuses({Exit::ok, Exit::failure, Exit::usage, Exit::check_failed, Exit::no_device}));
  const Command action = [given, command](const std::vector<std::string>& arguments) {
    set_default_noise(given->effort);
    if (given->batch > 0) {
      if (process_group().size() > 1) {
        throw InputError("--batch is for one process; start it without mpirun.");
      }
      set_colour(given->options.colour);
      return bench_batches(batch_of(*given, *command), given->options, arguments);
    }
    if (given->problem.problems.empty()) {
      require_no_problem(*given, *command);
      return bench(*given, arguments);
    }
    if (process_group().size() > 1) {
      throw InputError("--problem is for one process; start it without mpirun.");
    }
    set_colour(given->options.colour);
    const std::vector<std::string>& problems = given->problem.problems;
    const auto simulated = std::count_if(problems.begin(), problems.end(), is_simulated);
    if (simulated == static_cast<std::ptrdiff_t>(problems.size())) {
      require_for_simulations(*given, *command);
      return bench_simulated(problem_of(*given, *command), given->options, arguments);
    }
    if (simulated > 0) {
      throw InputError("--problem: simulations and linear systems need a bench of their own each.");
    }
    return bench_problems(problem_of(*given, *command), given->options, arguments);
  };
  return [given, action](const std::vector<std::string>& arguments) {
    SweepDevices opened;
    return in_processes([&] { return action(arguments); },
                        [&] {
                          opened = open_sweep_devices(given->options);
                          return teams_of(opened);
                        },
                        obey_scalapack);
  };
}

}  // namespace lugpu::cli
