#include "bench/verify.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "base/cores.hpp"
#include "base/processes.hpp"
#include "bench/report.hpp"
#include "bench/wording.hpp"
#include "commands.hpp"
#include "device_records.hpp"
#include "help.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "solve/failed_paths.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

struct VerifyArguments {
  Options options;
  bool full = false;
  bool list = false;
  bool forget = false;
};

constexpr RecordWords kWrongPaths = {kFailedPathsRecord, "wrong", "wrong path", "wrong paths"};
constexpr Precision kPrecisions[] = {Precision::single_precision, Precision::double_precision};
constexpr Storage kStorages[] = {Storage::buffer, Storage::image};
constexpr Texel kTexels[] = {Texel::r, Texel::rgba};

// One cell: the largest ratio, or what became of the path.
std::string cell(const Verdict& verdict) {
  constexpr const char* kWidth = "%7s";
  switch (verdict.status) {
    case RunStatus::ok:
      return paint(Ink::good, format(kWidth, format("%.2g", verdict.largest_ratio).c_str()));
    case RunStatus::unsupported:
      return paint(Ink::dim, format(kWidth, "-"));
    case RunStatus::unknown:
      return paint(Ink::bad, format(kWidth, "?"));
    case RunStatus::failed:
      return paint(Ink::bad, format(kWidth, "WRONG"));
    default:
      return paint(Ink::bad, format(kWidth, "ERROR"));
  }
}

// Precision, storage and texel over the right end of their columns.
std::string header() {
  const std::string blank = format("%-21s", "");
  std::string precisions = blank, storages = blank,
              texels = format("%-13s %-7s", "method", "pivot");
  for (const Precision precision : kPrecisions) {
    precisions += format("%28s", name(precision));
    for (const Storage storage : kStorages) {
      storages += format("%14s", name(storage));
      for (const Texel texel : kTexels) texels += format("%7s", name(texel));
    }
  }
  return precisions + '\n' + storages + '\n' + texels + '\n';
}

// The cells of one pivoting; those of mixed precision, whose X is in double, under that.
std::string row(const std::vector<Verdict>& paths, const Method& method, Problem problem) {
  const bool mixed = problem.solve.refine == Refine::mixed;
  std::string text;
  for (const Precision precision : kPrecisions) {
    if (!mixed) problem.dense.precision = precision;
    for (const Storage storage : kStorages) {
      problem.dense.storage = storage;
      for (const Texel texel : kTexels) {
        problem.dense.texel = texel;
        const std::string wanted = path_name(method, problem);
        const auto found = std::find_if(paths.begin(), paths.end(), [&](const Verdict& verdict) {
          return verdict.name == wanted && precision == working_precision(problem);
        });
        text += found == paths.end() ? format("%7s", "") : cell(*found);
      }
    }
  }
  return text;
}

// A row for each method, schedule or arithmetic, and pivoting; a column for each precision, storage
// and texel.
std::string table(const std::vector<Verdict>& paths) {
  struct Kind {
    const char* mark;
    Schedule schedule;
    Refine refine;
    bool has_schedules;
  };
  constexpr Kind kKinds[] = {{"", Schedule::fused, Refine::none, true},
                             {"*", Schedule::paper, Refine::none, true},
                             {"", Schedule::fused, Refine::none, false},
                             {"+", Schedule::fused, Refine::mixed, false}};
  std::string text = header();
  for (const Method& method : methods()) {
    for (const auto& [mark, schedule, refine, has_schedules] : kKinds) {
      if (has_schedules != method.has_schedules) continue;
      for (const Pivot pivot : method.pivots()) {
        Problem problem;
        problem.dense.pivot = pivot;
        problem.dense.precision = Precision::single_precision;
        problem.dense.schedule = schedule;
        problem.solve.refine = refine;
        text += format("%-13s %-7s", (std::string(method.name) + mark).c_str(), name(pivot)) +
                row(paths, method, problem) + '\n';
      }
    }
  }
  return text;
}

std::string footer_of_paths() {
  return wrapped(
             "*: the schedule of the LU-GPU paper. +: --precision mixed. A number is the largest "
             "of LAPACK's ratios "
             "(factor_ratio, solve_ratio) over all systems of the path; they pass under 30. -: not "
             "possible. ?: not known, because not all of its systems could be tried.",
             0, 0) +
         "\n";
}

// For the runs of lugpu to come. What was wrong before and is not known now stays wrong.
void remember(const Verification& verification, const Device& device, const Options& options) {
  std::vector<std::string> failed = verification.failed_paths();
  const FailedPaths before = read_record(kFailedPathsRecord, device, options.kernels());
  for (const Verdict* verdict : verification.unknown_paths()) {
    if (std::find(before.begin(), before.end(), verdict->name) != before.end()) {
      failed.push_back(verdict->name);
    }
  }
  try {
    write_record(kFailedPathsRecord, device, options.kernels(), failed);
  } catch (const Error& error) {
    print_warning(words(error));
  }
}

