// Which files `bench --resume` continues.
#include "bench/resume.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/digest.hpp"
#include "base/error.hpp"
#include "bench/report.hpp"
#include "bench/result.hpp"

namespace lugpu {
namespace {

using nlohmann::json;

Device device(const std::string& name) {
  Device device;
  device.name = name;
  device.platform = "Some platform";
  device.platform_version = "OpenCL 3.0";
  device.driver_version = "5.0";
  device.device_version = "OpenCL 1.2";
  device.type = "gpu";
  device.compute_units = 4;
  return device;
}

/// That of a report, with the digests of this program.
json head_of_this_program() {
  json report = report_head({"lugpu", "bench"}, {}, {});
  add_digests(report, "");
  return report;
}

/// The head of a report on these devices, from a build of a committed tree.
json head(const std::vector<std::string>& names) {
  static const json ours = head_of_this_program();
  json report = ours;
  for (const std::string& name : names)
    report["devices"].push_back(to_json(device(name), KernelSettings()));
  report["tool"]["git_rev"] = "1a2b3c4d5e6f";
  report["libraries"]["cusolver"] = {{"version", "11.7.5"}, {"path", "/usr/lib/libcusolver.so"}};
  return report;
}

json row(const std::string& device) {
  Result result;
  result.what.implementation = "lugpu";
  result.what.routine = "lu";
  result.what.problem.size.n = 8;
  result.what.problem.size.nrhs = 1;
  result.what.device = device;
  result.what.matrix = "random";
  result.times_s = {1e-3, 2e-3};
  result.checks.solve_ratio = 0.1;
  result.checks.berr = {1e-17};
  result.phases_s["total"] = 4e-3;
  result.counters["readbacks"] = 0;
  result.status = RunStatus::ok;
  return to_json(result);
}

json sweep() {
  json report = head({"Ada"});
  report["results"] = {row("Ada"), row("Ada")};
  return report;
}

/// A file that is removed with it.
class SweepFile {
 public:
  explicit SweepFile(const json& report) {
    std::ofstream(path_) << report.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  ~SweepFile() { std::filesystem::remove(path_); }
  SweepFile(const SweepFile&) = delete;
  SweepFile& operator=(const SweepFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = std::filesystem::temp_directory_path() /
                      ("lugpu_resume_test_" + std::to_string(getpid()) + ".json");
};

/// What read_sweep says of the report; empty if it accepts it.
std::string complaint(const json& report) {
  const SweepFile file(report);
  try {
    EXPECT_EQ(read_sweep(file.path(), "--resume"), report);
    return "";
  } catch (const InputError& error) {
    const std::string sentence = error.what();
    EXPECT_TRUE(sentence.starts_with(file.path() + ": ")) << sentence;
    EXPECT_NE(sentence.find("--resume"), std::string::npos) << sentence;
    return sentence;
  }
}

/// What require_comparable says; empty if nothing differs.
std::string difference(const json& earlier, const json& now) {
  try {
    require_comparable(earlier, now, "f.json");
    return "";
  } catch (const InputError& error) {
    const std::string sentence = error.what();
    EXPECT_TRUE(sentence.starts_with("f.json: ")) << sentence;
    return sentence;
  }
}

void expect_mentions(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(ReadSweep, TakesWhatBenchWrites) {
  EXPECT_EQ(complaint(sweep()), "");
  json failed = sweep();
  Result result;
  result.what.implementation = "openblas";
  result.what.routine = "getrf";
  result.what.threads = 2;
  result.what.problem.size.nrhs = 1;
  result.what.matrix = "random";
  result.status = RunStatus::skipped;
  result.reason = "It took too long.";
  failed["results"].push_back(to_json(result));
  failed["results"].back()["storage"] = "host";
  EXPECT_EQ(complaint(failed), "");
}

TEST(ReadSweep, TakesTheFirstFilesOfVersion1) {
  json report = sweep();
  report["tool"].erase("program");
  report["tool"].erase("kernels");
  report["devices"][0].erase("vendor_kernels");
  for (json& result : report["results"]) {
    for (const char* later : {"variant", "rates", "refinement", "equilibration", "determinant"}) {
      result.erase(later);
    }
    for (const char* later : {"rcond_at_most", "berr", "ferr", "digits"}) {
      result["checks"].erase(later);
    }
  }
  EXPECT_EQ(complaint(report), "");
  EXPECT_EQ(difference(report, head({"Ada"})), "");
}

TEST(ReadSweep, NamesTheRowAndTheFieldThatIsWrong) {
  const std::pair<const char*, json> wrong[] = {
      {"implementation", 1},
      {"routine", ""},
      {"variant", 1},
      {"pivot", "some"},
      {"pivot", nullptr},
      {"precision", "half"},
      {"storage", "tape"},
      {"texel", "rgb"},
      {"schedule", 1},
      {"device", 7},
      {"device", nullptr},  // with the storage of a device
      {"n", "8"},
      {"n", -8},
      {"n", 8.5},
      {"n", nullptr},
      {"nrhs", 0},
      {"nb", "32"},
      {"threads", 0},
      {"seed", json::array()},
      {"matrix", json::object()},
      {"times_s", 1e-3},
      {"times_s", {"1e-3"}},
      {"times_s", {nullptr}},
      {"device_times_s", {-1}},
      {"median_s", "fast"},
      {"median_s", nullptr},  // of an ok row
      {"min_s", true},
      {"rel_stdev", {1}},
      {"rel_mad", "1"},
      {"median_interval_s", 1},
      {"median_interval_s", {"1", "2"}},
      {"outliers", 0.5},
      {"other_load", "1"},
      {"gflops", "1"},
      {"flop_formula", nullptr},
      {"phases_s", {1, 2}},
      {"phases_s", {{"total", "1"}}},
      {"counters", {{"readbacks", 0.5}}},
      {"rates", {{"bytes_model_per_s", nullptr}}},
      {"checks", nullptr},
      {"refinement", 1},
      {"equilibration", json::array()},
      {"determinant", "0"},
      {"status", "fine"},
      {"status", nullptr},
      {"reason", nullptr},
      {"warnings", "none"},
      {"warnings", {1}}};
  for (const auto& [field, value] : wrong) {
    json report = sweep();
    report["results"][1][field] = value;
    const std::string sentence = complaint(report);
    expect_mentions(sentence, {"results[1]", field});
  }
  for (const char* check :
       {"factor_ratio", "solve_ratio", "growth", "rcond", "berr", "digits", "info"}) {
    json report = sweep();
    report["results"][1]["checks"][check] = "good";
    expect_mentions(complaint(report), {"results[1].checks." + std::string(check), "\"good\""});
  }
}

TEST(ReadSweep, TakesSamplesWithoutARow) {
  json report = sweep();
  const auto unfinished = [](const char* field, const json& value) {
    json record = row("Ada");
    record["samples"] = 5;
    record[field] = value;
    return json::array({record});
  };
  report["unfinished"] = unfinished("samples", 2);
  EXPECT_EQ(complaint(report), "");
  const std::pair<const char*, json> wrong[] = {
      {"samples", 0},      {"samples", -1},         {"times_s", json::array()},
      {"times_s", {-1.0}}, {"threads", 1000000000}, {"n", "8"}};
  for (const auto& [field, value] : wrong) {
    report["unfinished"] = unfinished(field, value);
    expect_mentions(complaint(report), {"unfinished[0]", field});
  }
  for (const json& other : {json(1), json::object(), json::array({1})}) {
    report["unfinished"] = other;
    expect_mentions(complaint(report), {"unfinished"});
  }
}

TEST(ReadSweep, NamesTheFieldThatIsMissing) {
  for (const char* field : {"routine", "n", "times_s", "median_s", "checks", "status"}) {
    json report = sweep();
    report["results"][0].erase(field);
    expect_mentions(complaint(report), {"results[0] has no " + std::string(field)});
  }
  for (const json& other : {json(1), json(nullptr), json::array(), json("row")}) {
    json report = sweep();
    report["results"][1] = other;
    expect_mentions(complaint(report), {"results[1] is not an object"});
  }
}

TEST(ReadSweep, TakesEarlyFiles) {
  json report = sweep();
  for (const char* field :
       {"variant", "choice", "compute_units", "rel_mad", "median_interval_s", "outliers",
        "other_load", "rates", "refinement", "equilibration", "determinant"}) {
    for (json& row : report["results"]) row.erase(field);
  }
  EXPECT_EQ(complaint(report), "");
}

TEST(ReadSweep, RefusesOtherReports) {
  for (const char* key : {"paths", "probes", "advice", "comparison"}) {
    json report = sweep();
    report[key] = json::array();
    expect_mentions(complaint(report), {key});
  }
  for (const char* key : {"tool", "context", "libraries", "devices"}) {
    json report = sweep();
    report.erase(key);
    EXPECT_NE(complaint(report), "") << key;
    report[key] = 1;
    EXPECT_NE(complaint(report), "") << key;
  }
  json report = sweep();
  report["devices"][0]["name"] = 1;
  EXPECT_NE(complaint(report), "");
}

TEST(RequireComparable, TakesTheSameEnvironment) {
  EXPECT_EQ(difference(sweep(), head({"Ada"})), "");
  EXPECT_EQ(difference(sweep(), head({"Bob", "Ada"})), "") << "a new device";
  json earlier = sweep();
  earlier["tool"]["argv"] = {"lugpu", "bench", "-n", "64"};
  earlier["context"]["time_utc"] = "2005-11-12T09:30:00Z";
  earlier["context"]["load_1min"] = 12.5;
  earlier["context"]["environment"] = {{"LUGPU_DEVICE", "Ada"}};
  earlier["libraries"]["blas"]["threads"] = 64;
  earlier["libraries"].erase("cusolver");
  EXPECT_EQ(difference(earlier, head({"Ada"})), "");
}

TEST(RequireComparable, SaysWhatDiffers) {
  const std::pair<const char*, const char*> parts[] = {
      {"/tool/version", "version of lugpu"},
      {"/tool/git_rev", "revision of lugpu"},
      {"/tool/compiler", "compiler"},
      {"/tool/build_type", "build type"},
      {"/tool/kernels", "kernels"},
      {"/context/host", "host"},
      {"/context/kernel", "operating system"},
      {"/context/cpu", "processor"},
      {"/context/cores", "cores"},
      {"/libraries/blas/config", "BLAS"},
      {"/libraries/blas/core", "BLAS"},
      {"/libraries/lapack/path", "LAPACK"},
      {"/libraries/cusolver/version", "cuSOLVER"},
      {"/devices/0/platform", "platform of \"Ada\""},
      {"/devices/0/platform_version", "platform version of \"Ada\""},
      {"/devices/0/driver_version", "driver of \"Ada\""},
      {"/devices/0/device_version", "device version of \"Ada\""},
      {"/devices/0/compute_units", "compute units of \"Ada\""},
      {"/devices/0/vendor_kernels", "vendor's kernels of \"Ada\""},
      {"/devices/0/name", "device"}};
  const json now = head({"Ada"});
  for (const auto& [place, words] : parts) {
    json earlier = sweep();
    earlier[json::json_pointer(place)] = "Eve";
    expect_mentions(difference(earlier, now), {words, "\"Eve\" there"});
  }
}

TEST(RequireComparable, SaysAllThatDiffers) {
  json earlier = sweep();
  earlier["context"]["host"] = "elsewhere";
  earlier["devices"][0]["driver_version"] = "4.0";
  const std::string sentence = difference(earlier, head({"Ada"}));
  expect_mentions(sentence, {"host", "elsewhere", "driver", "\"4.0\" there", "\"5.0\" here"});
  EXPECT_EQ(std::count(sentence.begin(), sentence.end(), '\n'), 0);
}

TEST(RequireComparable, ComparesDevicesOfOneName) {
  json earlier = sweep(), now = head({"Ada", "Ada"});
  now["devices"][0]["compute_units"] = 8;
  EXPECT_EQ(difference(earlier, now), "") << "it is the second one";
  now["devices"][1]["driver_version"] = "6.0";
  now["devices"][1]["platform_version"] = "OpenCL 4";
  expect_mentions(difference(earlier, now), {"compute units of \"Ada\" (4 there, 8 here)"});
}

// A revision says nothing about a tree that was changed, or about one outside a checkout.
TEST(RequireComparable, KnowsAChangedTreeByItsProgram) {
  for (const char* revision : {"1a2b3c4d5e6f-dirty", ""}) {
    json earlier = sweep(), now = head({"Ada"});
    earlier["tool"]["git_rev"] = now["tool"]["git_rev"] = revision;
    EXPECT_EQ(difference(earlier, now), "");
    earlier["tool"]["program"] = "0123456789abcdef";
    expect_mentions(difference(earlier, now), {"build of lugpu"});
    earlier["tool"].erase("program");
    expect_mentions(difference(earlier, now), {"build of lugpu"});
  }
  json earlier = sweep();
  earlier["tool"]["program"] = "0123456789abcdef";
  EXPECT_EQ(difference(earlier, head({"Ada"})), "") << "the same revision built elsewhere";
}

TEST(AddDigests, TellKernelsApart) {
  json embedded = head({}), other = head({});
  add_digests(embedded, std::string(LUGPU_SOURCE_DIR) + "/kernels");
  EXPECT_EQ(embedded["tool"]["kernels"], other["tool"]["kernels"]);
  add_digests(other, std::filesystem::temp_directory_path());
  EXPECT_NE(embedded["tool"]["kernels"], other["tool"]["kernels"]);
  EXPECT_EQ(embedded["tool"]["program"], other["tool"]["program"]);
  EXPECT_EQ(embedded["tool"]["program"], digest(contents("/proc/self/exe")));
}

}  // namespace
}  // namespace lugpu
