#include "bench/resume.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/digest.hpp"
#include "base/error.hpp"
#include "bench/report.hpp"
#include "bench/result.hpp"
#include "opencl/kernel_digest.hpp"

namespace lugpu {
namespace {

using nlohmann::json;

bool is_text(const json& value) {
  return value.is_string() && value != "";
}
bool is_whole(const json& value) {
  return value.is_number_unsigned();
}
bool is_size(const json& value) {
  return value.is_number_unsigned() && value > 0;
}
bool is_thread_count(const json& value) {
  return is_size(value) && value <= 1024;
}
bool is_amount(const json& value) {
  return value.is_number() && value >= 0;
}
bool is_object(const json& value) {
  return value.is_object();
}
bool is_any_text(const json& value) {
  return value.is_string();
}
bool is_integer(const json& value) {
  return value.is_number_integer();
}
bool is_flag(const json& value) {
  return value.is_boolean();
}
bool is_number_or_null(const json& value) {
  return value.is_number() || value.is_null();
}

template <bool (*test)(const json&)>
bool or_null(const json& value) {
  return value.is_null() || test(value);
}

template <bool (*test)(const json&)>
bool all_of(const json& values) {
  return std::all_of(values.begin(), values.end(), test);
}

template <bool (*test)(const json&)>
bool is_list_of(const json& value) {
  return value.is_array() && all_of<test>(value);
}

template <bool (*test)(const json&)>
bool is_object_of(const json& value) {
  return value.is_object() && all_of<test>(value);
}

bool is_one_of(const json& value, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return value == name; });
}

bool is_status(const json& value) {
  return is_one_of(value,
                   {name(RunStatus::ok), name(RunStatus::failed), name(RunStatus::unsupported),
                    name(RunStatus::skipped), name(RunStatus::error)});
}
bool is_pivot(const json& value) {
  const auto rules = pivot_rules();
  return std::any_of(rules.begin(), rules.end(),
                     [&](const PivotRule& rule) { return value == rule.name; });
}
bool is_precision(const json& value) {
  return is_one_of(value,
                   {name(Precision::single_precision), name(Precision::double_precision), "mixed"});
}
bool is_storage(const json& value) {
  return is_one_of(value, {name(Storage::image), name(Storage::buffer), "host"});
}
bool is_texel(const json& value) {
  return is_one_of(value, {name(Texel::r), name(Texel::rgba)});
}
bool is_schedule(const json& value) {
  return is_one_of(value, {name(Schedule::paper), name(Schedule::fused)});
}

// A field of docs/lugpu.schema.json.
struct Field {
  const char* name;
  bool (*is_valid)(const json& value);
  const char* expected;
  bool optional = false;  // it came after the first files of version 1
};

