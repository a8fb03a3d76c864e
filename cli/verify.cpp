#include "bench/verify.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "bench/report.hpp"
#include "commands.hpp"
#include "help.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "processes.hpp"
#include "solvers/failed_paths.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

struct Arguments {
  Options options;
  bool full = false;
};

constexpr Precision kPrecisions[] = {Precision::single_precision, Precision::double_precision};
constexpr Storage kStorages[] = {Storage::buffer, Storage::image};
constexpr Texel kTexels[] = {Texel::r, Texel::rgba};

// One cell: the largest ratio, or what became of the path.
std::string cell(const Verdict& verdict) {
  constexpr const char* kWidth = "%7s";
  switch (verdict.status) {
    case Status::ok:
      return paint(Ink::good, format(kWidth, format("%.2g", verdict.largest_ratio).c_str()));
    case Status::unsupported:
      return paint(Ink::dim, format(kWidth, "-"));
    case Status::skipped:
      return paint(Ink::dim, format(kWidth, "?"));
    case Status::failed:
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
  const bool mixed = problem.refine == Refine::mixed;
  std::string text;
  for (const Precision precision : kPrecisions) {
    if (!mixed) problem.precision = precision;
    for (const Storage storage : kStorages) {
      problem.storage = storage;
      for (const Texel texel : kTexels) {
        problem.texel = texel;
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
    bool blocks;
  };
  constexpr Kind kKinds[] = {{"", Schedule::fused, Refine::none, false},
                             {"*", Schedule::paper, Refine::none, false},
                             {"", Schedule::fused, Refine::none, true},
                             {"+", Schedule::fused, Refine::mixed, true}};
  std::string text = header();
  for (const Method& method : methods()) {
    for (const auto& [mark, schedule, refine, blocks] : kKinds) {
      if (blocks != (method.block_size != nullptr)) continue;
      for (const Pivot pivot : method.pivots) {
        Problem problem;
        problem.pivot = pivot;
        problem.precision = Precision::single_precision;
        problem.schedule = schedule;
        problem.refine = refine;
        text += format("%-13s %-7s", (std::string(method.name) + mark).c_str(), name(pivot)) +
                row(paths, method, problem) + '\n';
      }
    }
  }
  return text;
}

std::string footer() {
  return wrapped(
             "*: the schedule of the LU-GPU paper. +: --precision mixed. A number is the largest "
             "of LAPACK's ratios "
             "(factor_ratio, solve_ratio) over all systems of the path; they pass under 30. -: not "
             "possible. ?: not all systems were reached, for the driver crashed before.",
             0, 0) +
         "\n";
}

// For the runs of lugpu to come.
void remember(const Verification& verification, const Device& device, const Options& options) {
  try {
    write_failed_paths(device, options.kernel_dir, verification.failed_paths());
  } catch (const Error& error) {
    print_warning(error.what());
  }
}

nlohmann::json make_report(const Verification& verification, const Device& device,
                           const std::vector<std::string>& arguments) {
  nlohmann::json report = report_head(arguments, {device});
  report["paths"] = nlohmann::json::array();
  for (const Verdict& verdict : verification.paths) report["paths"].push_back(to_json(verdict));
  report["results"] = verification.wrong;
  return report;
}

void print_failures(const std::vector<Verdict>& paths) {
  for (const Verdict& verdict : paths) {
    if (verdict.wrong == 0) continue;
    print_error(format("%s: %zu of %zu systems not solved right, the first: ", verdict.name.c_str(),
                       verdict.wrong, verdict.systems) +
                verdict.reason);
  }
}

// The numbers of the cases of one part.
std::vector<std::size_t> numbers_of(const std::vector<Case>& cases, std::size_t part) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (verification_part(cases[i]) == part) numbers.push_back(i);
  }
  return numbers;
}

// Compilers allocate and free a lot: a tenth of their time is the system's, for clearing pages.
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

// A part in a process of its own, which sends the number of each case that it begins, and what it
// finds. contexts: the process's; empty for its first part, and after an error that may have broken
// them.
void verify_part(const Arguments& given, std::size_t part, std::vector<DeviceContext>& contexts,
                 const Processes::Send& send) {
  set_blas_threads(1);  // the systems are small
  keep_freed_memory();
  if (contexts.empty()) contexts = open_devices(given.options);
  bool broken = false;
  const std::vector<Case> all = verification_cases(contexts.front().device(), given.full);
  const std::vector<std::size_t> numbers = numbers_of(all, part);
  std::vector<Case> cases;
  for (const std::size_t i : numbers) cases.push_back(all[i]);
  lugpu::verify(
      cases, contexts,
      [&](std::size_t i) {
        send(to_line({{"case", numbers[i]}}));
      },
      [&](std::size_t i, const Finding& finding) {
        broken = broken || finding.status == Status::error;
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

// The case that a process was at when it ended as it should not.
Finding crash(const Case& what, const std::string& how) {
  Result result;
  result.what = what;
  result.reason = "the driver ended the process: " + how + ".";
  return {result.status, result.reason, 0, to_json(result)};
}

// Collects what the processes send.
Verification collect(Processes& processes, const std::vector<Case>& cases) {
  std::vector<std::optional<Finding>> findings(cases.size());
  std::vector<std::size_t> last(kVerificationParts, cases.size());
  std::size_t done = 0;
  processes.wait(
      [&](std::size_t part, const std::string& text) {
        const nlohmann::json line = nlohmann::json::parse(text);
        last[part] = line["case"];
        const Case& what = cases.at(last[part]);
        if (line.contains("status")) {
          findings[last[part]] = to_finding(line);
          ++done;
        }
        show_progress(format("[%zu/%zu] %s %s n=%zu", done, cases.size(),
                             path_name(find_method(what.routine), what.problem).c_str(),
                             what.matrix.c_str(), what.problem.n));
      },
      [&](std::size_t part, const std::string& how) {
        if (how.empty()) return;
        if (last[part] == cases.size()) {
          throw Error(Exit::failure, "A process ended before its first system: " + how + ".");
        }
        findings[last[part]] = crash(cases[last[part]], how);
      });
  show_progress("");
  Verification verification;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    static const Finding not_reached = {Status::skipped,
                                        "it was not reached, for the driver crashed.", 0, nullptr};
    verification.add(cases[i], findings[i].value_or(not_reached));
  }
  return verification;
}

Exit verify(const Arguments& given, const std::vector<std::string>& arguments) {
  set_colour(given.options.colour);
  setenv("POCL_AFFINITY", "0", 0);  // processes side by side are best placed by the system
  check_outputs(given.options, {}, {});
  // Before OpenCL starts here.
  Processes processes(kVerificationParts, std::max(std::thread::hardware_concurrency(), 1u),
                      [&, contexts = std::vector<DeviceContext>()](
                          std::size_t part, const Processes::Send& send) mutable {
                        verify_part(given, part, contexts, send);
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
  const Verification verification = collect(processes, verification_cases(device, given.full));
  remember(verification, device, given.options);
  if (given.options.prints()) std::cout << table(verification.paths) << '\n' << footer();
  JsonOutput json(given.options);
  json.write(make_report(verification, device, arguments));
  print_failures(verification.paths);
  if (verification.passed()) return json.status(Exit::ok);
  const auto& wrong = verification.wrong;
  const bool ran = std::any_of(wrong.begin(), wrong.end(), [](const nlohmann::json& record) {
    return record["status"] == name(Status::failed);
  });
  return json.status(ran ? Exit::check_failed : Exit::failure);
}

}  // namespace

Command add_verify(CLI::App& app) {
  CLI::App* command = app.add_subcommand("verify", "Check every kernel path on small systems");
  const auto given = std::make_shared<Arguments>();
  command->add_flag("--full", given->full, "More orders and block sizes: minutes, not seconds");
  add_device_options(*command, given->options, false);
  add_output_options(*command, given->options);
  command->footer(
      wrapped(
          "The systems are of LAPACK's eleven types of matrices, its ratios are the checks. A path "
          "that fails is named, and from then on --method auto does not choose it on this device "
          "and "
          "driver; a later run of verify that finds it right forgets that.",
          0, 0) +
      "\n\n" +
      exit_statuses({Exit::ok, Exit::failure, Exit::usage, Exit::check_failed, Exit::no_device}));
  return [given](const std::vector<std::string>& arguments) { return verify(*given, arguments); };
}

}  // namespace lugpu::cli
