// When the parts of long launches ran, by a clock that their kernels read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "opencl/opencl.hpp"

namespace lugpu {

class DeviceContext;

/// A part of a launch: what parts of its kind are called together, e.g. "blocks", and its own name.
struct Part {
  std::string kind, name;
};

/// Columns column : column_end in parts of `width`: "blocks", "block 17 (columns 136-143)". They
/// are numbered from column 0 of the matrix on. kind: in the singular.
std::vector<Part> parts_of_columns(const std::string& kind, std::size_t column,
                                   std::size_t column_end, std::size_t width);

/// While such an object lives, kernels that a context runs by run_in_parts() note when their parts
/// start and end (kernels/common/part_times.clh); one for a context at a time. Nothing is noted on
/// a device without a clock that kernels can read.
class PartTimes {
 public:
  /// Throws cl::Error if the device fails.
  explicit PartTimes(DeviceContext& context);
  PartTimes(const PartTimes&) = delete;
  PartTimes& operator=(const PartTimes&) = delete;
  ~PartTimes();

  /// Whether kernels can read a clock on this device. Throws as the constructor.
  static bool has_clock(DeviceContext& context);

  /// A part that ran. Seconds after the start of the first command of context.timeline().
  struct Ran {
    Part part;
    double start_s, end_s;
  };
  /// Of all launches that were timed: launch by launch, each in the order of its parts. The two
  /// clocks are compared at the start and now, with an error of a few microseconds; what would then
  /// be outside of its launch is moved to the launch's start or end. Throws cl::Error if the device
  /// fails.
  std::vector<Ran> ran();

  /// For run_in_parts(): two words for each part, all 0.
  cl::Buffer words(std::size_t parts);
  /// For run_in_parts(): the launch of these parts with these words; nothing for an event without a
  /// command, which is not timed.
  void add(cl::Event event, std::vector<Part> parts, cl::Buffer words);

 private:
  /// The clock of kernels, and that of events, in nanoseconds.
  struct Reading {
    cl_ulong ticks, ns;
  };
  static Reading read_clock(DeviceContext& context);
  static std::optional<Reading> start_of_clock(DeviceContext& context);

  struct Launch {
    cl::Event event;
    std::vector<Part> parts;
    cl::Buffer words;
  };

  DeviceContext& context_;
  std::optional<Reading> first_;  // absent if there is no clock
  cl::Buffer pool_;               // of words, all 0 beyond pool_used_
  std::size_t pool_used_ = 0;     // bytes
  std::vector<Launch> launches_;
};

}  // namespace lugpu
