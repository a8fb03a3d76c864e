// The CUDA runtime, opened on demand, for the rivals that need it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "baselines/shared_library.hpp"
#include "matrix/rounded.hpp"

namespace lugpu {

// What is used of cuda_runtime_api.h and library_types.h, versions 11.1 to 13. Handles are
// pointers, enumerations ints.
using Handle = void*;
constexpr int kSuccess = 0;         // cudaSuccess, CUSOLVER_STATUS_SUCCESS
constexpr int kHostToDevice = 1;    // cudaMemcpyHostToDevice
constexpr int kDeviceToHost = 2;    // cudaMemcpyDeviceToHost
constexpr int kDeviceToDevice = 3;  // cudaMemcpyDeviceToDevice
constexpr int kFloat = 0;           // CUDA_R_32F
constexpr int kDouble = 1;          // CUDA_R_64F

/// The functions of the runtime, under their own names.
struct CudaRuntime {
  int (*cudaGetDeviceCount)(int* count);
  int (*cudaGetDeviceProperties)(void* properties, int device);
  int (*cudaSetDevice)(int device);
  int (*cudaGetLastError)();
  const char* (*cudaGetErrorString)(int error);
  int (*cudaMalloc)(void** memory, std::size_t bytes);
  int (*cudaFree)(void* memory);
  int (*cudaMemcpy)(void* target, const void* source, std::size_t bytes, int kind);
  int (*cudaMemcpy2D)(void* target, std::size_t target_pitch, const void* source,
                      std::size_t source_pitch, std::size_t width, std::size_t height, int kind);
  int (*cudaDeviceSynchronize)();
  int (*cudaEventCreate)(Handle* event);
  int (*cudaEventRecord)(Handle event, Handle stream);
  int (*cudaEventSynchronize)(Handle event);
  int (*cudaEventElapsedTime)(float* milliseconds, Handle start, Handle stop);
  int (*cudaEventDestroy)(Handle event);
};

/// Found once. Throws Unsupported, each time for the same reason.
const CudaRuntime& cuda();

/// A library of CUDA by the names of its file. Throws Unsupported.
SharedLibrary open_cuda(const std::vector<std::string>& names);

/// The error (failure) that `call` failed.
[[noreturn]] void fail(const std::string& call, const std::string& how);
/// Throws as fail() unless the runtime's or cuSOLVER's function succeeded.
void check_cuda(int error, const char* call);
void check_cusolver(int status, const char* call);

/// The first `count` CUDA devices of this name. Throws Unsupported if there are fewer.
std::vector<int> cuda_indices(const std::string& name, std::size_t count);
/// Selects a CUDA device for all later calls.
void use_device(int index);

/// Memory of the device that was selected when it was allocated.
struct FreeMemory {
  void operator()(void* memory) const;
};
using Memory = std::unique_ptr<void, FreeMemory>;
/// Throws Unsupported if there is not enough.
Memory allocate(std::size_t bytes);
/// kind: kHostToDevice ...
void copy(void* target, const void* source, std::size_t bytes, int kind);
/// A matrix by columns, rounded to Real, a piece at a time. Throws InputError if a finite element
/// overflows it.
template <typename Real>
void upload(void* target, const MatrixView& matrix) {
  constexpr std::size_t kPiece = std::size_t{32} << 20;
  if (matrix.rows() * matrix.cols() == 0) return;
  const std::size_t column = matrix.rows() * sizeof(Real);
  const std::size_t most = std::clamp<std::size_t>(kPiece / column, 1, matrix.cols());
  std::vector<Real> piece(most * matrix.rows());
  for (std::size_t first = 0; first < matrix.cols(); first += most) {
    const std::size_t count = std::min(most, matrix.cols() - first);
    matrix.part(first, count).visit([&](const auto& view) { round_to(view, piece.data()); });
    copy(static_cast<char*>(target) + first * column, piece.data(), count * column, kHostToDevice);
  }
}
/// Of the selected device.
void synchronize();

/// What a function of CUDA or cuSOLVER creates and another destroys.
class Object {
 public:
  using Create = std::function<int(Handle* handle)>;
  using Destroy = int(Handle handle);

  Object(const Create& create, Destroy* destroy, const char* call) : destroy_(destroy) {
    if (create(&handle_) != kSuccess) fail(call, "there may not be enough memory");
  }
  ~Object() { destroy_(handle_); }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
  Destroy* destroy_;
};

}  // namespace lugpu
