#include "bench/report.hpp"

#include <dlfcn.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/cores.hpp"
#include "base/error.hpp"
#include "base/output_file.hpp"
#include "base/version.hpp"
#include "baselines/baselines.hpp"
#include "baselines/system_baselines.hpp"
#include "bench/statistics.hpp"
#include "solve/diagnosis.hpp"
#include "solve/tuning.hpp"

extern char** environ;

namespace lugpu {
namespace {

using nlohmann::json;

constexpr int kSchemaVersion = 1;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string processor_name() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

// The variables that change what a solver does or how fast.
json relevant_environment() {
  static const char* const prefixes[] = {"LUGPU_", "OPENBLAS_", "OMP_",  "GOTO_",
                                         "POCL_",  "OCL_",      "CUDA_", "LD_PRELOAD"};
  json variables = json::object();
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    for (const std::string prefix : prefixes) {
      const auto equals = text.find('=');
      if (text.starts_with(prefix)) variables[text.substr(0, equals)] = text.substr(equals + 1);
    }
  }
  return variables;
}

// JSON that a terminal may show: nlohmann's leaves DEL and U+0080 to U+009F, which occur only
// inside strings, as they are.
std::string without_controls(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    const bool control = byte == 0xC2 && next >= 0x80 && next < 0xA0;
    if (!control && byte != 0x7F) {
      result += text[i];
      continue;
    }
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", control ? next : unsigned{byte});
    result += escape;
    i += control;
  }
  return result;
}

std::string loader_path() {
  Dl_info found;
  const void* address = reinterpret_cast<const void*>(&clGetPlatformIDs);
  return dladdr(address, &found) && found.dli_fname ? found.dli_fname : "unknown";
}

json context_now() {
  utsname system{};
  uname(&system);
  double load = 0;
  getloadavg(&load, 1);
  const auto memory = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  return {{"time_utc", utc_now()},
          {"host", system.nodename},
          {"kernel", std::string(system.sysname) + " " + system.release},
          {"cpu", processor_name()},
          {"cores", cores().usable},
          {"physical_cores", cores().physical},
          {"numa_nodes", cores().numa_nodes},
          {"memory_bytes", memory},
          {"load_1min", load},
          {"environment", relevant_environment()}};
}

json libraries_now() {
  const BlasLibrary blas = blas_library();
  return {{"opencl_loader", {{"path", loader_path()}}},
          {"blas",
           {{"name", blas.name},
            {"config", blas.config},
            {"core", blas.core},
            {"threads", blas_threads()},
            {"path", blas.path}}},
          {"lapack", {{"path", blas.lapack_path}}}};
}

void add_library(json& report, const char* name, const std::optional<RivalLibrary>& library) {
  if (library) report["libraries"][name] = {{"version", library->version}, {"path", library->path}};
}

}  // namespace

json to_json(const Device& device, const KernelSettings& kernels) {
  json formats = json::array();
  if (device.image_float) formats.push_back("R FLOAT");
  if (device.image_uint32) formats.push_back("R UNSIGNED_INT32");
  json record = {{"platform", device.platform},
                 {"platform_version", device.platform_version},
                 {"name", device.name},
                 {"driver_version", device.driver_version},
                 {"device_version", device.device_version},
                 {"type", device.type},
                 {"compute_units", device.compute_units},
                 {"clock_mhz", device.clock_mhz},
                 {"global_memory_bytes", device.global_memory},
                 {"max_allocation_bytes", device.max_allocation},
                 {"local_memory_bytes", device.local_memory},
                 {"max_work_group_size", device.max_work_group},
                 {"double_precision", device.double_precision},
                 {"images", device.images},
                 {"image_max_width", device.image_max_width},
                 {"image_max_height", device.image_max_height},
                 {"image_formats", formats},
                 {"vendor_kernels", kernels.vendor}};
  const Tuning tuning = read_tuning(device, kernels);
  for (const TunedVariant& variant : tuning) record["tuning"].push_back(describe(variant));
  return record;
}

json to_json(const Ceilings& ceilings) {
  json rates = json::object(), products = json::object();
  for (const auto& [precision, rate] : ceilings.multiply_adds_per_s) rates[name(precision)] = rate;
  for (const auto& [precision, rate] : ceilings.products_per_s) products[name(precision)] = rate;
  return {{"copy_bytes_per_s", ceilings.copy_bytes_per_s},
          {"multiply_adds_per_s", rates},
          {"product_multiply_adds_per_s", products}};
}

