#include "opencl/timeline.hpp"

#include <algorithm>
#include <limits>

namespace lugpu {
namespace {

constexpr double kSecondsPerTick = 1e-9;

}  // namespace

void Timeline::add_kernel(const char* phase, const char* kernel, cl::Event event) {
  ++kernel_launches_;
  if (event()) entries_.push_back({phase, kernel, std::move(event)});
}

void Timeline::add_readback(const char* phase, cl::Event event) {
  ++readbacks_;
  if (event()) entries_.push_back({phase, "", std::move(event)});
}

void Timeline::add_copy(Way way, cl::Event event) {
  if (event()) entries_.push_back({"copy", "", std::move(event), way});
}

void Timeline::clear() {
  *this = Timeline();
}

cl_ulong Timeline::start() const {
  cl_ulong first = std::numeric_limits<cl_ulong>::max();
  for (const Entry& entry : entries_) first = std::min(first, started(entry.event));
  return first;
}

double Timeline::span() const {
  const cl_ulong first = start();
  cl_ulong last = 0;
  for (const Entry& entry : entries_) last = std::max(last, ended(entry.event));
  return last > first ? static_cast<double>(last - first) * kSecondsPerTick : 0;
}

std::map<std::string, double> Timeline::by_phase() const {
  std::map<std::string, double> seconds;
  for (const Entry& entry : entries_) {
    const cl_ulong ticks = ended(entry.event) - started(entry.event);
    seconds[entry.phase] += static_cast<double>(ticks) * kSecondsPerTick;
  }
  return seconds;
}

std::vector<Timeline::Command> Timeline::commands() const {
  const cl_ulong first = start();
  const auto seconds = [&](cl_ulong ticks) {
    return static_cast<double>(ticks - first) * kSecondsPerTick;
  };
  std::vector<Command> commands;
  for (const Entry& entry : entries_) {
    commands.push_back({entry.kernel, entry.phase, seconds(started(entry.event)),
                        seconds(ended(entry.event)), entry.way});
  }
  return commands;
}

}  // namespace lugpu