const std::vector<Field>& fields_of_row() {
  static const std::vector<Field> fields = {
      {"implementation", is_text, "a text"},
      {"routine", is_text, "a text"},
      {"variant", or_null<is_text>, "a text or null", true},
      {"choice", or_null<is_text>, "a text or null", true},
      {"pivot", is_pivot, "a pivoting"},
      {"precision", is_precision, "a precision"},
      {"storage", is_storage, "a storage"},
      {"texel", or_null<is_texel>, "a texel or null"},
      {"schedule", or_null<is_schedule>, "a schedule or null"},
      {"device", or_null<is_text>, "a text or null"},
      {"compute_units", or_null<is_size>, "a positive whole number or null", true},
      {"devices_used", or_null<is_size>, "a positive whole number or null", true},
      {"processes", or_null<is_size>, "a positive whole number or null", true},
      {"device_memory", or_null<is_size>, "a positive whole number or null", true},
      {"windows", or_null<is_size>, "a positive whole number or null", true},
      {"n", is_whole, "a whole number"},
      {"nrhs", is_size, "a positive whole number"},
      {"nb", or_null<is_size>, "a positive whole number or null"},
      {"threads", or_null<is_size>, "a positive whole number or null"},
      {"threads_tried", or_null<is_list_of<is_size>>, "a list of whole numbers or null", true},
      {"seed", is_whole, "a whole number"},
      {"matrix", is_text, "a text"},
      {"times_s", is_list_of<is_amount>, "a list of seconds"},
      {"device_times_s", is_list_of<is_amount>, "a list of seconds"},
      {"median_s", or_null<is_amount>, "seconds or null"},
      {"min_s", or_null<is_amount>, "seconds or null"},
      {"rel_stdev", or_null<is_amount>, "a number or null"},
      {"profiled_s", or_null<is_amount>, "seconds or null", true},
      {"energy_j", or_null<is_amount>, "a number or null", true},
      {"gflops_per_watt", or_null<is_amount>, "a number or null", true},
      {"rel_mad", or_null<is_amount>, "a number or null", true},
      {"median_interval_s", or_null<is_list_of<is_amount>>, "a list of seconds or null", true},
      {"outliers", or_null<is_whole>, "a whole number or null", true},
      {"other_load", or_null<is_amount>, "a number or null", true},
      {"gflops", or_null<is_amount>, "a number or null"},
      {"flop_formula", is_text, "a text"},
      {"phases_s", is_object_of<is_amount>, "an object of seconds"},
      {"counters", is_object_of<is_whole>, "an object of whole numbers"},
      {"rates", or_null<is_object_of<is_amount>>, "an object of numbers or null", true},
      {"checks", is_object, "an object"},
      {"refinement", or_null<is_object>, "an object or null", true},
      {"equilibration", or_null<is_object>, "an object or null", true},
      {"determinant", or_null<is_object>, "an object or null", true},
      {"status", is_status, "a status"},
      {"reason", is_any_text, "a text"},
      {"warnings", is_list_of<is_text>, "a list of texts"}};
  return fields;
}

// Of rows with a problem (structured_result.hpp).
const std::vector<Field>& fields_of_structured_row() {
  static const std::vector<Field> fields = {
      {"problem", or_null<is_text>, "a text or null"},
      {"grid", or_null<is_size>, "a positive whole number or null"},
      {"matrix", or_null<is_text>, "a text or null"},
      {"implementation", is_text, "a text"},
      {"routine", is_text, "a text"},
      {"precision", is_precision, "a precision"},
      {"storage", is_storage, "a storage"},
      {"device", or_null<is_text>, "a text or null"},
      {"compute_units", or_null<is_size>, "a positive whole number or null"},
      {"n", is_whole, "a whole number"},
      {"nrhs", is_size, "a positive whole number"},
      {"tolerance", is_amount, "a number"},
      {"most_iterations", is_size, "a positive whole number"},
      {"setup_s", or_null<is_amount>, "seconds or null"},
      {"times_s", is_list_of<is_amount>, "a list of seconds"},
      {"median_s", or_null<is_amount>, "seconds or null"},
      {"other_load", or_null<is_amount>, "a number or null", true},
      {"iterations", or_null<is_whole>, "a whole number or null"},
      {"residuals", is_list_of<is_number_or_null>, "a list of numbers or null"},
      {"checks", is_object, "an object"},
      {"bandwidth", or_null<is_object_of<is_amount>>, "an object of numbers or null"},
      {"status", is_status, "a status"},
      {"reason", is_any_text, "a text"}};
  return fields;
}

// Of rows with a batch (batch_bench.hpp).
const std::vector<Field>& fields_of_batch() {
  static const std::vector<Field> fields = {
      {"batch", is_whole, "a whole number"},
      {"implementation", is_text, "a text"},
      {"routine", is_text, "a text"},
      {"pivot", is_pivot, "a pivoting"},
      {"precision", is_precision, "a precision"},
      {"n", is_whole, "a whole number"},
      {"nrhs", is_whole, "a whole number"},
      {"matrix", is_text, "a text"},
      {"seed", or_null<is_whole>, "a whole number or null"},
      {"device", or_null<is_text>, "a text or null"},
      {"compute_units", or_null<is_size>, "a positive whole number or null"},
      {"times_s", is_list_of<is_amount>, "a list of seconds"},
      {"median_s", or_null<is_amount>, "seconds or null"},
      {"other_load", or_null<is_amount>, "a number or null"},
      {"gflops", or_null<is_amount>, "a number or null"},
      {"bandwidth", or_null<is_object_of<is_amount>>, "an object of numbers or null"},
      {"checks", is_object, "an object"},
      {"status", is_status, "a status"},
      {"reason", is_any_text, "a text"}};
  return fields;
}

