// A device in use: in-order queues, memory, launches and their times.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "opencl/deadline.hpp"
#include "opencl/device.hpp"
#include "opencl/part_times.hpp"
#include "opencl/programs.hpp"
#include "opencl/staging.hpp"
#include "opencl/timeline.hpp"

namespace lugpu {

class Surface;

/// How many work-items a launch needs, and the global offset of its first. Their number is rounded
/// up to whole work-groups; kernels guard edges.
struct Items {
  std::size_t x;
  std::size_t y = 1;
  std::size_t offset_x = 0;
  std::size_t offset_y = 0;
};

/// ceil(count / divisor)
constexpr std::size_t ceiling(std::size_t count, std::size_t divisor) {
  return (count + divisor - 1) / divisor;
}

/// A way to the device beside the queue in use, for one transfer at a time, by any thread, which
/// locks `in_use` as long as it uses the others.
struct BackgroundTransfer {
  /// Takes the memory of the queue in use if there is more of it, and the other way round.
  void borrow(Staging& of_queue);
  void give_back(Staging& to_queue);

  cl::CommandQueue queue;
  Staging staging;
  std::mutex in_use;
};

class DeviceContext {
 public:
  explicit DeviceContext(Device device, KernelSettings settings = {});

  const Device& device() const { return device_; }
  const cl::Context& handle() const { return context_; }
  Programs& programs() { return programs_; }
  const KernelSettings& settings() const { return programs_.settings(); }
  Deadline& deadline() { return deadline_; }
  Staging& staging() { return staging_; }
  BackgroundTransfer& background();
  Timeline& timeline() { return timeline_; }
  /// The queue in use: in order, so that a command sees what those before it wrote.
  cl::CommandQueue& queue() { return profiling_ ? profiling_queue_ : queue_; }

  /// Whether commands are timed on the device from now on. It may cost several microseconds a
  /// launch, so wall-clock times are taken without it. Waits for what is enqueued; throws cl::Error
  /// if that fails.
  void set_profiling(bool on);
  /// Ends profiling after an error: does not throw, whatever state the device is in.
  void abandon_profiling() noexcept;

  /// Uninitialized device memory of at least one byte.
  cl::Buffer allocate(std::size_t bytes);

  /// Counters for kernels, all 0.
  cl::Buffer zeros(std::size_t ints);

  /// Enqueues that the first `bytes` bytes of a buffer become `byte`.
  void fill(const cl::Buffer& buffer, cl_uchar byte, std::size_t bytes);

  /// A buffer of at least this many bytes, which the next call hands out again: for data read by
  /// commands enqueued before that.
  const cl::Buffer& scratch(std::size_t bytes);

  /// Enqueues a kernel with its fixed work-group size over at least `items`; nothing for no items.
  /// A Surface argument stands for SOURCE or TARGET of surface.clh, the rest for themselves
  /// (cl::Buffer, cl_int, structs). Returns its event, without a command unless it is timed. Throws
  /// as Programs::find.
  template <typename... Arguments>
  cl::Event run(const char* phase, const KernelId& id, Items items, const Arguments&... arguments) {
    if (items.x == 0 || items.y == 0) return {};
    Kernel& kernel = programs_.find(id);
    cl_uint index = 0;
    (set_argument(kernel.handle, index, arguments), ...);
    return enqueue(phase, id.function, kernel, items);
  }

  /// run() for a kernel that can note when its parts run: a PartTimes, while there is one, gets
  /// their times. parts(): returns a std::vector<Part>, and is called only then.
  template <typename Parts, typename... Arguments>
  void run_in_parts(const char* phase, const KernelId& id, Items items, const Parts& parts,
                    const Arguments&... arguments) {
    if (!part_times_) {
      run(phase, id, items, arguments...);
      return;
    }
    std::vector<Part> of_launch = parts();
    const cl::Buffer words = part_times_->words(of_launch.size());
    KernelId noting = id;
    noting.options += " -DLUGPU_PART_TIMES";
    part_times_->add(run(phase, noting, items, arguments..., words), std::move(of_launch), words);
  }

  /// Where run_in_parts() notes times, or null for nowhere; called by PartTimes alone.
  void set_part_times(PartTimes* part_times) { part_times_ = part_times; }

  /// Copies `bytes` at `offset` of a buffer to the host and waits for them.
  void read_back(const char* phase, const cl::Buffer& buffer, std::size_t offset, std::size_t bytes,
                 void* host);

  /// The same, without waiting: the event tells when they are there. host: best of a Staging.
  cl::Event read_later(const char* phase, const cl::Buffer& buffer, std::size_t offset,
                       std::size_t bytes, void* host);

  /// Throws Unsupported if the device's driver ends the loops of a work-item early, as Mesa's
  /// llvmpipe does. Tries it once.
  void require_long_loops();

  /// deadline().checkpoint() of the queue in use.
  void checkpoint() { deadline_.checkpoint(queue()); }

 private:
  cl::Event enqueue(const char* phase, const char* function, Kernel& kernel, Items items);

  template <typename T>
  static void set_argument(cl::Kernel& kernel, cl_uint& index, const T& value) {
    kernel.setArg(index++, value);
  }
  static void set_argument(cl::Kernel& kernel, cl_uint& index, const Surface& surface);

  Device device_;
  cl::Context context_;
  cl::CommandQueue queue_, profiling_queue_;
  bool profiling_ = false;
  Programs programs_;
  Deadline deadline_;
  Timeline timeline_;
  PartTimes* part_times_ = nullptr;
  Staging staging_;
  std::unique_ptr<BackgroundTransfer> background_;  // once it is asked for
  cl::Buffer scratch_;
  std::size_t scratch_bytes_ = 0;
  std::optional<bool> long_loops_;  // see require_long_loops()
};

}  // namespace lugpu
