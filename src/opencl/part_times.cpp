#include "opencl/part_times.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "opencl/context.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kPoolBytes = std::size_t{1} << 20;
constexpr int kReadings = 5;

// Differences of counts that are too large for a double.
double from_to(cl_ulong from, cl_ulong to) {
  return static_cast<double>(static_cast<cl_long>(to - from));
}

}  // namespace

std::vector<Part> parts_of_columns(const std::string& kind, std::size_t column,
                                   std::size_t column_end, std::size_t width) {
  std::vector<Part> parts;
  for (std::size_t first = column; first < column_end; first += width) {
    const std::size_t last = std::min(first + width, column_end) - 1;
    parts.push_back({kind + 's', kind + ' ' + std::to_string(first / width) + " (columns " +
                                     std::to_string(first) + '-' + std::to_string(last) + ')'});
  }
  return parts;
}

PartTimes::PartTimes(DeviceContext& context) : context_(context), first_(start_of_clock(context)) {
  if (first_) context_.set_part_times(this);
}

PartTimes::~PartTimes() {
  context_.set_part_times(nullptr);
}

bool PartTimes::has_clock(DeviceContext& context) {
  return start_of_clock(context).has_value();
}

// The shortest of several launches says most.
PartTimes::Reading PartTimes::read_clock(DeviceContext& context) {
  const cl::Buffer words = context.zeros(4);
  context.queue().finish();
  cl::CommandQueue queue(context.handle(), handle_of(context.device()), CL_QUEUE_PROFILING_ENABLE);
  cl::Kernel& kernel = context.programs()
                           .find({"common/clock.cl", "read_clock", Precision::single_precision,
                                  Storage::buffer, Texel::r, " -DLUGPU_PART_TIMES"})
                           .handle;
  kernel.setArg(0, cl_int{0});
  kernel.setArg(1, words);
  Reading reading{};
  cl_ulong shortest = std::numeric_limits<cl_ulong>::max();
  for (int i = 0; i < kReadings; ++i) {
    cl::Event event;
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1), cl::NDRange(1), nullptr,
                               &event);
    std::array<cl_ulong, 2> times{};
    queue.enqueueReadBuffer(words, CL_TRUE, 0, sizeof times, times.data());
    const cl_ulong ns = ended(event) - started(event);
    if (ns >= shortest) continue;
    shortest = ns;
    reading = {times[1], started(event) + ns / 2};
  }
  return reading;
}

// A clock whose kernel does not build is none.
std::optional<PartTimes::Reading> PartTimes::start_of_clock(DeviceContext& context) {
  try {
    const Reading one = read_clock(context), next = read_clock(context);
    return next.ticks > one.ticks ? std::optional(next) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

cl::Buffer PartTimes::words(std::size_t parts) {
  const std::size_t bytes = parts * 2 * sizeof(cl_ulong);
  if (pool_() == nullptr || pool_used_ + bytes > kPoolBytes) {
    const std::size_t all = std::max(bytes, kPoolBytes);
    pool_ = context_.allocate(all);
    context_.fill(pool_, 0, all);
    pool_used_ = 0;
  }
  cl_buffer_region region = {pool_used_, bytes};
  const std::size_t alignment =
      handle_of(context_.device()).getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8;
  pool_used_ += ceiling(bytes, alignment) * alignment;
  return pool_.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region);
}

void PartTimes::add(cl::Event event, std::vector<Part> parts, cl::Buffer words) {
  if (event()) launches_.push_back({std::move(event), std::move(parts), std::move(words)});
}

std::vector<PartTimes::Ran> PartTimes::ran() {
  std::vector<Ran> all;
  if (launches_.empty()) return all;
  const Reading first = *first_, last = read_clock(context_);
  const double ns_per_tick = from_to(first.ns, last.ns) / from_to(first.ticks, last.ticks);
  const cl_ulong origin = context_.timeline().start();
  for (const Launch& launch : launches_) {
    std::vector<cl_ulong> words(2 * launch.parts.size());
    context_.queue().enqueueReadBuffer(launch.words, CL_TRUE, 0, words.size() * sizeof(cl_ulong),
                                       words.data());
    const double start = from_to(origin, started(launch.event));
    const double end = from_to(origin, ended(launch.event));
    const auto seconds = [&](cl_ulong ticks) {
      const double ns = from_to(origin, first.ns) + from_to(first.ticks, ticks) * ns_per_tick;
      return std::clamp(ns, start, end) * 1e-9;
    };
    for (std::size_t i = 0; i < launch.parts.size(); ++i) {
      const cl_ulong part_start = ~words[2 * i], part_end = words[2 * i + 1];
      if (part_end == 0) continue;  // the launch had nothing to do there
      all.push_back({launch.parts[i], seconds(part_start), seconds(part_end)});
    }
  }
  return all;
}

}  // namespace lugpu
