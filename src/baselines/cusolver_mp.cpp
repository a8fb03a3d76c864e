#include "baselines/cusolver_mp.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <type_traits>

#include "base/error.hpp"
#include "baselines/cuda_runtime.hpp"
#include "baselines/dealt_matrix.hpp"

namespace lugpu {
namespace {

// What is used of cublas_api.h, nccl.h and cusolverMp.h, versions 0.7 to 0.9.
constexpr int kNotTransposed = 0;  // CUBLAS_OP_N
constexpr int kByColumns = 0;      // CUSOLVERMP_GRID_MAPPING_COL_MAJOR
constexpr int kFirstVersion = 700;
constexpr std::size_t kBlock = 512;  // 128 to 1024 columns are alike; grids of 2 x 1 are slower
constexpr const char* kName = "cuSOLVERMp";

using Long = std::int64_t;

struct Api {
  std::string path;

  int (*ncclCommInitAll)(Handle* communicators, int count, const int* devices);
  int (*ncclCommDestroy)(Handle communicator);
  int (*cusolverMpCreate)(Handle* handle, int device, Handle stream);
  int (*cusolverMpDestroy)(Handle handle);
  int (*cusolverMpGetVersion)(Handle handle, int* version);
  int (*cusolverMpCreateDeviceGrid)(Handle handle, Handle* grid, Handle communicator,
                                    std::int32_t rows, std::int32_t columns, int mapping);
  int (*cusolverMpDestroyGrid)(Handle grid);
  int (*cusolverMpCreateMatrixDesc)(Handle* descriptor, Handle grid, int type, Long rows,
                                    Long columns, Long row_block, Long column_block,
                                    std::uint32_t first_row_of_grid,
                                    std::uint32_t first_column_of_grid, Long ld);
  int (*cusolverMpDestroyMatrixDesc)(Handle descriptor);
  int (*cusolverMpGetrf_bufferSize)(Handle, Long m, Long n, void* a, Long ia, Long ja, Handle of_a,
                                    Long* ipiv, int type, std::size_t* on_device,
                                    std::size_t* on_host);
  int (*cusolverMpGetrf)(Handle, Long m, Long n, void* a, Long ia, Long ja, Handle of_a, Long* ipiv,
                         int type, void* workspace, std::size_t bytes, void* host_workspace,
                         std::size_t host_bytes, int* info);
  int (*cusolverMpGetrs_bufferSize)(Handle, int trans, Long n, Long nrhs, const void* a, Long ia,
                                    Long ja, Handle of_a, const Long* ipiv, void* b, Long ib,
                                    Long jb, Handle of_b, int type, std::size_t* on_device,
                                    std::size_t* on_host);
  int (*cusolverMpGetrs)(Handle, int trans, Long n, Long nrhs, const void* a, Long ia, Long ja,
                         Handle of_a, const Long* ipiv, void* b, Long ib, Long jb, Handle of_b,
                         int type, void* workspace, std::size_t bytes, void* host_workspace,
                         std::size_t host_bytes, int* info);
};

Api find_api() {
  Api api;
  const SharedLibrary nccl = open_cuda({"libnccl.so", "libnccl.so.2"});
  nccl.find(api.ncclCommInitAll, "ncclCommInitAll");
  nccl.find(api.ncclCommDestroy, "ncclCommDestroy");
  const SharedLibrary library = open_cuda({"libcusolverMp.so", "libcusolverMp.so.0"});
  library.find(api.cusolverMpCreate, "cusolverMpCreate");
  library.find(api.cusolverMpDestroy, "cusolverMpDestroy");
  library.find(api.cusolverMpGetVersion, "cusolverMpGetVersion");
  library.find(api.cusolverMpCreateDeviceGrid, "cusolverMpCreateDeviceGrid");
  library.find(api.cusolverMpDestroyGrid, "cusolverMpDestroyGrid");
  library.find(api.cusolverMpCreateMatrixDesc, "cusolverMpCreateMatrixDesc");
  library.find(api.cusolverMpDestroyMatrixDesc, "cusolverMpDestroyMatrixDesc");
  library.find(api.cusolverMpGetrf_bufferSize, "cusolverMpGetrf_bufferSize");
  library.find(api.cusolverMpGetrf, "cusolverMpGetrf");
  library.find(api.cusolverMpGetrs_bufferSize, "cusolverMpGetrs_bufferSize");
  library.find(api.cusolverMpGetrs, "cusolverMpGetrs");
  api.path = file_of(reinterpret_cast<const void*>(api.cusolverMpGetrf));
  return api;
}

// The functions, found once. Throws Unsupported.
const Api& api() {
  static const Opened<Api> opened(find_api);
  return opened.get();
}

// One for each device.
class Communicators {
 public:
  explicit Communicators(const std::vector<int>& devices) : handles_(devices.size()) {
    const auto count = static_cast<int>(devices.size());
    const int status = api().ncclCommInitAll(handles_.data(), count, devices.data());
    if (status != kSuccess) fail("ncclCommInitAll", "NCCL's status is " + std::to_string(status));
  }
  ~Communicators() {
    for (const Handle handle : handles_) api().ncclCommDestroy(handle);
  }
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  Handle of(std::size_t device) const { return handles_[device]; }

