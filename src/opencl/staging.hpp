// Host memory through which large matrices travel to and from a device.
#pragma once

#include <cstddef>

#include "opencl/context.hpp"

namespace lugpu {

/// Memory that the device reads and writes directly (CL_MEM_ALLOC_HOST_PTR: drivers of GPUs pin
/// it), kept from transfer to transfer, since allocating it is slow.
class Staging {
 public:
  /// The context must outlive it.
  explicit Staging(DeviceContext& context) : context_(context) {}
  ~Staging() { release(); }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// `bytes` of uninitialized memory, until the next call. Throws cl::Error if there is not enough.
  void* room(std::size_t bytes);

 private:
  void release() noexcept;

  DeviceContext& context_;
  cl::Buffer buffer_;
  void* data_ = nullptr;  // of buffer_, mapped
  std::size_t bytes_ = 0;
};

}  // namespace lugpu
