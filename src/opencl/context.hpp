// A device in use: context, in-order queues, programs built once, launches and their times.
#pragma once

#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "opencl/device.hpp"
#include "opencl/element.hpp"
#include "opencl/timeline.hpp"

namespace lugpu {

class Surface;

/// Thrown by DeviceContext::checkpoint when the time that was given is over.
class TimedOut : public std::exception {
 public:
  const char* what() const noexcept override { return "the time limit was reached"; }
};

/// Names a kernel: its file with the folder of kernels/ it is in, the function there, and how to
/// build it.
struct KernelId {
  const char* file;  ///< e.g. "dense/fused.cl"
  const char* function;
  Precision precision;
  Storage storage;
  Texel texel = Texel::r;
  std::string options = "";  ///< more build options, e.g. " -DLANES=64"
  std::size_t group = 0;     ///< work-items of a work-group, where the kernel leaves that open
};

/// How many work-items a launch needs, and the global offset of its first. Their number is rounded
/// up to whole work-groups; kernels guard edges.
struct Items {
  std::size_t x;
  std::size_t y = 1;
  std::size_t offset_x = 0;
  std::size_t offset_y = 0;
};

class DeviceContext {
 public:
  /// kernel_dir: read kernels from this directory, laid out like kernels/, instead of the embedded
  /// ones; empty for the embedded ones. verbose: print build logs to stderr.
  explicit DeviceContext(Device device, std::string kernel_dir = "", bool verbose = false);

  const Device& device() const { return device_; }
  /// Where the kernels come from; empty for the embedded ones.
  const std::string& kernel_dir() const { return kernel_dir_; }
  const cl::Context& handle() const { return context_; }
  /// The queue in use: in order, so that a command sees what those before it wrote.
  cl::CommandQueue& queue() { return profiling_ ? profiling_queue_ : queue_; }
  Timeline& timeline() { return timeline_; }

  /// Whether commands are timed on the device from now on. It may cost several microseconds a
  /// launch, so wall-clock times are taken without it. Waits for what is enqueued; throws cl::Error
  /// if that fails.
  void set_profiling(bool on);
  /// Ends profiling after an error: does not throw, whatever state the device is in.
  void abandon_profiling() noexcept;

  /// Seconds spent building programs so far.
  double build_seconds() const { return build_seconds_; }

  /// How many different kernels have run so far; one built for another precision, storage or option
  /// counts again. Drivers may compile at the first launch.
  std::size_t kernel_count() const { return kernels_.size(); }

  /// Uninitialized device memory of at least one byte.
  cl::Buffer allocate(std::size_t bytes);

  /// A buffer of at least this many bytes, which the next call hands out again: for data read by
  /// commands enqueued before that.
  const cl::Buffer& scratch(std::size_t bytes);

  /// Enqueues a kernel with its fixed work-group size over at least `items`; nothing for no items.
  /// A Surface argument stands for SOURCE or TARGET of common/surface.clh, the rest for themselves
  /// (cl::Buffer, cl_int, a struct that the kernel takes by value). Throws NotTried with the error
  /// and the log if the program does not build.
  template <typename... Arguments>
  void run(const char* phase, const KernelId& id, Items items, const Arguments&... arguments) {
    if (items.x == 0 || items.y == 0) return;
    Kernel& kernel = find_kernel(id);
    cl_uint index = 0;
    (set_argument(kernel.handle, index, arguments), ...);
    enqueue(phase, kernel, items);
  }

  /// Copies `bytes` at `offset` of a buffer to the host and waits for them.
  void read_back(const char* phase, const cl::Buffer& buffer, std::size_t offset, std::size_t bytes,
                 void* host);

  /// Throws Unsupported if the device's driver ends the loops of a work-item early, as Mesa's
  /// llvmpipe does. Tries it once.
  void require_long_loops();

  /// From now on checkpoint() throws TimedOut after this many seconds. pace: what pace() was when
  /// the same computation last ran.
  void set_deadline(double seconds, int pace = 1);
  /// Checkpoints from one wait for the device to the next, as adapted so far.
  int pace() const { return steps_between_waits_; }
  /// Between the steps of a long computation: now and then waits for the device, so that no more is
  /// enqueued than fits in the time given. Throws TimedOut.
  void checkpoint();

 private:
  struct Kernel {
    cl::Kernel handle;
    std::size_t group_x, group_y;
  };
  using Clock = std::chrono::steady_clock;

  Kernel& find_kernel(const KernelId& id);
  cl::Program& find_program(const KernelId& id);
  std::string source_of(const std::string& file) const;
  /// The text of a kernel file, with its `#include "file"` lines replaced by those files.
  std::string with_includes(const std::string& file) const;
  void enqueue(const char* phase, Kernel& kernel, Items items);

  template <typename T>
  static void set_argument(cl::Kernel& kernel, cl_uint& index, const T& value) {
    kernel.setArg(index++, value);
  }
  static void set_argument(cl::Kernel& kernel, cl_uint& index, const Surface& surface);

  Device device_;
  std::string kernel_dir_;
  bool verbose_;
  cl::Context context_;
  cl::CommandQueue queue_, profiling_queue_;
  bool profiling_ = false;
  Timeline timeline_;
  std::map<std::string, cl::Program> programs_;  // by file and build options
  std::map<std::string, Kernel> kernels_;        // by function, file and build options
  double build_seconds_ = 0;
  cl::Buffer scratch_;
  std::size_t scratch_bytes_ = 0;
  std::optional<bool> long_loops_;  // see require_long_loops()
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point last_wait_ = Clock::now();
  int steps_between_waits_ = 1;
  int steps_since_wait_ = 0;
};

}  // namespace lugpu