// Of rows with a scene (simulation_run.hpp).
const std::vector<Field>& fields_of_simulation() {
  static const std::vector<Field> fields = {
      {"problem", is_text, "a text"},
      {"implementation", is_text, "a text"},
      {"routine", is_text, "a text"},
      {"precision", is_precision, "a precision"},
      {"device", or_null<is_text>, "a text or null"},
      {"scene", is_text, "a text"},
      {"grid", is_list_of<is_size>, "a list of positive whole numbers"},
      {"tolerance", is_amount, "a number"},
      {"times_s", is_list_of<is_amount>, "a list of seconds"},
      {"frames_per_s", is_amount, "a number"},
      {"solver_iterations", is_amount, "a number"},
      {"other_load", is_amount, "a number", true},
      {"status", is_status, "a status"}};
  return fields;
}

const std::vector<Field>& fields_of_checks() {
  static const std::vector<Field> fields = {
      {"factor_ratio", is_number_or_null, "a number or null"},
      {"factor_ratio_estimated", is_flag, "true or false", true},
      {"solve_ratio", is_number_or_null, "a number or null"},
      {"hpl_residual", is_number_or_null, "a number or null"},
      {"growth", is_number_or_null, "a number or null"},
      {"rcond", is_number_or_null, "a number or null"},
      {"rcond_at_most", is_number_or_null, "a number or null", true},
      {"berr", is_list_of<is_number_or_null>, "a list of numbers or null", true},
      {"ferr", is_list_of<is_number_or_null>, "a list of numbers or null", true},
      {"digits", or_null<is_size>, "a positive whole number or null", true},
      {"info", is_integer, "a whole number"}};
  return fields;
}

std::string to_line(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Of a case whose samples a run did not complete.
const std::vector<Field>& fields_of_unfinished() {
  static const std::vector<Field> fields = [] {
    std::vector<Field> some = {
        {"samples", is_size, "a positive whole number"},
        {"threads", or_null<is_thread_count>, "a number of threads or null"},
        {"threads_tried", or_null<is_list_of<is_thread_count>>, "a list of them or null"}};
    for (const Field& field : fields_of_row()) {
      const auto has_name = [&](const char* name) { return std::string_view(name) == field.name; };
      if (std::ranges::any_of(some, [&](const Field& own) { return has_name(own.name); })) continue;
      if (has_name("times_s") || std::ranges::any_of(case_fields(), has_name))
        some.push_back(field);
    }
    return some;
  }();
  return fields;
}

// What is wrong with the first field that is not as it should be; empty if there is none.
std::string fault(const json& object, const std::vector<Field>& fields, const std::string& place) {
  if (!object.is_object()) return place + " is not an object";
  for (const Field& field : fields) {
    if (!object.contains(field.name)) {
      if (field.optional) continue;
      return place + " has no " + field.name;
    }
    const json& value = object[field.name];
    if (field.is_valid(value)) continue;
    return place + "." + field.name + " is " + to_line(value) + ", not " + field.expected;
  }
  return {};
}

std::string fault_of_row(const json& row, const std::string& place) {
  if (row.is_object() && row.contains("scene")) return fault(row, fields_of_simulation(), place);
  if (row.is_object() && row.contains("problem")) {
    return fault(row, fields_of_structured_row(), place);
  }
  if (row.is_object() && row.contains("batch")) return fault(row, fields_of_batch(), place);
  if (std::string text = fault(row, fields_of_row(), place); !text.empty()) return text;
  if (std::string text = fault(row["checks"], fields_of_checks(), place + ".checks"); !text.empty())
    return text;
  const bool timed = row["median_s"].is_number() && row["times_s"] != json::array();
  if (row["status"] == name(RunStatus::ok) && !timed) return place + " is ok and has no median_s";
  const bool on_host = row["storage"] == "host";
  if (on_host != row["device"].is_null()) return place + ".device does not match its storage";
  return {};
}

std::string fault_of_unfinished(const json& records) {
  if (!records.is_array()) return "unfinished is not a list";
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string place = "unfinished[" + std::to_string(i) + "]";
    std::string text = fault(records[i], fields_of_unfinished(), place);
    if (!text.empty()) return text;
    if (records[i]["times_s"].empty()) return place + ".times_s is empty";
  }
  return {};
}

