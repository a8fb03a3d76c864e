#include "report/run.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "bench/result.hpp"
#include "bench/samples.hpp"
#include "report/markup.hpp"

namespace lugpu::report {
namespace {

using nlohmann::json;

// A member of an object; null if it is none or has none.
const json& at(const json& object, const char* name) {
  static const json null;
  if (!object.is_object()) return null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

std::string text_at(const json& object, const char* name) {
  const json& value = at(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

// A number that a measurement can be, so that sums and ratios of some are finite too.
std::optional<double> finite(const json& value) {
  constexpr double kMost = 1e100;
  if (!value.is_number() || !(std::abs(value.get<double>()) < kMost)) return std::nullopt;
  return value.get<double>();
}

std::optional<double> number_at(const json& object, const char* name) {
  return finite(at(object, name));
}

Numbers numbers_at(const json& object, const char* name) {
  Numbers numbers;
  const json& values = at(object, name);
  if (!values.is_object()) return numbers;
  for (const auto& [key, value] : values.items()) {
    if (const auto number = finite(value)) numbers[key] = *number;
  }
  return numbers;
}

std::vector<std::string> texts_at(const json& object, const char* name) {
  std::vector<std::string> texts;
  const json& values = at(object, name);
  if (!values.is_array()) return texts;
  for (const json& value : values) {
    if (value.is_string()) texts.push_back(value.get<std::string>());
  }
  return texts;
}

// "3 words", "1 word"; empty for a number that is not there.
std::string counted(const std::optional<double>& count, const std::string& word) {
  return count ? number_text(*count) + ' ' + word + (*count == 1 ? "" : "s") : "";
}

// --- Rows ----------------------------------------------------------------------------------------

void read_fields(const json& from, Row& row) {
  for (const char* name : {"implementation", "pivot", "precision", "device", "storage", "texel",
                           "schedule", "matrix"}) {
    row.fields[name] = text_at(from, name);
  }
  if (row.fields["schedule"] == "fused") row.fields["schedule"] = "";  // the usual one
  const auto add = [&](const char* name, const std::string& before, const std::string& after) {
    const auto number = number_at(from, name);
    row.fields[name] = number ? before + number_text(*number) + after : "";
  };
  add("compute_units", "", " cores");
  add("devices_used", "", " devices");
  row.fields["threads"] = is_of_best_threads(from) ? "best threads"  // another number at each size
                                                   : counted(number_at(from, "threads"), "thread");
  add("nb", "nb ", "");
  add("nrhs", "nrhs ", "");
  add("seed", "seed ", "");
  add("most_iterations", "up to ", " iterations");
}

// The samples with a constant added to each, at most kMostSamples of them.
void read_samples(const json& times, double more, Row& row) {
  const std::size_t apart = times.size() / (kMostSamples + 1) + 1;
  for (std::size_t i = 0; i < times.size(); i += apart) {
    const auto seconds = finite(times[i]);
    if (seconds && *seconds + more > 0 && std::isfinite(*seconds + more)) {
      row.samples.push_back(*seconds + more);
    }
  }
}

void read_times(const json& from, Row& row) {
  if (row.status != name(RunStatus::ok)) return;
  const double setup = row.kind == Kind::structured ? number_at(from, "setup_s").value_or(0) : 0;
  read_samples(at(from, "times_s"), setup, row);
  if (!row.timed()) return;
  row.median = median(row.samples);
  const auto stated = number_at(from, "median_s");
  if (stated && *stated + setup > 0) row.median = *stated + setup;
  const json& interval = at(from, "median_interval_s");
  if (interval.is_array() && interval.size() == 2 && finite(interval[0]) && finite(interval[1])) {
    row.interval = Interval{*finite(interval[0]) + setup, *finite(interval[1]) + setup};
  } else {
    row.interval = median_interval(row.samples);
  }
  const char* speed = row.kind == Kind::dense ? "gflops" : "frames_per_s";
  row.speed = number_at(from, speed);
}

// What rows have in common that can be compared, e.g. "partial pivoting, double precision".
std::string subject_of(const json& from, const Row& row) {
  const std::string precision = text_at(from, "precision") + " precision";
  const std::string problem = text_at(from, "problem");
  const auto until = row.iterations && row.kind == Kind::simulation
                         ? counted(row.iterations, "iteration") + " a step"
                         : "tolerance " + number_text(row.tolerance.value_or(0));
  switch (row.kind) {
    case Kind::dense: {
      const std::string pivot = text_at(from, "pivot");
      const std::string count = counted(number_at(from, "batch"), "member");
      return joined({(pivot == "none" ? "no" : pivot) + " pivoting", precision,
                     count.empty() ? "" : "batches of " + count},
                    ", ");
    }
    case Kind::structured:
      return joined({problem.empty() ? text_at(from, "matrix") : problem, until, precision}, ", ");
    case Kind::simulation:
      break;
  }
  const json& grid = at(from, "grid");
  const bool is_deep = grid.is_array() && grid.size() == 3 && grid[2] > 1;
  return joined({problem, text_at(from, "scene"), is_deep ? "3D" : "", until, precision}, ", ");
}

double size_of(const json& from, Kind kind) {
  if (kind != Kind::simulation) return number_at(from, "n").value_or(0);
  double most = 0;
  for (const json& cells : at(from, "grid")) most = std::max(most, finite(cells).value_or(0));
  return most;
}

Row row_of(const json& from, std::size_t run) {
  Row row;
  row.kind = from.contains("scene")     ? Kind::simulation
             : from.contains("problem") ? Kind::structured
                                        : Kind::dense;
  row.run = run;
  row.routine = text_at(from, "routine");
  row.rival = text_at(from, "implementation") != "lugpu";
  row.on_host = !at(from, "device").is_string();
  row.size = size_of(from, row.kind);
  row.status = text_at(from, "status");
  row.reason = text_at(from, "reason");
  row.tolerance = number_at(from, "tolerance");
  row.iterations = number_at(from, "iterations");
  row.subject = subject_of(from, row);
  read_fields(from, row);
  read_times(from, row);
  row.other_load = number_at(from, "other_load").value_or(0);
  row.warnings = texts_at(from, "warnings");
  row.checks = numbers_at(from, "checks");
  row.phases = numbers_at(from, "phases_s");
  row.rates = numbers_at(from, row.kind == Kind::structured ? "bandwidth" : "rates");
  if (row.kind == Kind::simulation) row.checks = numbers_at(from, "left");
  for (const json& value : at(from, "residuals")) row.residuals.push_back(finite(value));
  return row;
}

// --- What ran where ------------------------------------------------------------------------------

std::string ceilings_text(const json& ceilings) {
  const auto copy = number_at(ceilings, "copy_bytes_per_s");
  const json& rates = at(ceilings, "multiply_adds_per_s");
  std::vector<std::string> parts;
  if (copy) parts.push_back("copies " + si_text(*copy, "B/s"));
  for (const char* precision : {"single", "double"}) {
    if (const auto rate = number_at(rates, precision)) {
      parts.push_back(si_text(2 * *rate, "FLOP/s") + " in " + precision + " precision");
    }
  }
  return parts.empty() ? "" : "measured: " + joined(parts, ", ");
}

std::string device_text(const json& device) {
  const auto memory = number_at(device, "global_memory_bytes");
  const std::string driver = text_at(device, "driver_version");
  return joined(
      {text_at(device, "name"), counted(number_at(device, "compute_units"), "compute unit"),
       memory ? si_text(*memory, "B") : "", text_at(device, "platform"),
       driver.empty() ? "" : "driver " + driver, text_at(device, "device_version"),
       ceilings_text(at(device, "ceilings"))},
      ", ");
}

std::string libraries_text(const json& libraries) {
  if (!libraries.is_object()) return "";
  std::vector<std::string> parts;
  for (const auto& [key, library] : libraries.items()) {
    const std::string version = text_at(library, "version");
    if (!version.empty()) parts.push_back(key + ' ' + version);
  }
  const json& blas = at(libraries, "blas");
  const std::string config = text_at(blas, "config");
  parts.push_back(config.empty() ? text_at(blas, "name") : config);
  const auto threads = number_at(blas, "threads");
  if (threads && *threads > 0) parts.push_back(counted(threads, "thread"));
  return joined(parts, ", ");
}

std::string environment_text(const json& environment) {
  if (!environment.is_object()) return "";
  std::string text;
  for (const auto& [key, value] : environment.items()) {
    if (value.is_string()) text += (text.empty() ? "" : " ") + key + '=' + value.get<std::string>();
  }
  return text;
}

void add_facts(const json& file, Run& run) {
  const json &tool = at(file, "tool"), &context = at(file, "context");
  const auto memory = number_at(context, "memory_bytes");
  const auto load = number_at(context, "load_1min");
  const auto add = [&](const char* label, const std::string& text) {
    if (!text.empty()) run.facts.emplace_back(label, text);
  };
  add("date", run.date);
  for (const json& device : file["devices"]) add("device", device_text(device));
  add("machine", joined({text_at(context, "host"), text_at(context, "cpu"),
                         counted(number_at(context, "cores"), "core"),
                         memory ? si_text(*memory, "B") : "", text_at(context, "kernel"),
                         load ? "load " + number_text(*load) + " at the start" : ""},
                        ", "));
  const std::string version = text_at(tool, "version"), revision = text_at(tool, "git_rev");
  add("lugpu", joined({version, revision.empty() ? "" : "commit " + revision,
                       text_at(tool, "build_type"), text_at(tool, "compiler")},
                      ", "));
  add("libraries", libraries_text(at(file, "libraries")));
  add("command", joined(texts_at(tool, "argv"), " "));
  add("environment", environment_text(at(context, "environment")));
}

// That the machine had other work when it began, or the program is one that nobody can build again.
void add_warnings(const json& file, Run& run) {
  constexpr double kBusy = 0.5;  // tasks a core
  const json &tool = at(file, "tool"), &context = at(file, "context");
  const auto load = number_at(context, "load_1min"), cores = number_at(context, "cores");
  if (load && cores && *cores > 0 && *load > kBusy * *cores) {
    run.warnings.push_back("The machine was busy at the start: a load of " + number_text(*load) +
                           " on " + counted(cores, "core") + ".");
  }
  if (text_at(tool, "git_rev").ends_with("-dirty")) {
    run.warnings.push_back("lugpu was built from a changed tree (-dirty).");
  }
  const std::string build = text_at(tool, "build_type");
  if (!build.empty() && build != "Release" && build != "RelWithDebInfo") {
    run.warnings.push_back("lugpu was built as " + build + ", not as Release.");
  }
}

Run run_of(const std::string& name, const json& file) {
  Run run;
  run.name = name;
  run.date = text_at(at(file, "context"), "time_utc");
  for (const json& device : file["devices"]) run.devices.push_back(text_at(device, "name"));
  add_facts(file, run);
  add_warnings(file, run);
  return run;
}

}  // namespace

Record record_of(const std::vector<std::pair<std::string, json>>& files) {
  std::map<std::string, int> stems;
  const auto stem = [](const std::string& path) {
    return std::filesystem::path(path).stem().string();
  };
  for (const auto& [path, file] : files) ++stems[stem(path)];
  Record record;
  for (const auto& [path, file] : files) {
    const std::size_t run = record.runs.size();
    record.runs.push_back(run_of(stems[stem(path)] == 1 ? stem(path) : path, file));
    for (const json& from : file["results"]) {
      record.rows.push_back(row_of(from, run));
      record.rows.back().fields["file"] = record.runs.back().name;
    }
  }
  return record;
}

}  // namespace lugpu::report
