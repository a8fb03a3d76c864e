#include "opencl/context.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "opencl/surface.hpp"

namespace lugpu {
DeviceContext::DeviceContext(Device device, KernelSettings settings)
    : device_(std::move(device)),
      context_(handle_of(device_)),
      queue_(context_, handle_of(device_)),
      profiling_queue_(context_, handle_of(device_), CL_QUEUE_PROFILING_ENABLE),
      programs_(context_, device_, std::move(settings)),
      staging_(context_, queue_) {}

void BackgroundTransfer::borrow(Staging& of_queue) {
  const std::lock_guard alone(in_use);
  if (staging.bytes() < of_queue.bytes()) staging.swap(of_queue);
}

void BackgroundTransfer::give_back(Staging& to_queue) {
  const std::lock_guard alone(in_use);
  if (to_queue.bytes() < staging.bytes()) staging.swap(to_queue);
}

BackgroundTransfer& DeviceContext::background() {
  if (!background_) {
    const cl::CommandQueue queue(context_, handle_of(device_));
    background_.reset(new BackgroundTransfer{queue, Staging(context_, queue), {}});
  }
  return *background_;
}

void DeviceContext::set_profiling(bool on) {
  const cl::CommandQueue& last = queue();
  profiling_ = on;  // before what may throw
  last.finish();
}

// Whether the wait succeeds does not matter: there already is an error to report.
void DeviceContext::abandon_profiling() noexcept {
  clFinish(queue()());
  profiling_ = false;
}

cl::Buffer DeviceContext::allocate(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  if (device_.type != "cpu" || bytes < kHugePage) {
    return cl::Buffer(context_, CL_MEM_READ_WRITE, std::max<std::size_t>(bytes, 1));
  }
  // On a CPU, large buffers are in huge pages where the system has them: strides from row to row
  // would miss the TLB with small ones.
  const std::size_t whole = ceiling(bytes, kHugePage) * kHugePage;
  // Freed here, after the buffer, if OpenCL does not take it.
  std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(kHugePage, whole),
                                                     &std::free);
  if (!memory) throw std::bad_alloc();
  madvise(memory.get(), whole, MADV_HUGEPAGE);
  cl::Buffer buffer(context_, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, memory.get());
  buffer.setDestructorCallback([](cl_mem, void* used) { std::free(used); }, memory.get());
  static_cast<void>(memory.release());  // the buffer frees it
  return buffer;
}

// No command makes them: kernels that find counters without a value may write anywhere.
cl::Buffer DeviceContext::zeros(std::size_t ints) {
  std::vector<cl_int> values(std::max<std::size_t>(ints, 1));
  return cl::Buffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                    values.size() * sizeof(cl_int), values.data());
}

// NVIDIA's driver counts the patterns of a fill in 32 bits: 2^31 and more of one byte end in a hang
// or in an error of whatever comes next (github.com/inducer/pyopencl/issues/395). So the rest is
// copied from the first piece.
void DeviceContext::fill(const cl::Buffer& buffer, cl_uchar byte, std::size_t bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 28;
  if (bytes == 0) return;
  queue().enqueueFillBuffer(buffer, byte, 0, std::min(bytes, kPiece));
  for (std::size_t done = kPiece; done < bytes; done += kPiece) {
    queue().enqueueCopyBuffer(buffer, buffer, 0, done, std::min(bytes - done, kPiece));
  }
}

const cl::Buffer& DeviceContext::scratch(std::size_t bytes) {
  if (bytes > scratch_bytes_) {
    scratch_ = allocate(bytes);
    scratch_bytes_ = bytes;
  }
  return scratch_;
}

void DeviceContext::set_argument(cl::Kernel& kernel, cl_uint& index, const Surface& surface) {
  kernel.setArg(index++, surface.memory());
  kernel.setArg(index++, static_cast<cl_int>(surface.pitch()));
}

cl::Event DeviceContext::enqueue(const char* phase, const char* function, Kernel& kernel,
                                 Items items) {
  const cl::NDRange global(ceiling(items.x, kernel.group_x) * kernel.group_x,
                           ceiling(items.y, kernel.group_y) * kernel.group_y);
  cl::Event event;
  const cl::NDRange offset = items.offset_x + items.offset_y == 0
                                 ? cl::NullRange
                                 : cl::NDRange(items.offset_x, items.offset_y);
  queue().enqueueNDRangeKernel(kernel.handle, offset, global,
                               cl::NDRange(kernel.group_x, kernel.group_y), nullptr,
                               profiling_ ? &event : nullptr);
  timeline_.add_kernel(phase, function, event);
  return event;
}

void DeviceContext::read_back(const char* phase, const cl::Buffer& buffer, std::size_t offset,
                              std::size_t bytes, void* host) {
  cl::Event event;
  queue().enqueueReadBuffer(buffer, CL_TRUE, offset, bytes, host, nullptr,
                            profiling_ ? &event : nullptr);
  timeline_.add_readback(phase, std::move(event));
}

cl::Event DeviceContext::read_later(const char* phase, const cl::Buffer& buffer, std::size_t offset,
                                    std::size_t bytes, void* host) {
  cl::Event event;
  queue().enqueueReadBuffer(buffer, CL_FALSE, offset, bytes, host, nullptr, &event);
  queue().flush();
  timeline_.add_readback(phase, profiling_ ? event : cl::Event());
  return event;
}

void DeviceContext::require_long_loops() {
  if (!long_loops_) {
    constexpr cl_int kIterations = 1 << 20;
    const cl::Buffer done = allocate(sizeof(cl_int));
    cl_int count = 0;
    run("trial",
        {"common/loops.cl", "count_iterations", Precision::single_precision, Storage::buffer}, {1},
        done, kIterations);
    read_back("trial", done, 0, sizeof count, &count);
    long_loops_ = count == kIterations;
  }
  if (!*long_loops_) {
    throw Unsupported("The driver of " + device_.name + " ends long loops of a work-item early",
                      {"schedule", "paper"});
  }
}

}  // namespace lugpu
