// The file of `lugpu bench --json`, and going on from an earlier one.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "options.hpp"

namespace lugpu::cli {

/// The report in the file of --json, for --resume; null if there is none.
nlohmann::json earlier_report(const Options& options);

/// The head of this run's report with what --resume compares, and with the libraries of the earlier
/// one. Throws InputError if the two cannot be combined.
nlohmann::json begin_report(nlohmann::json head, const Options& options,
                            const nlohmann::json& earlier);

/// Whether a resumed run keeps this row.
bool is_final(const nlohmann::json& row);

std::vector<Device> devices_of(const std::vector<DeviceContext>& contexts);

}  // namespace lugpu::cli
