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

// The group of probes that are not operators.
constexpr const char* kPasses = "passes";

std::vector<std::string> group_names() {
  std::vector<std::string> names = {kPasses};
  for (const OperatorGroup& group : operator_groups()) names.push_back(group.name);
  return names;
}

struct ProbeArguments {
  Options options;
  std::string sizes = "128:512:*2";
  std::string cubes = "64";
  std::vector<std::string> precisions = {"single"};
  std::vector<std::string> storages = {"image", "buffer"};
  std::vector<std::string> groups = group_names();
  int runs = 5;

  bool has(const char* group) const {
    return std::find(groups.begin(), groups.end(), group) != groups.end();
  }
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

nlohmann::json rate(const char* probe, Precision precision, double value, const char* unit) {
  return {{"name", probe}, {"precision", name(precision)}, {"value", value}, {"unit", unit}};
}

nlohmann::json probe_ceilings(const Ceilings& ceilings, const Options& options) {
  nlohmann::json rows = {
      rate("copy", Precision::single_precision, ceilings.copy_bytes_per_s, "bytes/s")};
  for (const auto& [precision, value] : ceilings.multiply_adds_per_s) {
    rows.push_back(rate("multiply-add", precision, value, "1/s"));
  }
  if (options.prints()) {
    for (const nlohmann::json& row : rows) {
      std::cout << format("%-12s %-6s %10.4g %s\n", row["name"].get<std::string>().c_str(),
                          row["precision"].get<std::string>().c_str(), row["value"].get<double>(),
                          row["unit"].get<std::string>().c_str());
    }
    std::cout << "\n     n probe                 prec.  storage median ms   copy\n";
  }
  return rows;
}

// Measures probe by probe, into a table and into the record.
class Probing {
 public:
  Probing(DeviceContext& context, const ProbeArguments& given)
      : context_(context),
        given_(given),
        ceilings_(
            measure_ceilings(context, {Precision::single_precision, Precision::double_precision})) {
    rows_ = probe_ceilings(ceilings_, given.options);
  }

  const nlohmann::json& rows() const { return rows_; }

  // The groups whose grid has so many dimensions, with every precision and storage.
  void probe(std::size_t n, int dimensions) {
    for (const std::string& precision : given_.precisions) {
      for (const std::string& storage : given_.storages) {
        precision_ = to_precision(precision);
        storage_ = to_storage(storage, context_.device());
        if (dimensions == 2 && given_.has(kPasses)) probe_passes(n);
        for (const OperatorGroup& group : operator_groups()) {
          if (group.dimensions == dimensions && given_.has(group.name)) probe_group(n, group);
        }
      }
    }
  }

 private:
  void probe_passes(std::size_t n) {
    for (const Variant& variant : kVariants) {
      std::vector<double> times;
      const std::string reason = impossible([&] {
        times = time_updates(context_, n, precision_, storage_, variant.update, given_.runs);
      });
      add(std::string(variant.probe) + " " + variant.name, n,
          {{"name", variant.probe}, {"variant", variant.name}}, times, reason);
    }
  }

  void probe_group(std::size_t n, const OperatorGroup& group) {
    time_operators(context_, group, n, precision_, storage_, given_.runs,
                   [&](const OperatorTime& time) {
                     nlohmann::json row = {{"name", time.name}, {"bytes", time.bytes}};
                     if (!time.grid.empty()) row["grid"] = time.grid;
                     add(time.name, n, std::move(row), time.times_s, time.reason);
                   });
  }

  void add(const std::string& label, std::size_t n, nlohmann::json row,
           const std::vector<double>& times, const std::string& reason) {
    row.update({{"n", n}, {"precision", name(precision_)}, {"storage", name(storage_)}});
    if (reason.empty()) {
      const double seconds = median(times);
      row.update({{"median_s", seconds}, {"times_s", times}});
      if (row.contains("bytes")) {
        row["bytes_over_copy"] = row["bytes"].get<double>() / seconds / ceilings_.copy_bytes_per_s;
      }
    } else {
      row["reason"] = reason;
    }
    if (given_.options.prints()) print(label, row);
    rows_.push_back(std::move(row));
  }

