// An OpenCL whose buffers are guarded: a layer of the OpenCL loader (OPENCL_LAYERS) for devices
// that work in the host's memory, as PoCL's CPUs do. A buffer ends where a page begins that nobody
// may touch, so a kernel that reads or writes beyond its end gets SIGSEGV; where it must begin at a
// rounder place, up to 63 bytes before that page are filled with a pattern, and a process whose
// pattern has changed ends with a sentence and SIGABRT.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "opencl_layer.hpp"

namespace {

constexpr std::size_t kAlignment = 64;  // of the largest vectors
constexpr unsigned char kPattern = 0xa5;

cl_icd_dispatch below, layer;  // what calls are handed on to, and what the loader calls

std::size_t rounded_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

// The memory of a buffer: pages, of which the last one is closed.
struct Guarded {
  unsigned char* pages;
  std::size_t all, bytes;

  explicit Guarded(std::size_t size) : bytes(size) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    all = rounded_up(size, page) + page;
    void* const found =
        mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pages = found == MAP_FAILED ? nullptr : static_cast<unsigned char*>(found);
    if (!pages) return;
    mprotect(end(), page, PROT_NONE);
    std::memset(begin() + bytes, kPattern, slack());
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() {
    if (!pages) return;
    const unsigned char* const behind = begin() + bytes;
    if (!std::all_of(behind, behind + slack(),
                     [](unsigned char byte) { return byte == kPattern; })) {
      std::fprintf(stderr,
                   "opencl_guard: something wrote beyond the end of a buffer of %zu bytes.\n",
                   bytes);
      std::abort();
    }
    munmap(pages, all);
  }

  unsigned char* end() const {
    return pages + all - static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
  unsigned char* begin() const { return end() - bytes - slack(); }
  std::size_t slack() const { return rounded_up(bytes, kAlignment) - bytes; }
};

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, std::size_t bytes,
                                 void* host, cl_int* error) {
  auto* const memory = bytes > 0 ? new Guarded(bytes) : nullptr;
  if (!memory || !memory->pages) {
    delete memory;
    return below.clCreateBuffer(context, flags, bytes, host, error);
  }
  if (flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR))
    std::memcpy(memory->begin(), host, bytes);
  flags &= ~static_cast<cl_mem_flags>(CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR);
  cl_mem buffer =
      below.clCreateBuffer(context, flags | CL_MEM_USE_HOST_PTR, bytes, memory->begin(), error);
  const auto destroy = [](cl_mem, void* used) { delete static_cast<Guarded*>(used); };
  if (!buffer || below.clSetMemObjectDestructorCallback(buffer, destroy, memory) != CL_SUCCESS)
    delete memory;
  return buffer;
}

}  // namespace

extern "C" {

cl_int clGetLayerInfo(cl_layer_info what, size_t size, void* value, size_t* needed) {
  return layer_info("opencl_guard", what, size, value, needed);
}

cl_int clInitLayer(cl_uint count, const cl_icd_dispatch* target, cl_uint* count_here,
                   const cl_icd_dispatch** table) {
  const cl_int status = init_layer(count, target, count_here, table, below, layer);
  if (status != CL_SUCCESS) return status;
  layer.clCreateBuffer = create_buffer;
  return CL_SUCCESS;
}

}  // extern "C"