nlohmann::json make_report(const Verification& verification, const Device& device,
                           const KernelSettings& kernels,
                           const std::vector<std::string>& arguments) {
  nlohmann::json report = report_head(arguments, {device}, kernels);
  report["paths"] = nlohmann::json::array();
  for (const Verdict& verdict : verification.paths) report["paths"].push_back(to_json(verdict));
  report["results"] = verification.wrong;
  return report;
}

void print_failures(const std::vector<Verdict>& paths) {
  for (const Verdict& verdict : paths) {
    if (verdict.wrong == 0) continue;
    print_error(format("%s: %zu of %zu systems not solved correctly, the first: ",
                       verdict.name.c_str(), verdict.wrong, verdict.systems) +
                verdict.reason);
  }
}

void print_unknown(const std::vector<const Verdict*>& unknown) {
  if (unknown.empty()) return;
  const std::size_t more = unknown.size() - 1;
  print_error(unknown.front()->name + (more > 0 ? " and " + std::to_string(more) + " more" : "") +
              " could not be verified; remove the cause and run `lugpu verify` again: " +
              unknown.front()->reason);
}

// Compilers allocate and free a lot: the system spends a tenth of their time clearing pages.
void keep_freed_memory() {
  constexpr int kGigabyte = 1 << 30;
  mallopt(M_TRIM_THRESHOLD, kGigabyte);
  mallopt(M_TOP_PAD, kGigabyte / 16);
  mallopt(M_MMAP_THRESHOLD, kGigabyte / 32);
}

// A reason may quote a compiler in any encoding.
std::string to_line(const nlohmann::json& message) {
  return message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Some cases in their own process, which sends the number of each that it begins, and what it
// finds. contexts: the process's; empty for its first cases, and after an error that may have
// broken them.
void verify_some(const VerifyArguments& given, const std::vector<std::size_t>& numbers,
                 std::vector<DeviceContext>& contexts, const Processes::Send& send) {
  set_blas_threads(1);  // the systems are small
  keep_freed_memory();
  if (contexts.empty()) contexts = open_devices(given.options);
  bool broken = false;
  const std::vector<Case> all = verification_cases(contexts.front().device(), given.full);
  std::vector<Case> cases;
  for (const std::size_t i : numbers) cases.push_back(all.at(i));
  lugpu::verify(
      cases, contexts,
      [&](std::size_t i) {
        send(to_line({{"case", numbers[i]}}));
      },
      [&](std::size_t i, const Finding& finding) {
        broken =
            broken || finding.status == RunStatus::error || finding.status == RunStatus::unknown;
        send(to_line({{"case", numbers[i]},
                      {"status", finding.status},
                      {"reason", finding.reason},
                      {"largest_ratio", finding.largest_ratio},
                      {"record", finding.record}}));
      });
  if (broken) contexts.clear();
}

Finding to_finding(const nlohmann::json& line) {
  return {line["status"], line["reason"], line["largest_ratio"], line["record"]};
}

// The case that a process was running when it crashed.
Finding crash(const Case& what, const std::string& how) {
  Result result;
  result.what = what;
  result.reason = "the driver ended the process: " + how + ".";
  return {result.status, result.reason, 0, to_json(result)};
}

// Gives the cases to processes and collects what they find.
class Collector {
 public:
  explicit Collector(const std::vector<Case>& cases) : cases_(cases), states_(cases.size()) {}

  // Those that have no verdict, part by part, this many parts at a time. Cases that were tried in
  // vain before come last in each: they may end the process again.
  void run(Processes& processes, std::size_t at_once) {
    std::vector<Numbers> lists(kVerificationParts);
    for (const bool tried : {false, true}) {
      for (std::size_t i = 0; i < cases_.size(); ++i) {
        if (states_[i].open && states_[i].tried == tried) {
          lists[verification_part(cases_[i])].push_back(i);
        }
      }
    }
    std::erase_if(lists, [](const Numbers& list) { return list.empty(); });
    std::vector<std::string> orders;
    for (const Numbers& list : lists) orders.push_back(nlohmann::json(list).dump());
    std::vector<std::optional<std::size_t>> at(lists.size());  // the case that each is running
    processes.run(
        orders, at_once, [&](std::size_t list, const std::string& text) { at[list] = take(text); },
        [&](std::size_t list, const Processes::End& end) { close(lists[list], at[list], end); });
    show_progress("");
  }

  Verification verification() const {
    Verification result;
    for (std::size_t i = 0; i < cases_.size(); ++i) result.add(cases_[i], states_[i].finding);
    return result;
  }

 private:
  using Numbers = std::vector<std::size_t>;
  struct State {
    Finding finding = {RunStatus::unknown, "", 0, nullptr};
    bool open = true;    // without a verdict
    bool tried = false;  // it was begun
  };

  // What a process says about a case, whose number is returned.
  std::size_t take(const std::string& text) {
    const nlohmann::json line = nlohmann::json::parse(text);
    const std::size_t i = line["case"];
    State& state = states_.at(i);
    state.tried = true;
    if (line.contains("status")) {
      state.finding = to_finding(line);
      state.open = state.finding.status == RunStatus::unknown;
      done_ += state.open ? 0 : 1;
    }
    const Case& what = cases_[i];
    show_progress(format("[%zu/%zu] %s %s n=%zu", done_, cases_.size(),
                         path_name(find_method(what.routine), what.problem).c_str(),
                         what.matrix.c_str(), what.problem.size.n));
    return i;
  }

  // The end of a list of cases. at: the last that was begun. A driver that crashed would do so
  // again: later cases are not tried.
  void close(const Numbers& list, std::optional<std::size_t> at, const Processes::End& end) {
    using Kind = Processes::End::Kind;
    const bool crashed = at && end.kind == Kind::crashed;
    if (crashed) states_[*at] = {crash(cases_[*at], end.how), false, true};
    if (at && end.kind == Kind::killed && states_[*at].open) {
      states_[*at].finding.reason = "its process ended: " + end.how + ".";
    }
    const std::string why = crashed ? ", because the driver crashed before."
                            : end.kind == Kind::returned
                                ? "."
                                : ", for its process ended: " + end.how + ".";
    for (const std::size_t i : list) {
      State& state = states_[i];
      if (!state.open || state.tried) continue;
      state.finding.reason = "it was not reached" + why;
      state.open = !crashed;
    }
  }

  const std::vector<Case>& cases_;
  std::vector<State> states_;  // of each case
  std::size_t done_ = 0;
};

Exit verify(const VerifyArguments& given, const std::vector<std::string>& arguments) {
  set_colour(given.options.colour);
  setenv("POCL_AFFINITY", "0", 0);  // processes side by side are best placed by the system
  check_outputs(given.options, {}, {});
  prepare_pocl(given.options);
  // Before OpenCL starts here. Each part may cost a process, when all are at work and when one is.
  Processes processes(2 * kVerificationParts,
                      [&, contexts = std::make_shared<std::vector<DeviceContext>>()](
                          const std::string& order, const Processes::Send& send) {
                        verify_some(given, nlohmann::json::parse(order), *contexts, send);
                      });
  const std::vector<DeviceContext> contexts = open_devices(given.options);
  const Device& device = contexts.front().device();
  if (given.options.prints()) {
    std::cout << "device    "
              << wrapped(
                     device.name + " (" + device.platform + "), driver " + device.driver_version,
                     10, 10)
              << "\n\n"
              << std::flush;
  }
  const std::vector<Case> cases = verification_cases(device, given.full);
  Collector collector(cases);
  collector.run(processes, cores().usable);
  // A process that was killed or a program that did not build is no verdict.
  collector.run(processes, 1);
  const Verification verification = collector.verification();
  remember(verification, device, given.options);
  if (given.options.prints()) std::cout << table(verification.paths) << '\n' << footer_of_paths();
  JsonOutput json(given.options);
  json.write(make_report(verification, device, given.options.kernels(), arguments));
  print_failures(verification.paths);
  print_unknown(verification.unknown_paths());
  if (verification.passed()) {
    return json.status(verification.unknown_paths().empty() ? Exit::ok : Exit::failure);
  }
  const auto& wrong = verification.wrong;
  const bool ran = std::any_of(wrong.begin(), wrong.end(), [](const nlohmann::json& record) {
    return record["status"] == name(RunStatus::failed);
  });
  return json.status(ran ? Exit::check_failed : Exit::failure);
}

}  // namespace

