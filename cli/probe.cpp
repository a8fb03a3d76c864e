#include <algorithm>
#include <iostream>
#include <memory>

#include "bench/operator_probe.hpp"
#include "bench/report.hpp"
#include "bench/statistics.hpp"
#include "bench/sweep.hpp"
#include "commands.hpp"
#include "help.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

struct Arguments {
  Options options;
  std::string sizes = "128:512:*2";
  std::vector<std::string> precisions = {"single"};
  std::vector<std::string> storages = {"image", "buffer"};
  std::vector<std::string> groups = {"passes", "vectors"};

  bool has(const char* group) const {
    return std::find(groups.begin(), groups.end(), group) != groups.end();
  }
  int runs = 5;
};

// A variant of the update and how records name it.
struct Variant {
  const char* probe;
  const char* name;
  UpdateVariant update;
};
constexpr Variant kVariants[] = {{"index", "kernel", UpdateVariant::kernel_index},
                                 {"index", "launch", UpdateVariant::launch_index},
                                 {"cache", "matrix", UpdateVariant::kernel_index},
                                 {"cache", "fixed", UpdateVariant::fixed_places}};

nlohmann::json rate(const char* probe, const char* precision, double value, const char* unit) {
  return {{"name", probe}, {"precision", precision}, {"value", value}, {"unit", unit}};
}

nlohmann::json probe_ceilings(const Ceilings& ceilings, const Options& options) {
  nlohmann::json rows = {
      rate("copy", "single", ceilings.copy_bytes_per_s, "bytes/s"),
      rate("multiply-add", "single", ceilings.single_multiply_adds_per_s, "1/s")};
  if (ceilings.double_multiply_adds_per_s) {
    rows.push_back(rate("multiply-add", "double", *ceilings.double_multiply_adds_per_s, "1/s"));
  }
  if (options.prints()) {
    for (const nlohmann::json& row : rows) {
      std::cout << format("%-13s %-6s %10.4g %s\n", row["name"].get<std::string>().c_str(),
                          row["precision"].get<std::string>().c_str(), row["value"].get<double>(),
                          row["unit"].get<std::string>().c_str());
    }
    std::cout << "\n     n probe         prec.  storage    ms, median   copy\n";
  }
  return rows;
}

nlohmann::json probe_update(DeviceContext& context, std::size_t n, Precision precision,
                            Storage storage, const Variant& variant, const Arguments& given) {
  const std::vector<double> times =
      time_updates(context, n, precision, storage, variant.update, given.runs);
  const double seconds = median(times);
  if (given.options.prints()) {
    std::cout << format("%6zu %-6s %-6s %-6s %-6s %14.3f\n", n, variant.probe, variant.name,
                        name(precision), name(storage), seconds * 1e3)
              << std::flush;
  }
  return {{"name", variant.probe},
          {"variant", variant.name},
          {"n", n},
          {"precision", name(precision)},
          {"storage", name(storage)},
          {"median_s", seconds},
          {"times_s", times}};
}

// Vectors of n x n elements. bytes_over_copy: the share of the copy's bytes per second.
std::vector<nlohmann::json> probe_operators(DeviceContext& context, const Ceilings& ceilings,
                                            std::size_t n, Precision precision, Storage storage,
                                            const Arguments& given) {
  std::vector<nlohmann::json> rows;
  for (const OperatorTime& time : time_operators(context, n, precision, storage, given.runs)) {
    const double seconds = median(time.times_s);
    const double share = time.bytes / seconds / ceilings.copy_bytes_per_s;
    if (given.options.prints()) {
      std::cout << format("%6zu %-13s %-6s %-6s %14.4f %6.2f\n", n, time.name, name(precision),
                          name(storage), seconds * 1e3, share)
                << std::flush;
    }
    rows.push_back({{"name", time.name},
                    {"n", n},
                    {"precision", name(precision)},
                    {"storage", name(storage)},
                    {"bytes", time.bytes},
                    {"bytes_over_copy", share},
                    {"median_s", seconds},
                    {"times_s", time.times_s}});
  }
  return rows;
}

Exit probe(const Arguments& given, const std::vector<std::string>& arguments) {
  const std::vector<std::size_t> sizes = parse_sizes(given.sizes);
  check_outputs(given.options, {}, {});
  JsonOutput json(given.options);
  DeviceContext context = std::move(open_devices(given.options).front());
  nlohmann::json report = report_head(arguments, {context.device()}, context.settings());
  const Ceilings ceilings = measure_ceilings(context);
  report["probes"] = probe_ceilings(ceilings, given.options);
  for (const std::size_t n : sizes) {
    for (const std::string& precision : given.precisions) {
      for (const std::string& storage : given.storages) {
        for (const Variant& variant : kVariants) {
          if (!given.has("passes")) break;
          report["probes"].push_back(probe_update(context, n, to_precision(precision),
                                                  to_storage(storage, context.device()), variant,
                                                  given));
        }
        if (!given.has("vectors")) continue;
        for (nlohmann::json& row : probe_operators(context, ceilings, n, to_precision(precision),
                                                   to_storage(storage, context.device()), given)) {
          report["probes"].push_back(std::move(row));
        }
      }
    }
    json.update(report);
  }
  json.end(report);
  return json.status(Exit::ok);
}

}  // namespace

Command add_probe(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("probe", "Measure the device: copy, multiply-add, passes, vectors");
  const auto given = std::make_shared<Arguments>();
  command
      ->add_option("-n,--sizes", given->sizes,
                   "Orders; vectors have n x n elements (default: 128:512:*2)")
      ->type_name("SIZES");
  command->add_option("--precision", given->precisions, "Precisions (default: single)")
      ->delimiter(',')
      ->check(CLI::IsMember(precision_names()))
      ->type_name("LIST");
  command->add_option("--storage", given->storages, "Surfaces (default: image,buffer)")
      ->delimiter(',')
      ->check(CLI::IsMember(storage_names()))
      ->type_name("LIST");
  command
      ->add_option("--probes", given->groups,
                   "passes: all updates of an LU decomposition; vectors: operations on vectors, "
                   "grids and steps of iterative methods (default: both)")
      ->delimiter(',')
      ->check(CLI::IsMember({"passes", "vectors"}))
      ->type_name("LIST");
  command->add_option("--runs", given->runs, "Timed runs (default: 5)")
      ->transform(whole_number(1, 1000))
      ->type_name("N");
  add_device_options(*command, given->options, false);
  add_output_options(*command, given->options);
  command->footer(exit_statuses({Exit::ok, Exit::failure, Exit::usage, Exit::no_device}));
  return [given](const std::vector<std::string>& arguments) { return probe(*given, arguments); };
}

}  // namespace lugpu::cli