[[noreturn]] void refuse(const std::string& path, const std::string& why,
                         const std::string& reader) {
  throw InputError(path + ": " + why + "; " + reader +
                   " needs a file of `lugpu bench --json` as it was written.");
}

// A part of a report's head that decides about speed or accuracy.
struct Part {
  const char* place;  // a JSON pointer
  const char* words;
};

constexpr Part kHead[] = {{"/tool/version", "version of lugpu"},
                          {"/tool/git_rev", "revision of lugpu"},
                          {"/tool/compiler", "compiler of lugpu"},
                          {"/tool/build_type", "build type of lugpu"},
                          {"/tool/kernels", "kernels"},
                          {"/context/host", "host"},
                          {"/context/kernel", "operating system"},
                          {"/context/cpu", "processor"},
                          {"/context/cores", "number of cores"},
                          {"/libraries/blas/name", "BLAS"},
                          {"/libraries/blas/config", "build of the BLAS"},
                          {"/libraries/blas/core", "kernels of the BLAS"},
                          {"/libraries/lapack/path", "LAPACK"},
                          {"/libraries/cusolver/version", "cuSOLVER"},
                          {"/libraries/viennacl/version", "ViennaCL"},
                          {"/libraries/cholmod/version", "CHOLMOD"}};

constexpr Part kDevice[] = {{"/platform", "platform"},
                            {"/platform_version", "platform version"},
                            {"/driver_version", "driver"},
                            {"/device_version", "device version"},
                            {"/compute_units", "number of compute units"},
                            {"/vendor_kernels", "use of the vendor's kernels"}};

// What two reports are called in the list of what differs between them.
struct Sides {
  const char* first;
  const char* second;
};
constexpr Sides kThereAndHere = {"there", "here"}, kAAndB = {"in A", "in B"};

// Those that are present on both sides and differ. A missing one is not a difference: a field that
// early files did not have, or the library of a rival that one of the runs did not ask for.
template <std::size_t count>
std::vector<std::string> differences(const json& earlier, const json& now,
                                     const Part (&parts)[count], const std::string& of,
                                     const Sides& sides) {
  std::vector<std::string> all;
  for (const Part& part : parts) {
    const json::json_pointer place(part.place);
    if (!earlier.contains(place) || !now.contains(place) || earlier[place] == now[place]) continue;
    all.push_back(part.words + of + " (" + to_line(earlier[place]) + ' ' + sides.first + ", " +
                  to_line(now[place]) + ' ' + sides.second + ')');
  }
  return all;
}

// Of builds that have the same revision.
std::vector<std::string> difference_of_builds(const json& earlier, const json& now) {
  const std::string revision = now["tool"]["git_rev"];
  const auto program = [](const json& report) { return report["tool"].value("program", json()); };
  if (earlier["tool"]["git_rev"] != revision || program(earlier) == program(now)) return {};
  if (revision.ends_with("-dirty")) return {"build of lugpu (from a changed tree)"};
  if (revision.empty()) return {"build of lugpu (from no checkout)"};
  return {};
}

