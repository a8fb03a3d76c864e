// A timeline of what ran on the devices, as browsers and Perfetto show it: the Trace Event Format
// of Chrome (docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).
#pragma once

#include <nlohmann/json.hpp>

#include "bench/result.hpp"

namespace lugpu {

/// The events of a result, an array: its commands are those of a process with this number, and its
/// kernels, its transfers and each kind of parts of kernels are the threads. Times are in
/// microseconds from the start of the first command. Empty for a result without commands.
nlohmann::json trace_events(const Result& result, std::size_t process);

}  // namespace lugpu
