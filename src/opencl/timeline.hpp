// What ran on a device and how long it took, by phase.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "opencl/opencl.hpp"

namespace lugpu {

/// When a command that was timed started and ended, in nanoseconds of the device's clock for
/// events.
inline cl_ulong started(const cl::Event& event) {
  return event.getProfilingInfo<CL_PROFILING_COMMAND_START>();
}
inline cl_ulong ended(const cl::Event& event) {
  return event.getProfilingInfo<CL_PROFILING_COMMAND_END>();
}

/// A log of the commands enqueued since the last clear(): their number, and for those that come
/// with an event the device's own times, in seconds, which may be asked once the queue has
/// finished.
class Timeline {
 public:
  /// phase: a string literal, e.g. "update"; kernel: the function's name. An event without a
  /// command is not timed.
  void add_kernel(const char* phase, const char* kernel, cl::Event event);
  /// A transfer back to the host that the host waited for.
  void add_readback(const char* phase, cl::Event event);
  /// A transfer that nobody waited for.
  enum class Way { to_host, to_device };
  void add_copy(Way way, cl::Event event);
  /// Memory that kernels load and store, by their own count.
  void add_bytes(std::uint64_t bytes) { bytes_ += bytes; }
  void clear();

  std::uint64_t kernel_launches() const { return kernel_launches_; }
  std::uint64_t readbacks() const { return readbacks_; }
  std::uint64_t bytes() const { return bytes_; }
  /// When the first command started, in nanoseconds of the device's clock for events.
  cl_ulong start() const;
  /// From the start of the first command to the end of the last; 0 where nothing was timed.
  double span() const;
  /// The sum of the commands' durations for each phase.
  std::map<std::string, double> by_phase() const;

  /// A command that was timed.
  struct Command {
    std::string kernel;  ///< empty for a transfer
    const char* phase;
    double start_s, end_s;  ///< after the start of the first
    Way way;                ///< of a transfer
  };
  /// All of them, in the order in which they were enqueued.
  std::vector<Command> commands() const;

 private:
  struct Entry {
    const char* phase;
    std::string kernel;
    cl::Event event;
    Way way = Way::to_host;
  };
  std::vector<Entry> entries_;
  std::uint64_t kernel_launches_ = 0;
  std::uint64_t readbacks_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace lugpu