 private:
  std::vector<Handle> handles_;
};

// Calls action(d) for each device d, selected, in a thread of its own: the library's calls on one
// device wait for those on the others. Throws what the first of them throws.
void on_all(const std::vector<int>& devices, const std::function<void(std::size_t)>& action) {
  std::vector<std::exception_ptr> errors(devices.size());
  std::vector<std::thread> threads;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    threads.emplace_back([&, d] {
      try {
        use_device(devices[d]);
        action(d);
        synchronize();
      } catch (...) {
        errors[d] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

template <typename Real>
class CusolverMp : public Contender {
 public:
  CusolverMp(const Device& device, const Problem& problem);
  ~CusolverMp() override;

  void upload(const MatrixView& a, const MatrixView& b) override;
  void reset() override;
  void prepare() override;
  void factor() override;
  Outcome outcome() override;
  void solve() override;
  Matrix download() override { return x_.download(); }

 private:
  static constexpr int kType = std::is_same_v<Real, double> ? kDouble : kFloat;

  // What a device has.
  struct Rank {
    std::unique_ptr<Object> handle, grid, of_a, of_b;
    Memory ipiv, info, workspace;
    std::size_t bytes = 0;
    std::vector<char> host_workspace;

    Long* pivots() const { return static_cast<Long*>(ipiv.get()); }
  };

  // Of descriptors, which have at least one row and column.
  Long rows() const { return std::max<Long>(n_, 1); }
  void make(std::size_t d);
  std::unique_ptr<Object> descriptor(Handle grid, Long columns) const;
  int info_of(std::size_t d) const;

  const Long n_, nrhs_;
  std::vector<int> devices_;
  Communicators communicators_;
  DealtMatrix<Real> a_, lu_, b_, x_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

template <typename Real>
CusolverMp<Real>::CusolverMp(const Device& device, const Problem& problem)
    : n_(static_cast<Long>(problem.size.n)),
      nrhs_(static_cast<Long>(problem.size.nrhs)),
      devices_((require_cusolver_mp(device, problem), devices_that_share(kName, device, problem))),
      communicators_(devices_),
      a_(devices_, problem.size.n, problem.size.n, kBlock),
      lu_(devices_, problem.size.n, problem.size.n, kBlock),
      b_(devices_, problem.size.n, problem.size.nrhs, kBlock),
      x_(devices_, problem.size.n, problem.size.nrhs, kBlock),
      ranks_(devices_.size()) {
  on_all(devices_, [&](std::size_t d) { make(d); });
}

// The library destroys what it has together, too.
template <typename Real>
CusolverMp<Real>::~CusolverMp() {
  try {
    on_all(devices_, [&](std::size_t d) { ranks_[d].reset(); });
  } catch (const std::exception&) {  // of a device that has failed: there is nothing to release
  }
}

template <typename Real>
std::unique_ptr<Object> CusolverMp<Real>::descriptor(Handle grid, Long columns) const {
  constexpr Long kSide = kBlock;
  return std::make_unique<Object>(
      [&](Handle* descriptor) {
        return api().cusolverMpCreateMatrixDesc(descriptor, grid, kType, rows(),
                                                std::max<Long>(columns, 1), kSide, kSide, 0, 0,
                                                rows());
      },
      api().cusolverMpDestroyMatrixDesc, "cusolverMpCreateMatrixDesc");
}

template <typename Real>
void CusolverMp<Real>::make(std::size_t d) {
  ranks_[d] = std::make_unique<Rank>();
  Rank& rank = *ranks_[d];
  rank.handle = std::make_unique<Object>(
      [&](Handle* handle) { return api().cusolverMpCreate(handle, devices_[d], nullptr); },
      api().cusolverMpDestroy, "cusolverMpCreate");
  int version = 0;
  const Handle handle = rank.handle->get();
  check_cusolver(api().cusolverMpGetVersion(handle, &version), "cusolverMpGetVersion");
  if (version < kFirstVersion) {
    throw Unsupported("This cuSOLVERMp has no NCCL communicators; use version 0.7 or later.");
  }
  rank.grid = std::make_unique<Object>(
      [&](Handle* grid) {
        return api().cusolverMpCreateDeviceGrid(handle, grid, communicators_.of(d), 1,
                                                static_cast<std::int32_t>(devices_.size()),
                                                kByColumns);
      },
      api().cusolverMpDestroyGrid, "cusolverMpCreateDeviceGrid");
  rank.of_a = descriptor(rank.grid->get(), n_);
  rank.of_b = descriptor(rank.grid->get(), nrhs_);
  rank.ipiv = allocate((static_cast<std::size_t>(n_) + kBlock) * sizeof(Long));
  rank.info = allocate(sizeof(int));
  std::size_t to_factor = 0, to_solve = 0, host_to_factor = 0, host_to_solve = 0;
  if (n_ > 0) {
    check_cusolver(
        api().cusolverMpGetrf_bufferSize(handle, n_, n_, lu_.pointers()[d], 1, 1, rank.of_a->get(),
                                         rank.pivots(), kType, &to_factor, &host_to_factor),
        "cusolverMpGetrf_bufferSize");
  }
  if (n_ > 0 && nrhs_ > 0) {
    check_cusolver(
        api().cusolverMpGetrs_bufferSize(handle, kNotTransposed, n_, nrhs_, lu_.pointers()[d], 1, 1,
                                         rank.of_a->get(), rank.pivots(), x_.pointers()[d], 1, 1,
                                         rank.of_b->get(), kType, &to_solve, &host_to_solve),
        "cusolverMpGetrs_bufferSize");
  }
  rank.bytes = std::max(to_factor, to_solve);
  rank.workspace = allocate(rank.bytes);
  rank.host_workspace.resize(std::max(host_to_factor, host_to_solve));
}

template <typename Real>
void CusolverMp<Real>::upload(const MatrixView& a, const MatrixView& b) {
  a_.upload(a);
  b_.upload(b);
  reset();
}

template <typename Real>
void CusolverMp<Real>::reset() {
  lu_.copy_from(a_);
  x_.copy_from(b_);
  on_all(devices_, [](std::size_t) {});
}

// Loads its code.
template <typename Real>
void CusolverMp<Real>::prepare() {
  factor();
  if (outcome().info == 0) solve();
  reset();
}

template <typename Real>
void CusolverMp<Real>::factor() {
  if (n_ == 0) return;
  on_all(devices_, [&](std::size_t d) {
    Rank& rank = *ranks_[d];
    check_cusolver(
        api().cusolverMpGetrf(rank.handle->get(), n_, n_, lu_.pointers()[d], 1, 1, rank.of_a->get(),
                              rank.pivots(), kType, rank.workspace.get(), rank.bytes,
                              rank.host_workspace.data(), rank.host_workspace.size(),
                              static_cast<int*>(rank.info.get())),
        "cusolverMpGetrf");
  });
}

template <typename Real>
int CusolverMp<Real>::info_of(std::size_t d) const {
  int info = 0;
  use_device(devices_[d]);
  copy(&info, ranks_[d]->info.get(), sizeof info, kDeviceToHost);
  return info;
}

template <typename Real>
Outcome CusolverMp<Real>::outcome() {
  Outcome outcome;
  if (n_ > 0) outcome.info = info_of(0);
  if (outcome.info < 0) fail("cusolverMpGetrf", "info is " + std::to_string(outcome.info));
  return outcome;
}

template <typename Real>
void CusolverMp<Real>::solve() {
  if (n_ == 0 || nrhs_ == 0) return;
  on_all(devices_, [&](std::size_t d) {
    Rank& rank = *ranks_[d];
    check_cusolver(api().cusolverMpGetrs(
                       rank.handle->get(), kNotTransposed, n_, nrhs_, lu_.pointers()[d], 1, 1,
                       rank.of_a->get(), rank.pivots(), x_.pointers()[d], 1, 1, rank.of_b->get(),
                       kType, rank.workspace.get(), rank.bytes, rank.host_workspace.data(),
                       rank.host_workspace.size(), static_cast<int*>(rank.info.get())),
                   "cusolverMpGetrs");
  });
  if (info_of(0) != 0) fail("cusolverMpGetrs", "info is " + std::to_string(info_of(0)));
}

}  // namespace

void require_cusolver_mp(const Device& device, const Problem& problem) {
  api();
  require_dealt_matrices(kName, device, problem);
}

std::unique_ptr<Contender> make_cusolver_mp(DeviceContext& context, const Problem& problem) {
  if (problem.dense.precision == Precision::double_precision) {
    return std::make_unique<CusolverMp<double>>(context.device(), problem);
  }
  return std::make_unique<CusolverMp<float>>(context.device(), problem);
}

std::optional<RivalLibrary> cusolver_mp_library() {
  try {
    return RivalLibrary{"", api().path};
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

}  // namespace lugpu
