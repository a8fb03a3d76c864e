// A device of a known pace, for tests of what times it, whatever the load of this machine: a layer
// of the OpenCL loader (OPENCL_LAYERS) that LD_PRELOAD names too. A span of work is from the first
// kernel that is enqueued to the next clFinish. The process's clock stands still meanwhile, and
// then shows that the span took what these environment variables choose:
//   OPENCL_PACE_SPAN     milliseconds
//   OPENCL_PACE_KERNELS  names of kernels, separated by commas: a span with one of them takes
//   OPENCL_PACE_LONGER   so many per cent longer
//   OPENCL_PACE_NOISE    per cent: each span takes longer by a random part of twice as much
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <optional>
#include <random>
#include <string>

#include "opencl_layer.hpp"

namespace {

using std::chrono::nanoseconds;

cl_icd_dispatch below, layer;  // what calls are handed on to, and what the loader calls

nanoseconds real_time() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

// What the process sees of the clock that only runs.
class Clock {
 public:
  nanoseconds now() {
    const std::lock_guard lock(mutex_);
    return stopped_ ? *stopped_ : real_time() + ahead_;
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    if (!stopped_) stopped_ = real_time() + ahead_;
  }

  // As if it had run for so long.
  void go_on(nanoseconds after) {
    const std::lock_guard lock(mutex_);
    if (!stopped_) return;
    ahead_ = *stopped_ + after - real_time();
    stopped_.reset();
  }

 private:
  std::mutex mutex_;
  nanoseconds ahead_{0};
  std::optional<nanoseconds> stopped_;
};

Clock& process_clock() {
  static Clock clock;
  return clock;
}

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text ? text : "";
}

double number(const char* name) {
  return std::atof(variable(name).c_str());
}

std::mutex mutex;     // of what follows
bool chosen = false;  // a kernel of this span is in OPENCL_PACE_KERNELS

cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                           const size_t* offset, const size_t* global, const size_t* local,
                           cl_uint events, const cl_event* list, cl_event* event) {
  process_clock().stop();
  char name[256] = "";
  below.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, nullptr);
  const std::string names = ',' + variable("OPENCL_PACE_KERNELS") + ',';
  if (names.find(',' + std::string(name) + ',') != std::string::npos) {
    const std::lock_guard lock(mutex);
    chosen = true;
  }
  return below.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, events,
                                      list, event);
}

cl_int CL_API_CALL finish(cl_command_queue queue) {
  static std::minstd_rand random;
  std::uniform_real_distribution<double> uniform(0, 2);
  const cl_int status = below.clFinish(queue);
  const std::lock_guard lock(mutex);
  double milliseconds = number("OPENCL_PACE_SPAN");
  if (chosen) milliseconds *= 1 + number("OPENCL_PACE_LONGER") / 100;
  milliseconds *= 1 + number("OPENCL_PACE_NOISE") / 100 * uniform(random);
  process_clock().go_on(nanoseconds(static_cast<nanoseconds::rep>(1e6 * milliseconds)));
  chosen = false;
  return status;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* to) noexcept {
  if (clock != CLOCK_MONOTONIC) return static_cast<int>(syscall(SYS_clock_gettime, clock, to));
  const nanoseconds now = process_clock().now();
  to->tv_sec = now / std::chrono::seconds(1);
  to->tv_nsec = (now % std::chrono::seconds(1)).count();
  return 0;
}

cl_int clGetLayerInfo(cl_layer_info what, size_t size, void* value, size_t* needed) {
  return layer_info("opencl_pace", what, size, value, needed);
}

cl_int clInitLayer(cl_uint count, const cl_icd_dispatch* target, cl_uint* count_here,
                   const cl_icd_dispatch** table) {
  const cl_int status = init_layer(count, target, count_here, table, below, layer);
  if (status != CL_SUCCESS) return status;
  layer.clEnqueueNDRangeKernel = enqueue;
  layer.clFinish = finish;
  return CL_SUCCESS;
}

}  // extern "C"
