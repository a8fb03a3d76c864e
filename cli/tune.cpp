#include "bench/tune.hpp"

#include <chrono>
#include <iostream>
#include <memory>

#include "base/error.hpp"
#include "bench/report.hpp"
#include "bench/statistics.hpp"
#include "commands.hpp"
#include "device_records.hpp"
#include "help.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "solve/methods.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

constexpr RecordWords kTunedVariants = {kTuningRecord, "fastest", "tuned variant",
                                        "tuned variants"};
constexpr std::size_t kSizes[] = {256, 512, 1024, 2048, 4096, 8192};

struct TuneArguments {
  Options options;
  double max_time_s = 110;
  bool list = false;
  bool forget = false;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// About what the cases take with matrices of twice the order, kernels being built by then.
double seconds_of_next(const std::vector<Result>& results) {
  constexpr double kFactorizations = 6;  // warm-up, samples, the profiled one, checks
  double seconds = 0;
  for (const Result& result : results) {
    if (!result.times_s.empty()) seconds += kFactorizations * median(result.times_s);
  }
  return 8 * seconds;
}

std::vector<Result> run(const SweepPlan& plan, const std::vector<Case>& cases,
                        std::vector<DeviceContext>& contexts) {
  std::vector<Result> results(cases.size());
  std::size_t done = 0;
  run_sweep(plan, cases, contexts,
            {.wanted = [](const Case&) { return true; },
             .working =
                 [&](const Case& what) {
                   show_progress(format("[%zu/%zu] %s %s %s n=%zu", done, cases.size(),
                                        what.routine.c_str(), name(what.problem.dense.pivot),
                                        precision_name(what.problem), what.problem.size.n));
                 },
             .done =
                 [&](const Result& result, std::size_t i) {
                   ++done;
                   results[i] = result;
                 }});
  show_progress("");
  return results;
}

// The default of the method in the same case, which comes first.
const Result* default_of(const TunedVariant& variant, const std::vector<Result>& results) {
  for (const Result& result : results) {
    const Problem& problem = result.what.problem;
    if (result.what.routine == variant.method && problem.dense.pivot == variant.pivot &&
        problem.dense.precision == variant.precision && result.status == RunStatus::ok) {
      return &result;
    }
  }
  return nullptr;
}

std::string row(const TunedVariant& variant, const std::vector<Result>& results) {
  const Result* const usual = default_of(variant, results);
  const double usual_s = usual ? median(usual->times_s) : variant.seconds;
  const std::string nb = variant.nb > 0 ? std::to_string(variant.nb) : "-";
  return format("%5zu %-10s %-7s %-6s %4s %5s %9.3f %7.2f\n", variant.n, variant.method.c_str(),
                name(variant.pivot), name(variant.precision), nb.c_str(), name(variant.texel),
                variant.seconds * 1e3, usual_s / variant.seconds);
}

Exit tune(const TuneArguments& given, const std::vector<std::string>& arguments) {
  set_colour(given.options.colour);
  check_outputs(given.options, {}, {});
  std::vector<DeviceContext> contexts = open_devices(given.options);
  const Device& device = contexts.front().device();
  const double start = now();
  if (given.options.prints()) {
    std::cout << "device    " << wrapped(device.name + " (" + device.platform + ")", 10, 10)
              << "\n\n    n method     pivot   prec.    nb texel        ms  faster\n"
              << std::flush;
  }
  JsonOutput json(given.options);
  nlohmann::json report = report_head(arguments, {device}, given.options.kernels());
  report["results"] = nlohmann::json::array();
  Tuning tuning;
  double next_s = 0;  // 0 before the first
  std::size_t left_out = 0;
  for (const std::size_t n : kSizes) {
    if (next_s > 0 && now() - start + next_s > given.max_time_s) {
      left_out = n;
      break;
    }
    const SweepPlan plan = tuning_plan(device, n);
    const std::vector<Result> results = run(plan, tuning_cases(plan, device), contexts);
    for (const TunedVariant& variant : fastest_variants(results)) {
      tuning.push_back(variant);
      if (given.options.prints()) std::cout << row(variant, results) << std::flush;
    }
    for (const Result& result : results) report["results"].push_back(to_json(result));
    json.update(report);
    next_s = seconds_of_next(results);
  }
  if (tuning.empty()) {
    json.end(report);
    throw Error(ErrorKind::failure, "No candidate ran and passed its checks; nothing is recorded.");
  }
  write_tuning(device, given.options.kernels(), tuning);
  report["devices"][0] = to_json(device, given.options.kernels());
  json.write(report);
  if (given.options.prints()) {
    std::string text =
        "faster: than the default. `lugpu` goes by this on the device from now on; "
        "--forget removes it.";
    if (left_out > 0) {
      text += " Not measured from n = " + std::to_string(left_out) +
              " on, which would have taken longer than --max-time.";
    }
    std::cout << '\n' << wrapped(text, 0, 0) << '\n';
  }
  return json.status(Exit::ok);
}

}  // namespace

Command add_tune(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tune", "Find the fastest block sizes and texels");
  const auto given = std::make_shared<TuneArguments>();
  command->option_defaults()->group("Search");
  command
      ->add_option("--max-time", given->max_time_s,
                   "Begin no larger matrices that would take longer, in seconds (default: 110)")
      ->check(number(0, 1e6))
      ->type_name("S");
  CLI::Option* list = command->add_flag("--list", given->list,
                                        "List what earlier runs found, of -d or of all devices");
  CLI::Option* forget =
      command->add_flag("--forget", given->forget, "Remove these records instead")->excludes(list);
  add_device_options(*command, given->options, DeviceUse::one);
  add_output_options(*command, given->options);
  for (const char* other : {"--max-time", "--json"}) {
    list->excludes(command->get_option(other));
    forget->excludes(command->get_option(other));
  }
  command->footer(
      wrapped("Tries the block sizes of lu-blocked and the texels of lu, in buffers, with no, "
              "partial and full pivoting, at 256, 512 ... 8192. Each candidate is checked. What is "
              "fastest is kept for this device, driver and set of kernels; whatever the options "
              "leave open goes by it, at orders of up to twice or half those measured.",
              0, 0) +
      "\n\n" + exit_statuses({Exit::ok, Exit::failure, Exit::usage, Exit::no_device}));
  return [given](const std::vector<std::string>& arguments) {
    if (given->list) return list_records(kTunedVariants, given->options);
    if (given->forget) return forget_records(kTunedVariants, given->options);
    return tune(*given, arguments);
  };
}

}  // namespace lugpu::cli