  // A reason is printed once for neighbouring rows that have it.
  void print(const std::string& label, const nlohmann::json& row) {
    const bool in_3d = row.contains("grid") && row["grid"].size() == 3;
    const std::string size = std::to_string(row["n"].get<std::size_t>()) + (in_3d ? "^3" : "");
    const std::string reason = row.value("reason", "");
    std::string measured = format("%10s", "skipped");
    if (reason.empty()) measured = format("%10.4f", row["median_s"].get<double>() * 1e3);
    if (row.contains("bytes_over_copy")) {
      measured += format(" %6.2f", row["bytes_over_copy"].get<double>());
    }
    std::cout << format("%6s %-21s %-6s %-6s ", size.c_str(), label.c_str(), name(precision_),
                        name(storage_))
              << measured << "\n";
    if (!reason.empty() && reason != last_reason_) {
      std::cout << std::string(7, ' ') << wrapped(reason, 7, 7) << "\n";
    }
    std::cout << std::flush;
    last_reason_ = reason;
  }

  DeviceContext& context_;
  const ProbeArguments& given_;
  Ceilings ceilings_;
  Precision precision_ = Precision::single_precision;
  Storage storage_ = Storage::buffer;
  nlohmann::json rows_;
  std::string last_reason_;
};

Exit probe(const ProbeArguments& given, const std::vector<std::string>& arguments) {
  const std::vector<std::size_t> sizes = parse_sizes(given.sizes);
  const std::vector<std::size_t> cubes = parse_sizes(given.cubes, "--cubes");
  check_outputs(given.options, {}, {});
  JsonOutput json(given.options);
  DeviceContext context = std::move(open_devices(given.options).front());
  nlohmann::json report = report_head(arguments, {context.device()}, context.settings());
  Probing probing(context, given);
  const auto keep = [&] {
    report["probes"] = probing.rows();
    json.update(report);
  };
  for (const std::size_t n : sizes) {
    probing.probe(n, 2);
    keep();
  }
  for (const std::size_t n : cubes) {
    probing.probe(n, 3);
    keep();
  }
  json.end(report);
  return json.status(Exit::ok);
}

std::string groups_help() {
  std::string help = "passes: all updates of an LU decomposition";
  for (const OperatorGroup& group : operator_groups()) {
    help += std::string("; ") + group.name + ": " + group.description;
  }
  return help + " (default: all)";
}

}  // namespace

Command add_probe(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("probe", "Measure the device: copy, multiply-add, passes, operators");
  const auto given = std::make_shared<ProbeArguments>();
  command->option_defaults()->group("What is measured");
  command
      ->add_option("-n,--sizes", given->sizes,
                   "Orders; vectors and grids have n x n elements (default: 128:512:*2)")
      ->type_name("SIZES");
  command
      ->add_option("--cubes", given->cubes, "Points along each axis of grids in 3D (default: 64)")
      ->type_name("SIZES");
  command->add_option("--precision", given->precisions, "Precisions (default: single)")
      ->delimiter(',')
      ->check(CLI::IsMember(precision_names()))
      ->type_name("LIST");
  command->add_option("--storage", given->storages, "Surfaces (default: image,buffer)")
      ->delimiter(',')
      ->check(CLI::IsMember(storage_names()))
      ->type_name("LIST");
  command->add_option("--probes", given->groups, groups_help())
      ->delimiter(',')
      ->check(CLI::IsMember(group_names()))
      ->type_name("LIST");
  command->add_option("--runs", given->runs, "Timed runs (default: 5)")
      ->transform(whole_number(1, 1000))
      ->type_name("N");
  add_device_options(*command, given->options, DeviceUse::one);
  add_output_options(*command, given->options);
  command->footer(exit_statuses({Exit::ok, Exit::failure, Exit::usage, Exit::no_device}));
  return [given](const std::vector<std::string>& arguments) { return probe(*given, arguments); };
}

}  // namespace lugpu::cli
