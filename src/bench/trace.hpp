// A timeline of what ran on the devices, as browsers and Perfetto show it: the Trace Event Format
// of Chrome (docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).
#pragma once

#include <nlohmann/json.hpp>

#include "bench/result.hpp"

namespace lugpu {

/// A trace without events.
nlohmann::json empty_trace();

/// Adds the commands of a result, if it has any, as one more process: its kernels and its transfers
/// are its threads. Times are in microseconds from the start of its first command.
void add_to_trace(nlohmann::json& trace, const Result& result);

}  // namespace lugpu
