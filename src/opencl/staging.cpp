#include "opencl/staging.hpp"

namespace lugpu {

void* Staging::room(std::size_t bytes) {
  if (bytes > bytes_) map(CL_MEM_ALLOC_HOST_PTR, nullptr, bytes);
  return data_;
}

void Staging::swap(Staging& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(queue_, other.queue_);
  std::swap(buffer_, other.buffer_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
}

void Staging::pin(void* memory, std::size_t bytes) {
  map(CL_MEM_USE_HOST_PTR, memory, bytes);
}

void Staging::map(cl_mem_flags flags, void* memory, std::size_t bytes) {
  release();
  buffer_ = cl::Buffer(context_, CL_MEM_READ_WRITE | flags, bytes, memory);
  data_ = queue_.enqueueMapBuffer(buffer_, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes);
  bytes_ = bytes;
}

// What cannot be unmapped goes with its buffer, and what cannot be released is lost: assigning to
// buffer_ would throw then. The caller's memory may be gone afterwards, so that no command may use
// it.
void Staging::release() noexcept {
  if (data_) {
    clEnqueueUnmapMemObject(queue_(), buffer_(), data_, 0, nullptr, nullptr);
    clFinish(queue_());
  }
  if (const cl_mem memory = std::exchange(buffer_(), nullptr)) clReleaseMemObject(memory);
  data_ = nullptr;
  bytes_ = 0;
}

}  // namespace lugpu