json achieved(const Result& result, const Ceilings& ceilings) {
  const double seconds = median(result.times_s);
  const auto rate = [&](const char* counter) {
    return static_cast<double>(result.counters.at(counter)) / seconds;
  };
  const Precision precision = result.what.problem.dense.precision;
  const double peak = ceilings.multiply_adds_per_s.at(precision);
  json rates = {{"bytes_model_per_s", rate("bytes_model")},
                {"bytes_model_over_copy", rate("bytes_model") / ceilings.copy_bytes_per_s},
                {"bytes_counted_per_s", rate("bytes_counted")},
                {"bytes_counted_over_copy", rate("bytes_counted") / ceilings.copy_bytes_per_s},
                {"multiply_adds_per_s", rate("elements_updated")},
                {"multiply_adds_over_peak", rate("elements_updated") / peak}};
  const auto products = ceilings.products_per_s.find(precision);
  if (products != ceilings.products_per_s.end()) {
    rates["share_of_product"] = rate("elements_updated") / products->second;
  }
  if (const auto product = result.product_multiply_adds_per_s) {
    rates["product_multiply_adds_per_s"] = *product;
    rates["multiply_adds_over_product"] = rate("elements_updated") / *product;
  }
  return rates;
}

std::string disbelief(const Result& result, const Ceilings& ceilings) {
  constexpr double kMargin = 1.5;
  constexpr double kMatrixUnits = 12;  // over multiply-adds, in half precision, on any device known
  const Precision precision = result.what.problem.dense.precision;
  const double peak = ceilings.multiply_adds_per_s.at(precision);
  const double own = std::min(result.product_multiply_adds_per_s.value_or(0), kMatrixUnits * peak);
  const auto products = ceilings.products_per_s.find(precision);
  const double ceiling =
      std::max({peak, own, products == ceilings.products_per_s.end() ? 0 : products->second});
  const double rate =
      static_cast<double>(result.counters.at("elements_updated")) / median(result.times_s);
  if (!(rate > kMargin * ceiling)) return "";
  return "The time would mean " + short_number(2e-9 * rate) + " GFLOP/s where the device does " +
         short_number(2e-9 * ceiling) + ": it is not believed.";
}

json report_head(const std::vector<std::string>& arguments, const std::vector<Device>& devices,
                 const KernelSettings& kernels) {
  json list = json::array();
  for (const Device& device : devices) list.push_back(to_json(device, kernels));
  return {{"schema_version", kSchemaVersion},
          {"tool",
           {{"version", version()},
            {"git_rev", git_revision()},
            {"compiler", "g++ " __VERSION__},
            {"build_type", build_type()},
            {"argv", arguments}}},
          {"context", context_now()},
          {"libraries", libraries_now()},
          {"devices", list},
          {"results", json::array()}};
}

void add_libraries(json& report, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Baseline& baseline = find_baseline(name);
    if (baseline.on_device) {
      add_library(report, baseline.implementation, baseline.on_device->found_library());
    }
  }
}

void add_system_libraries(json& report, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const SystemBaseline& rival = find_system_baseline(name);
    if (rival.found_library) add_library(report, rival.implementation, rival.found_library());
  }
}

void write_report(const json& report, const std::string& path) {
  const std::string text = to_text(report);
  write_file(path, [&](std::FILE* file) { std::fwrite(text.data(), 1, text.size(), file); });
}

// Names from outside may hold bytes that are not UTF-8, as JSON must be.
std::string to_text(const json& report) {
  return without_controls(report.dump(1, ' ', false, json::error_handler_t::replace)) + '\n';
}

json read_report(const std::string& path) {
  std::ifstream stream(path);
  if (!stream || std::filesystem::is_directory(path)) {
    throw InputError("Cannot read " + path + "; give a file that `lugpu bench --json` wrote.");
  }
  // What is nested deeper is left out: no report is, and copying or printing it would recurse.
  const auto is_shallow = [](int depth, json::parse_event_t, json&) { return depth < 32; };
  const json report = json::parse(stream, is_shallow, false);
  const json::json_pointer version("/schema_version"), results("/results");
  if (!report.is_object() || !report.contains(version) || !report.contains(results) ||
      !report[results].is_array()) {
    throw InputError(path + " is not a result file of lugpu; give one of `lugpu bench --json`.");
  }
  if (report[version] != kSchemaVersion) {
    throw InputError(path + " has schema version " + report[version].dump() +
                     ", and this lugpu reads version " + std::to_string(kSchemaVersion) +
                     "; use the lugpu that wrote it.");
  }
  return report;
}

}  // namespace lugpu
