// Host memory through which large matrices travel to and from a device.
#pragma once

#include <cstddef>
#include <utility>

#include "opencl/opencl.hpp"

namespace lugpu {

/// Memory that the device reads and writes directly (CL_MEM_ALLOC_HOST_PTR: drivers of GPUs pin
/// it), kept from transfer to transfer, since allocating it is slow.
class Staging {
 public:
  /// queue: of the context.
  Staging(const cl::Context& context, const cl::CommandQueue& queue)
      : context_(context), queue_(queue) {}
  ~Staging() { release(); }
  Staging(Staging&& other) noexcept
      : context_(std::move(other.context_)),
        queue_(std::move(other.queue_)),
        buffer_(std::move(other.buffer_)),
        data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  Staging& operator=(Staging&&) = delete;
  void swap(Staging& other) noexcept;

  std::size_t bytes() const { return bytes_; }
  /// `bytes` of uninitialized memory, until the next call. Throws cl::Error if there is not enough.
  void* room(std::size_t bytes);
  /// From now on the device reads and writes memory of the caller directly, which must outlive this
  /// (CL_MEM_USE_HOST_PTR). Throws cl::Error if that cannot be.
  void pin(void* memory, std::size_t bytes);

 private:
  void map(cl_mem_flags flags, void* memory, std::size_t bytes);
  void release() noexcept;

  cl::Context context_;
  cl::CommandQueue queue_;
  cl::Buffer buffer_;
  void* data_ = nullptr;  // of buffer_, mapped
  std::size_t bytes_ = 0;
};

}  // namespace lugpu
