// The JSON file of a sweep or of a solve (docs/lugpu.schema.json): where and by what it was made,
// and the results.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/probe.hpp"
#include "bench/result.hpp"
#include "opencl/device.hpp"

namespace lugpu {

/// The object without results: schema_version, tool, context, libraries, devices, results = [].
/// arguments: the command line.
nlohmann::json report_head(const std::vector<std::string>& arguments,
                           const std::vector<Device>& devices, const KernelSettings& kernels);

/// Adds the libraries of these baselines that are not the host's BLAS and LAPACK, where they are
/// found. names: of baselines().
void add_libraries(nlohmann::json& report, const std::vector<std::string>& names);

/// The same for names of system_baselines().
void add_system_libraries(nlohmann::json& report, const std::vector<std::string>& names);

/// One device as in report_head.
nlohmann::json to_json(const Device& device, const KernelSettings& kernels);

/// The `ceilings` of a device.
nlohmann::json to_json(const Ceilings& ceilings);

/// The `rates` of an ok result of a method: work by the counters over the median time, and that
/// over the device's ceilings and, where it was measured, the rate of the method's own products.
nlohmann::json achieved(const Result& result, const Ceilings& ceilings);

/// Why an ok result of a method cannot be true: a sentence, if its multiply-adds over the median
/// time are more than one and a half times the larger of the device's ceilings; empty otherwise.
std::string disbelief(const Result& result, const Ceilings& ceilings);

/// The object as it is printed and written, UTF-8.
std::string to_text(const nlohmann::json& report);

/// Writes the object to a file, which is complete at any time (written beside it, then renamed).
/// Throws what write_file throws if that cannot be done: the object is kept elsewhere then.
void write_report(const nlohmann::json& report, const std::string& path);

/// Reads back a file of write_report, whatever its results are. Throws InputError if it is not one.
nlohmann::json read_report(const std::string& path);

}  // namespace lugpu
