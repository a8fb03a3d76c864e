#include "baselines/cuda_runtime.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.hpp"

namespace lugpu {
namespace {

constexpr int kMemoryAllocation = 2;           // cudaErrorMemoryAllocation
constexpr std::size_t kNameSize = 256;         // of cudaDeviceProp::name, its first member
constexpr std::size_t kPropertiesSize = 8192;  // more than any version's cudaDeviceProp

CudaRuntime find_runtime() {
  CudaRuntime api;
  const SharedLibrary cudart =
      open_cuda({"libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"});
  cudart.find(api.cudaGetDeviceCount, "cudaGetDeviceCount");
  // CUDA 12 has the old layout of the properties under the old name; the device's name is first in
  // both.
  cudart.find(api.cudaGetDeviceProperties, "cudaGetDeviceProperties_v2", "cudaGetDeviceProperties");
  cudart.find(api.cudaSetDevice, "cudaSetDevice");
  cudart.find(api.cudaGetLastError, "cudaGetLastError");
  cudart.find(api.cudaGetErrorString, "cudaGetErrorString");
  cudart.find(api.cudaMalloc, "cudaMalloc");
  cudart.find(api.cudaFree, "cudaFree");
  cudart.find(api.cudaMemcpy, "cudaMemcpy");
  cudart.find(api.cudaMemcpy2D, "cudaMemcpy2D");
  cudart.find(api.cudaDeviceSynchronize, "cudaDeviceSynchronize");
  cudart.find(api.cudaEventCreate, "cudaEventCreate");
  cudart.find(api.cudaEventRecord, "cudaEventRecord");
  cudart.find(api.cudaEventSynchronize, "cudaEventSynchronize");
  cudart.find(api.cudaEventElapsedTime, "cudaEventElapsedTime");
  cudart.find(api.cudaEventDestroy, "cudaEventDestroy");
  return api;
}

std::string cuda_name(int index) {
  alignas(std::max_align_t) std::array<char, kPropertiesSize> properties{};
  check_cuda(cuda().cudaGetDeviceProperties(properties.data(), index), "cudaGetDeviceProperties");
  return std::string(properties.data(), strnlen(properties.data(), kNameSize));
}

}  // namespace

const CudaRuntime& cuda() {
  static const Opened<CudaRuntime> opened(find_runtime);
  return opened.get();
}

SharedLibrary open_cuda(const std::vector<std::string>& names) {
  return SharedLibrary({names,
                        {"", "/usr/local/cuda/lib64/", "/opt/cuda/lib64/"},
                        "install NVIDIA's CUDA libraries, or add their folder to LD_LIBRARY_PATH",
                        "use CUDA 11.1 or later"});
}

void fail(const std::string& call, const std::string& how) {
  throw Error(ErrorKind::failure, call + " failed: " + how + ".");
}

// Clears an error, or cuSOLVER would find it later.
void check_cuda(int error, const char* call) {
  if (error == kSuccess) return;
  cuda().cudaGetLastError();
  fail(call, cuda().cudaGetErrorString(error));
}

void check_cusolver(int status, const char* call) {
  if (status != kSuccess) fail(call, "cuSOLVER's status is " + std::to_string(status));
}

std::vector<int> cuda_indices(const std::string& name, std::size_t count) {
  int devices = 0;
  const int error = cuda().cudaGetDeviceCount(&devices);
  if (error != kSuccess) {
    cuda().cudaGetLastError();
    throw Unsupported(
        "cuSOLVER finds no CUDA device: " + std::string(cuda().cudaGetErrorString(error)) + ".");
  }
  std::string known;
  std::vector<int> found;
  for (int i = 0; i < devices; ++i) {
    const std::string other = cuda_name(i);
    if (other == name) found.push_back(i);
    if (found.size() == count) return found;
    known += (i > 0 ? ", " : "") + other;
  }
  if (!found.empty()) {
    throw Unsupported(std::to_string(count) + " CUDA devices " + name +
                      " are wanted, and there are " + std::to_string(found.size()) + ".");
  }
  throw Unsupported(name + " is not a CUDA device; cuSOLVER runs only on those, and here are: " +
                    (known.empty() ? "none" : known) + ".");
}

void use_device(int index) {
  check_cuda(cuda().cudaSetDevice(index), "cudaSetDevice");
}

void FreeMemory::operator()(void* memory) const {
  cuda().cudaFree(memory);
}

Memory allocate(std::size_t bytes) {
  void* memory = nullptr;
  const int error = cuda().cudaMalloc(&memory, std::max<std::size_t>(bytes, 1));
  if (error == kMemoryAllocation) {
    cuda().cudaGetLastError();
    throw Unsupported("The CUDA device does not have " + std::to_string(bytes) +
                      " bytes of memory left for cuSOLVER.");
  }
  check_cuda(error, "cudaMalloc");
  return Memory(memory);
}

void copy(void* target, const void* source, std::size_t bytes, int kind) {
  if (bytes > 0) check_cuda(cuda().cudaMemcpy(target, source, bytes, kind), "cudaMemcpy");
}

void synchronize() {
  check_cuda(cuda().cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

}  // namespace lugpu
