#include "baselines/cusolver_mg.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/error.hpp"
#include "baselines/cuda_runtime.hpp"
#include "baselines/dealt_matrix.hpp"

namespace lugpu {
namespace {

// What is used of cublas_api.h and cusolverMg.h, versions 11.1 to 13.
constexpr int kNotTransposed = 0;    // CUBLAS_OP_N
constexpr int kByColumns = 1;        // CUDALIBMG_GRID_MAPPING_COL_MAJOR
constexpr std::size_t kBlock = 512;  // columns; blocks of 256 are slower
constexpr const char* kName = "cuSOLVERMg";

// Matrices are arrays of a pointer for each device.
struct Api {
  std::string path;

  int (*cusolverMgCreate)(Handle* handle);
  int (*cusolverMgDestroy)(Handle handle);
  int (*cusolverMgDeviceSelect)(Handle, int count, int* devices);
  int (*cusolverMgCreateDeviceGrid)(Handle* grid, std::int32_t rows, std::int32_t columns,
                                    const std::int32_t* devices, int mapping);
  int (*cusolverMgDestroyGrid)(Handle grid);
  int (*cusolverMgCreateMatrixDesc)(Handle* descriptor, std::int64_t rows, std::int64_t columns,
                                    std::int64_t row_block, std::int64_t column_block, int type,
                                    Handle grid);
  int (*cusolverMgDestroyMatrixDesc)(Handle descriptor);
  int (*cusolverMgGetrf_bufferSize)(Handle, int m, int n, void** a, int ia, int ja, Handle of_a,
                                    int** ipiv, int type, std::int64_t* elements);
  int (*cusolverMgGetrf)(Handle, int m, int n, void** a, int ia, int ja, Handle of_a, int** ipiv,
                         int type, void** workspace, std::int64_t elements, int* info);
  int (*cusolverMgGetrs_bufferSize)(Handle, int trans, int n, int nrhs, void** a, int ia, int ja,
                                    Handle of_a, int** ipiv, void** b, int ib, int jb, Handle of_b,
                                    int type, std::int64_t* elements);
  int (*cusolverMgGetrs)(Handle, int trans, int n, int nrhs, void** a, int ia, int ja, Handle of_a,
                         int** ipiv, void** b, int ib, int jb, Handle of_b, int type,
                         void** workspace, std::int64_t elements, int* info);
};

Api find_api() {
  Api api;
  const SharedLibrary library =
      open_cuda({"libcusolverMg.so", "libcusolverMg.so.12", "libcusolverMg.so.11"});
  library.find(api.cusolverMgCreate, "cusolverMgCreate");
  library.find(api.cusolverMgDestroy, "cusolverMgDestroy");
  library.find(api.cusolverMgDeviceSelect, "cusolverMgDeviceSelect");
  library.find(api.cusolverMgCreateDeviceGrid, "cusolverMgCreateDeviceGrid");
  library.find(api.cusolverMgDestroyGrid, "cusolverMgDestroyGrid");
  library.find(api.cusolverMgCreateMatrixDesc, "cusolverMgCreateMatrixDesc");
  library.find(api.cusolverMgDestroyMatrixDesc, "cusolverMgDestroyMatrixDesc");
  library.find(api.cusolverMgGetrf_bufferSize, "cusolverMgGetrf_bufferSize");
  library.find(api.cusolverMgGetrf, "cusolverMgGetrf");
  library.find(api.cusolverMgGetrs_bufferSize, "cusolverMgGetrs_bufferSize");
  library.find(api.cusolverMgGetrs, "cusolverMgGetrs");
  api.path = file_of(reinterpret_cast<const void*>(api.cusolverMgGetrf));
  return api;
}

// The functions, found once. Throws Unsupported.
const Api& api() {
  static const Opened<Api> opened(find_api);
  return opened.get();
}

template <typename Real>
class CusolverMg : public Contender {
 public:
  CusolverMg(const Device& device, const Problem& problem);

  void upload(const MatrixView& a, const MatrixView& b) override;
  void reset() override;
  void prepare() override;
  void factor() override;
  Outcome outcome() override;
  void solve() override;
  Matrix download() override { return x_.download(); }

 private:
  static constexpr int kType = std::is_same_v<Real, double> ? kDouble : kFloat;

  // Of descriptors, which have at least one row and column.
  int rows() const { return std::max(n_, 1); }
  void allocate_workspace();
  void synchronize_all() const;

