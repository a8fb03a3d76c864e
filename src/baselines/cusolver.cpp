#include "baselines/cusolver.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "baselines/cuda_runtime.hpp"
#include "baselines/shared_library.hpp"

namespace lugpu {
namespace {

// What is used of cublas_api.h and cusolverDn.h, versions 11.1 to 13.
constexpr int kNotTransposed = 0;          // CUBLAS_OP_N
constexpr int kLargestInt32Order = 46340;  // n^2 < 2^31

// The functions of the two libraries, under their own names. void* stands for float* and double*.
struct Api {
  std::string path, version;  // of libcusolver

  int (*cusolverGetProperty)(int type, int* value);
  int (*cusolverDnCreate)(Handle* handle);
  int (*cusolverDnDestroy)(Handle handle);
  int (*cusolverDnCreateParams)(Handle* parameters);
  int (*cusolverDnDestroyParams)(Handle parameters);
  using GetrfBufferSize = int(Handle, int m, int n, void* a, int lda, int* elements);
  GetrfBufferSize *cusolverDnSgetrf_bufferSize, *cusolverDnDgetrf_bufferSize;
  using Getrf = int(Handle, int m, int n, void* a, int lda, void* workspace, int* ipiv, int* info);
  Getrf *cusolverDnSgetrf, *cusolverDnDgetrf;
  using Getrs = int(Handle, int trans, int n, int nrhs, const void* a, int lda, const int* ipiv,
                    void* b, int ldb, int* info);
  Getrs *cusolverDnSgetrs, *cusolverDnDgetrs;
  int (*cusolverDnXgetrf_bufferSize)(Handle, Handle parameters, std::int64_t m, std::int64_t n,
                                     int type_a, const void* a, std::int64_t lda, int compute_type,
                                     std::size_t* device_bytes, std::size_t* host_bytes);
  int (*cusolverDnXgetrf)(Handle, Handle parameters, std::int64_t m, std::int64_t n, int type_a,
                          void* a, std::int64_t lda, std::int64_t* ipiv, int compute_type,
                          void* device_workspace, std::size_t device_bytes, void* host_workspace,
                          std::size_t host_bytes, int* info);
  int (*cusolverDnXgetrs)(Handle, Handle parameters, int trans, std::int64_t n, std::int64_t nrhs,
                          int type_a, const void* a, std::int64_t lda, const std::int64_t* ipiv,
                          int type_b, void* b, std::int64_t ldb, int* info);
};

Api find_solver() {
  cuda();
  Api api;
  const SharedLibrary cusolver =
      open_cuda({"libcusolver.so", "libcusolver.so.12", "libcusolver.so.11"});
  cusolver.find(api.cusolverGetProperty, "cusolverGetProperty");
  cusolver.find(api.cusolverDnCreate, "cusolverDnCreate");
  cusolver.find(api.cusolverDnDestroy, "cusolverDnDestroy");
  cusolver.find(api.cusolverDnCreateParams, "cusolverDnCreateParams");
  cusolver.find(api.cusolverDnDestroyParams, "cusolverDnDestroyParams");
  cusolver.find(api.cusolverDnSgetrf_bufferSize, "cusolverDnSgetrf_bufferSize");
  cusolver.find(api.cusolverDnDgetrf_bufferSize, "cusolverDnDgetrf_bufferSize");
  cusolver.find(api.cusolverDnSgetrf, "cusolverDnSgetrf");
  cusolver.find(api.cusolverDnDgetrf, "cusolverDnDgetrf");
  cusolver.find(api.cusolverDnSgetrs, "cusolverDnSgetrs");
  cusolver.find(api.cusolverDnDgetrs, "cusolverDnDgetrs");
  cusolver.find(api.cusolverDnXgetrf_bufferSize, "cusolverDnXgetrf_bufferSize");
  cusolver.find(api.cusolverDnXgetrf, "cusolverDnXgetrf");
  cusolver.find(api.cusolverDnXgetrs, "cusolverDnXgetrs");
  api.path = file_of(reinterpret_cast<const void*>(api.cusolverDnXgetrf));
  for (int part = 0; part < 3; ++part) {  // MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL
    int value = 0;
    api.cusolverGetProperty(part, &value);
    api.version.append(part > 0 ? "." : "").append(std::to_string(value));
  }
  return api;
}

// The functions, found once. Throws Unsupported.
const Api& api() {
  static const Opened<Api> opened(find_solver);
  return opened.get();
}

template <typename Real>
class Cusolver : public Contender {
 public:
  Cusolver(const Device& device, const Problem& problem);

  void upload(const MatrixView& a, const MatrixView& b) override;
  void reset() override;
  void prepare() override;
  void factor() override;
  std::optional<double> profiled_factor() override;
  Outcome outcome() override;
  void solve() override;
  Matrix download() override { return to_host(x_, n_, nrhs_); }
  std::optional<Matrix> lu() override { return to_host(lu_, n_, n_); }
  std::optional<std::string> variant() const override {
    return int64_ ? "cusolverDnXgetrf" : kIsDouble ? "cusolverDnDgetrf" : "cusolverDnSgetrf";
  }