// Of a device in one report; if there are several of its name in the other, from the one nearest to
// it.
std::vector<std::string> differences_of_device(const json& device, const json& now,
                                               const Sides& sides) {
  std::vector<std::vector<std::string>> all;
  for (const json& candidate : now["devices"]) {
    if (candidate["name"] != device["name"]) continue;
    all.push_back(differences(device, candidate, kDevice, " of " + to_line(device["name"]), sides));
  }
  if (all.empty()) {
    return {"device (" + to_line(device["name"]) + ' ' + sides.first + ", not " + sides.second +
            ')'};
  }
  return *std::min_element(all.begin(), all.end(),
                           [](const auto& a, const auto& b) { return a.size() < b.size(); });
}

// Of the build, the host, the libraries, and of every device of `earlier`.
std::vector<std::string> all_differences(const json& earlier, const json& now, const Sides& sides) {
  std::vector<std::string> all = differences(earlier, now, kHead, "", sides);
  const auto append = [&](const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  append(difference_of_builds(earlier, now));
  for (const json& device : earlier["devices"]) {
    append(differences_of_device(device, now, sides));
  }
  return all;
}

}  // namespace

void add_digests(json& report, const std::string& kernel_dir) {
  report["tool"]["program"] = digest(contents("/proc/self/exe"));
  report["tool"]["kernels"] = kernel_digest(kernel_dir);
}

json read_sweep(const std::string& path, const std::string& reader) {
  json report = read_report(path);
  const auto is_device = [](const json& device) {
    return device.is_object() && device.contains("name") && is_text(device["name"]);
  };
  const json tool = report.value("tool", json());
  const json devices = report.value("devices", json());
  if (!tool.is_object() || !tool.contains("git_rev") || !tool["git_rev"].is_string() ||
      !report.value("context", json()).is_object() ||
      !report.value("libraries", json()).is_object() || !devices.is_array() ||
      !std::all_of(devices.begin(), devices.end(), is_device)) {
    refuse(path, "it does not say what ran where", reader);
  }
  for (const char* key : {"paths", "probes", "advice", "comparison"}) {
    if (report.contains(key)) refuse(path, std::string("it has ") + key, reader);
  }
  for (std::size_t i = 0; i < report["results"].size(); ++i) {
    const std::string why =
        fault_of_row(report["results"][i], "results[" + std::to_string(i) + "]");
    if (!why.empty()) refuse(path, why, reader);
  }
  const std::string why = fault_of_unfinished(report.value("unfinished", json::array()));
  if (!why.empty()) refuse(path, why, reader);
  return report;
}

json unfinished_record(const Case& what, const Samples& samples) {
  json record = to_json(what);
  record["times_s"] = samples.kept();
  record["samples"] = samples.count();
  return record;
}

EarlierSamples earlier_samples(const json& record) {
  EarlierSamples earlier{record["times_s"], record["samples"], {}, {}};
  if (record["threads"].is_number()) earlier.threads = record["threads"].get<int>();
  if (is_of_best_threads(record))
    earlier.threads_to_try = record["threads_tried"].get<std::vector<int>>();
  return earlier;
}

std::vector<std::string> differences(const json& a, const json& b) {
  const auto has = [](const json& report, const json& name) {
    return std::ranges::any_of(report["devices"],
                               [&](const json& device) { return device["name"] == name; });
  };
  std::vector<std::string> all;
  for (const json& device : b["devices"]) {
    if (has(a, device["name"])) continue;
    all.push_back("device (" + to_line(device["name"]) + " in B, not in A)");
  }
  const std::vector<std::string> more = all_differences(a, b, kAAndB);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

void require_comparable(const json& earlier, const json& now, const std::string& path) {
  const std::vector<std::string> all = all_differences(earlier, now, kThereAndHere);
  if (all.empty()) return;
  std::string list;
  for (const std::string& difference : all) list += (list.empty() ? "" : ", ") + difference;
  throw InputError(path + ": its results cannot be compared with new ones, because of another " +
                   list + "; write this sweep to another file.");
}

}  // namespace lugpu
