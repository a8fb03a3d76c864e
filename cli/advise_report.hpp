// How `lugpu advise` ends.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/advice.hpp"
#include "exit.hpp"
#include "options.hpp"

namespace lugpu::cli {

/// Adds the advice to the report and writes it; if nothing is recommended, says why on stderr.
/// matrix: its file.
Exit finish_advice(const Advice& advice, const std::string& matrix, const Options& options,
                   nlohmann::json report);

}  // namespace lugpu::cli
