#include "bench/verify.hpp"

#include <algorithm>
#include <iostream>
#include <memory>

#include "bench/report.hpp"
#include "commands.hpp"
#include "options.hpp"
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

// A row for each method, schedule and pivoting; a column for each precision, storage and texel.
std::string table(const std::vector<Verdict>& paths) {
  const auto cell_of = [&](const Method& method, const Problem& problem) {
    const std::string wanted = path_name(method, problem);
    for (const Verdict& verdict : paths) {
      if (verdict.name == wanted) return cell(verdict);
    }
    return std::string();
  };
  std::string text = header();
  for (const Method& method : methods()) {
    for (const Schedule schedule : {Schedule::fused, Schedule::paper}) {
      if (method.block_size && schedule == Schedule::paper) continue;
      for (const Pivot pivot : method.pivots) {
        const std::string star = schedule == Schedule::paper ? "*" : "";
        text += format("%-13s %-7s", (method.name + star).c_str(), name(pivot));
        for (const Precision precision : kPrecisions) {
          for (const Storage storage : kStorages) {
            for (const Texel texel : kTexels) {
              text += cell_of(method, {0, 0, pivot, precision, storage, texel, schedule});
            }
          }
        }
        text += '\n';
      }
    }
  }
  return text;
}

std::string footer() {
  return wrapped(
             "*: the schedule of the LU-GPU paper. A number is the largest of LAPACK's ratios "
             "(factor_ratio, solve_ratio) over all systems of the path; they pass under 30. -: not "
             "possible.",
             0, 0) +
         "\n";
}

// For the runs of lugpu to come.
void remember(const Verification& verification, const Device& device, const Options& options) {
  try {
    write_failed_paths(device, options.kernel_dir, verification.failed_paths());
  } catch (const Error& error) {
    std::cerr << "lugpu: warning: " << error.what() << '\n';
  }
}

void write_json(const Verification& verification, const Device& device, const Options& options,
                const std::vector<std::string>& arguments) {
  nlohmann::json report = report_head(arguments, {device});
  report["paths"] = nlohmann::json::array();
  for (const Verdict& verdict : verification.paths) report["paths"].push_back(to_json(verdict));
  for (const Result& result : verification.wrong) report["results"].push_back(to_json(result));
  if (options.json_to_stdout()) {
    std::cout << to_text(report);
  } else {
    write_report(report, options.json);
  }
}

void print_failures(const std::vector<Verdict>& paths) {
  for (const Verdict& verdict : paths) {
    if (verdict.wrong == 0) continue;
    std::cerr << format("lugpu: %s: %zu of %zu systems not solved right, the first: ",
                        verdict.name.c_str(), verdict.wrong, verdict.systems)
              << verdict.reason << '\n';
  }
}

Exit verify(const Arguments& given, const std::vector<std::string>& arguments) {
  set_colour(given.options.colour);
  std::vector<DeviceContext> contexts = open_devices(given.options);
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
  std::size_t begun = 0;
  const Verification verification = lugpu::verify(cases, contexts, [&](const Case& what) {
    ++begun;
    show_progress(format("[%zu/%zu] %s %s n=%zu", begun, cases.size(),
                         path_name(find_method(what.routine), what.problem).c_str(),
                         what.matrix.c_str(), what.problem.n));
  });
  show_progress("");
  remember(verification, device, given.options);
  if (given.options.prints()) std::cout << table(verification.paths) << '\n' << footer();
  if (!given.options.json.empty()) write_json(verification, device, given.options, arguments);
  print_failures(verification.paths);
  if (verification.passed()) return Exit::ok;
  const bool ran = std::any_of(verification.wrong.begin(), verification.wrong.end(),
                               [](const Result& r) { return r.status == Status::failed; });
  return ran ? Exit::check_failed : Exit::failure;
}

}  // namespace

Command add_verify(CLI::App& app) {
  CLI::App* command = app.add_subcommand("verify", "Check every kernel path on small systems");
  const auto given = std::make_shared<Arguments>();
  command->add_flag("--full", given->full, "More orders and block sizes: minutes, not seconds");
  add_device_options(*command, given->options, false);
  add_output_options(*command, given->options);
  command->footer(wrapped(
      "The systems are of LAPACK's eleven types of matrices, its ratios are the checks. A path "
      "that fails is named, and from then on --method auto does not choose it on this device and "
      "driver; a later run of verify that finds it right forgets that.",
      0, 0));
  return [given](const std::vector<std::string>& arguments) { return verify(*given, arguments); };
}

}  // namespace lugpu::cli