Command add_verify(CLI::App& app) {
  CLI::App* command = app.add_subcommand("verify", "Check every kernel path on small systems");
  const auto given = std::make_shared<VerifyArguments>();
  command->option_defaults()->group("Paths");
  command->add_flag("--full", given->full, "More orders and block sizes (minutes, not seconds)");
  CLI::Option* list = command->add_flag(
      "--list", given->list, "List what earlier runs recorded as wrong, of -d or of all devices");
  CLI::Option* forget =
      command
          ->add_flag("--forget", given->forget,
                     "Remove these records instead, so that auto takes the paths again")
          ->excludes(list);
  add_device_options(*command, given->options, DeviceUse::one);
  add_output_options(*command, given->options);
  for (const char* other : {"--full", "--json"}) {
    list->excludes(command->get_option(other));
    forget->excludes(command->get_option(other));
  }
  command->footer(
      wrapped(
          "The systems are of LAPACK's eleven types of matrices, its ratios are the checks. A path "
          "that fails is named, and from then on --method auto does not choose it on this device "
          "and driver; a later run of verify that finds it right forgets that. What was killed or "
          "did not build is tried again alone, and is not known if that fails too.",
          0, 0) +
      "\n\n" +
      exit_statuses({Exit::ok, Exit::failure, Exit::usage, Exit::check_failed, Exit::no_device}));
  return [given](const std::vector<std::string>& arguments) {
    if (given->list) return list_records(kWrongPaths, given->options);
    if (given->forget) return forget_records(kWrongPaths, given->options);
    return verify(*given, arguments);
  };
}

}  // namespace lugpu::cli