 private:
  static constexpr bool kIsDouble = std::is_same_v<Real, double>;
  static constexpr int kType = kIsDouble ? kDouble : kFloat;

  void allocate_workspace();
  double least_time();
  void enqueue();
  void enqueue_int32();
  void enqueue_int64();
  static Matrix to_host(const Memory& memory, int rows, int columns);
  int ld() const { return std::max(n_, 1); }
  int* info() const { return static_cast<int*>(info_.get()); }
  // Null is how cuSOLVER is told not to pivot.
  template <typename Integer>
  Integer* ipiv() const {
    return pivot_ == Pivot::none ? nullptr : static_cast<Integer*>(ipiv_.get());
  }

  int n_, nrhs_;
  Pivot pivot_;
  Object handle_, parameters_;
  Memory a_, b_;   // as uploaded
  Memory lu_, x_;  // overwritten
  Memory ipiv_;    // n integers of 32 or 64 bits, as the interface has them
  Memory info_;    // an int
  Memory workspace_;
  std::size_t device_bytes_ = 0;  // of the workspace for the 64-bit interface
  std::vector<char> host_workspace_;
  bool int64_ = true;  // which interface factor() calls
};

template <typename Real>
Cusolver<Real>::Cusolver(const Device& device, const Problem& problem)
    : n_(static_cast<int>(problem.size.n)),
      nrhs_(static_cast<int>(problem.size.nrhs)),
      pivot_((require_cusolver(device, problem), use_device(cuda_indices(device.name, 1).front()),
              problem.dense.pivot)),
      handle_(api().cusolverDnCreate, api().cusolverDnDestroy, "cusolverDnCreate"),
      parameters_(api().cusolverDnCreateParams, api().cusolverDnDestroyParams,
                  "cusolverDnCreateParams"),
      a_(allocate(problem.size.n * problem.size.n * sizeof(Real))),
      b_(allocate(problem.size.n * problem.size.nrhs * sizeof(Real))),
      lu_(allocate(problem.size.n * problem.size.n * sizeof(Real))),
      x_(allocate(problem.size.n * problem.size.nrhs * sizeof(Real))),
      ipiv_(allocate(problem.size.n * sizeof(std::int64_t))),
      info_(allocate(sizeof(int))) {
  allocate_workspace();
}

// One for both interfaces.
template <typename Real>
void Cusolver<Real>::allocate_workspace() {
  if (n_ == 0) return;
  std::size_t host_bytes = 0;
  check_cusolver(
      api().cusolverDnXgetrf_bufferSize(handle_.get(), parameters_.get(), n_, n_, kType, lu_.get(),
                                        ld(), kType, &device_bytes_, &host_bytes),
      "cusolverDnXgetrf_bufferSize");
  int elements = 0;
  if (n_ <= kLargestInt32Order) {
    const auto size =
        kIsDouble ? api().cusolverDnDgetrf_bufferSize : api().cusolverDnSgetrf_bufferSize;
    check_cusolver(size(handle_.get(), n_, n_, lu_.get(), ld(), &elements),
                   "cusolverDn?getrf_bufferSize");
  }
  workspace_ = allocate(std::max(device_bytes_, elements * sizeof(Real)));
  host_workspace_.resize(host_bytes);
}

template <typename Real>
void Cusolver<Real>::upload(const MatrixView& a, const MatrixView& b) {
  lugpu::upload<Real>(a_.get(), a);
  lugpu::upload<Real>(b_.get(), b);
  reset();
}

// A copy within the device does not block.
template <typename Real>
void Cusolver<Real>::reset() {
  const std::size_t column = n_ * sizeof(Real);
  copy(lu_.get(), a_.get(), n_ * column, kDeviceToDevice);
  copy(x_.get(), b_.get(), nrhs_ * column, kDeviceToDevice);
  synchronize();
}

template <typename Real>
void Cusolver<Real>::prepare() {
  int64_ = true;
  const double int64_seconds = least_time();
  if (n_ <= kLargestInt32Order) {
    int64_ = false;
    int64_ = least_time() > int64_seconds;
  }
  // Loads the solution's code too.
  factor();
  if (outcome().info == 0) solve();
  reset();
}

// Of a few runs, after one that loads code.
template <typename Real>
double Cusolver<Real>::least_time() {
  constexpr int kMostRuns = 3;
  constexpr double kEnoughSeconds = 0.1;
  double least = std::numeric_limits<double>::infinity(), total = 0;
  factor();
  for (int run = 0; run < kMostRuns && total < kEnoughSeconds; ++run) {
    reset();
    const auto start = std::chrono::steady_clock::now();
    factor();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    least = std::min(least, seconds.count());
    total += seconds.count();
  }
  reset();
  return least;
}

template <typename Real>
void Cusolver<Real>::factor() {
  enqueue();
  synchronize();
}

template <typename Real>
void Cusolver<Real>::enqueue() {
  if (n_ == 0) return;
  int64_ ? enqueue_int64() : enqueue_int32();
}

template <typename Real>
void Cusolver<Real>::enqueue_int32() {
  const auto getrf = kIsDouble ? api().cusolverDnDgetrf : api().cusolverDnSgetrf;
  check_cusolver(
      getrf(handle_.get(), n_, n_, lu_.get(), ld(), workspace_.get(), ipiv<int>(), info()),
      "cusolverDn?getrf");
}

template <typename Real>
void Cusolver<Real>::enqueue_int64() {
  check_cusolver(
      api().cusolverDnXgetrf(handle_.get(), parameters_.get(), n_, n_, kType, lu_.get(), ld(),
                             ipiv<std::int64_t>(), kType, workspace_.get(), device_bytes_,
                             host_workspace_.data(), host_workspace_.size(), info()),
      "cusolverDnXgetrf");
}

template <typename Real>
std::optional<double> Cusolver<Real>::profiled_factor() {
  const Object start(cuda().cudaEventCreate, cuda().cudaEventDestroy, "cudaEventCreate");
  const Object stop(cuda().cudaEventCreate, cuda().cudaEventDestroy, "cudaEventCreate");
  reset();
  check_cuda(cuda().cudaEventRecord(start.get(), nullptr), "cudaEventRecord");
  enqueue();
  check_cuda(cuda().cudaEventRecord(stop.get(), nullptr), "cudaEventRecord");
  check_cuda(cuda().cudaEventSynchronize(stop.get()), "cudaEventSynchronize");
  float milliseconds = 0;
  check_cuda(cuda().cudaEventElapsedTime(&milliseconds, start.get(), stop.get()),
             "cudaEventElapsedTime");
  return milliseconds * 1e-3;
}

template <typename Real>
Outcome Cusolver<Real>::outcome() {
  Outcome outcome;
  if (n_ == 0) return outcome;
  copy(&outcome.info, info_.get(), sizeof(int), kDeviceToHost);
  if (outcome.info < 0) fail(*variant(), "info is " + std::to_string(outcome.info));
  if (pivot_ != Pivot::none && int64_) {
    std::vector<std::int64_t> wide(n_);
    copy(wide.data(), ipiv_.get(), n_ * sizeof(std::int64_t), kDeviceToHost);
    outcome.ipiv.assign(wide.begin(), wide.end());
  } else if (pivot_ != Pivot::none) {
    outcome.ipiv.resize(n_);
    copy(outcome.ipiv.data(), ipiv_.get(), n_ * sizeof(int), kDeviceToHost);
  }
  std::vector<Real> diagonal(n_);
  check_cuda(cuda().cudaMemcpy2D(diagonal.data(), sizeof(Real), lu_.get(), (n_ + 1) * sizeof(Real),
                                 sizeof(Real), n_, kDeviceToHost),
             "cudaMemcpy2D");
  outcome.pivots.assign(diagonal.begin(), diagonal.end());
  return outcome;
}

template <typename Real>
void Cusolver<Real>::solve() {
  if (n_ == 0 || nrhs_ == 0) return;
  const auto getrs = kIsDouble ? api().cusolverDnDgetrs : api().cusolverDnSgetrs;
  const int status =
      int64_ ? api().cusolverDnXgetrs(handle_.get(), parameters_.get(), kNotTransposed, n_, nrhs_,
                                      kType, lu_.get(), ld(), ipiv<std::int64_t>(), kType, x_.get(),
                                      ld(), info())
             : getrs(handle_.get(), kNotTransposed, n_, nrhs_, lu_.get(), ld(), ipiv<int>(),
                     x_.get(), ld(), info());
  check_cusolver(status, int64_ ? "cusolverDnXgetrs" : "cusolverDn?getrs");
  synchronize();
}

template <typename Real>
Matrix Cusolver<Real>::to_host(const Memory& memory, int rows, int columns) {
  Matrix matrix(rows, columns);
  std::vector<Real> values(matrix.values().size());
  copy(values.data(), memory.get(), values.size() * sizeof(Real), kDeviceToHost);
  std::copy(values.begin(), values.end(), matrix.values().begin());
  return matrix;
}

}  // namespace

void require_cusolver(const Device& device, const Problem& problem) {
  cuda_indices(device.name, 1);
  const double bytes = 2.0 * static_cast<double>(problem.size.n) *
                       static_cast<double>(problem.size.n + problem.size.nrhs) *
                       static_cast<double>(element_size(problem.dense.precision));
  if (bytes > static_cast<double>(device.global_memory)) {
    throw Unsupported("cuSOLVER's matrices of order " + std::to_string(problem.size.n) +
                      " do not fit into the memory of " + device.name + ".");
  }
}

std::unique_ptr<Contender> make_cusolver(DeviceContext& context, const Problem& problem) {
  if (problem.dense.precision == Precision::double_precision) {
    return std::make_unique<Cusolver<double>>(context.device(), problem);
  }
  return std::make_unique<Cusolver<float>>(context.device(), problem);
}

std::optional<RivalLibrary> cusolver_library() {
  try {
    return RivalLibrary{api().version, api().path};
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

}  // namespace lugpu