  const int n_, nrhs_;
  std::vector<int> devices_;
  Object handle_, grid_, of_a_, of_b_;
  DealtMatrix<Real> a_, lu_, b_, x_;
  std::vector<Memory> ipiv_, workspace_;
  std::vector<int*> ipivs_;        // of ipiv_
  std::vector<void*> workspaces_;  // of workspace_
  std::int64_t elements_ = 0;      // of a workspace
  int info_ = 0;
};

template <typename Real>
CusolverMg<Real>::CusolverMg(const Device& device, const Problem& problem)
    : n_(static_cast<int>(problem.size.n)),
      nrhs_(static_cast<int>(problem.size.nrhs)),
      devices_((require_cusolver_mg(device, problem), devices_that_share(kName, device, problem))),
      handle_(api().cusolverMgCreate, api().cusolverMgDestroy, "cusolverMgCreate"),
      grid_(
          [&](Handle* grid) {
            const auto count = static_cast<int>(devices_.size());
            check_cusolver(api().cusolverMgDeviceSelect(handle_.get(), count, devices_.data()),
                           "cusolverMgDeviceSelect");
            return api().cusolverMgCreateDeviceGrid(grid, 1, count, devices_.data(), kByColumns);
          },
          api().cusolverMgDestroyGrid, "cusolverMgCreateDeviceGrid"),
      of_a_(
          [&](Handle* descriptor) {
            return api().cusolverMgCreateMatrixDesc(descriptor, rows(), rows(), rows(), kBlock,
                                                    kType, grid_.get());
          },
          api().cusolverMgDestroyMatrixDesc, "cusolverMgCreateMatrixDesc"),
      of_b_(
          [&](Handle* descriptor) {
            return api().cusolverMgCreateMatrixDesc(descriptor, rows(), std::max(nrhs_, 1), rows(),
                                                    kBlock, kType, grid_.get());
          },
          api().cusolverMgDestroyMatrixDesc, "cusolverMgCreateMatrixDesc"),
      a_(devices_, problem.size.n, problem.size.n, kBlock),
      lu_(devices_, problem.size.n, problem.size.n, kBlock),
      b_(devices_, problem.size.n, problem.size.nrhs, kBlock),
      x_(devices_, problem.size.n, problem.size.nrhs, kBlock) {
  allocate_workspace();
}

template <typename Real>
void CusolverMg<Real>::allocate_workspace() {
  if (n_ == 0) return;
  const std::size_t blocks =
      ceiling(ceiling(static_cast<std::size_t>(n_), kBlock), devices_.size());
  for (const int device : devices_) {
    use_device(device);
    ipiv_.push_back(allocate(blocks * kBlock * sizeof(int)));
    ipivs_.push_back(static_cast<int*>(ipiv_.back().get()));
  }
  use_device(devices_.front());
  std::int64_t to_factor = 0, to_solve = 0;
  check_cusolver(api().cusolverMgGetrf_bufferSize(handle_.get(), n_, n_, lu_.pointers(), 1, 1,
                                                  of_a_.get(), ipivs_.data(), kType, &to_factor),
                 "cusolverMgGetrf_bufferSize");
  if (nrhs_ > 0) {
    check_cusolver(api().cusolverMgGetrs_bufferSize(
                       handle_.get(), kNotTransposed, n_, nrhs_, lu_.pointers(), 1, 1, of_a_.get(),
                       ipivs_.data(), x_.pointers(), 1, 1, of_b_.get(), kType, &to_solve),
                   "cusolverMgGetrs_bufferSize");
  }
  elements_ = std::max(to_factor, to_solve);
  for (const int device : devices_) {
    use_device(device);
    workspace_.push_back(allocate(static_cast<std::size_t>(elements_) * sizeof(Real)));
    workspaces_.push_back(workspace_.back().get());
  }
}

template <typename Real>
void CusolverMg<Real>::synchronize_all() const {
  for (const int device : devices_) {
    use_device(device);
    synchronize();
  }
  use_device(devices_.front());
}

template <typename Real>
void CusolverMg<Real>::upload(const MatrixView& a, const MatrixView& b) {
  a_.upload(a);
  b_.upload(b);
  reset();
}

template <typename Real>
void CusolverMg<Real>::reset() {
  lu_.copy_from(a_);
  x_.copy_from(b_);
  synchronize_all();
}

// Loads its code.
template <typename Real>
void CusolverMg<Real>::prepare() {
  factor();
  if (info_ == 0) solve();
  reset();
}

template <typename Real>
void CusolverMg<Real>::factor() {
  if (n_ == 0) return;
  check_cusolver(api().cusolverMgGetrf(handle_.get(), n_, n_, lu_.pointers(), 1, 1, of_a_.get(),
                                       ipivs_.data(), kType, workspaces_.data(), elements_, &info_),
                 "cusolverMgGetrf");
  synchronize_all();
}

template <typename Real>
Outcome CusolverMg<Real>::outcome() {
  if (info_ < 0) fail("cusolverMgGetrf", "info is " + std::to_string(info_));
  Outcome outcome;
  outcome.info = info_;
  return outcome;
}

template <typename Real>
void CusolverMg<Real>::solve() {
  if (n_ == 0 || nrhs_ == 0) return;
  int info = 0;
  check_cusolver(api().cusolverMgGetrs(handle_.get(), kNotTransposed, n_, nrhs_, lu_.pointers(), 1,
                                       1, of_a_.get(), ipivs_.data(), x_.pointers(), 1, 1,
                                       of_b_.get(), kType, workspaces_.data(), elements_, &info),
                 "cusolverMgGetrs");
  synchronize_all();
  if (info != 0) fail("cusolverMgGetrs", "info is " + std::to_string(info));
}

}  // namespace

void require_cusolver_mg(const Device& device, const Problem& problem) {
  api();
  require_dealt_matrices(kName, device, problem);
}

std::unique_ptr<Contender> make_cusolver_mg(DeviceContext& context, const Problem& problem) {
  if (problem.dense.precision == Precision::double_precision) {
    return std::make_unique<CusolverMg<double>>(context.device(), problem);
  }
  return std::make_unique<CusolverMg<float>>(context.device(), problem);
}

std::optional<RivalLibrary> cusolver_mg_library() {
  try {
    return RivalLibrary{"", api().path};
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

}  // namespace lugpu
