// libcublas, libcusolver, libcusolverMg, libcusolverMp, libnccl and libcudart for machines without
// CUDA: the functions that lugpu calls, on the host. The one device, or LUGPU_CUDA_STUB_DEVICES of
// them, have the name that the variable LUGPU_CUDA_STUB holds; without it there is none. Addresses
// of device memory are shifted, so that no side reads the other's unnoticed.
#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace {

using Long = std::int64_t;
constexpr std::uintptr_t kShift = std::uintptr_t{1} << 62;
constexpr int kWorkspace = 16;  // elements, or bytes of either side
constexpr int kDouble = 1;      // CUDA_R_64F

template <typename T>
T* host(T* device) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(device) - kShift);
}

template <typename T>
T* device(T* host) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(host) + kShift);
}

// Integer: int or Long, as the interface has it. A null ipiv: no pivoting.
template <typename Real, typename Integer>
int getrf(Long n, void* matrix, Long lda, void* workspace, Integer* ipiv, int* info) {
  std::memset(host(static_cast<char*>(workspace)), 0, kWorkspace);
  Real* const start = host(static_cast<Real*>(matrix));
  const auto a = [start, lda](Long i, Long j) -> Real& { return start[i + j * lda]; };
  *host(info) = 0;
  for (Long k = 0; k < n; ++k) {
    Long p = k;
    for (Long i = k; ipiv && i < n; ++i) p = std::abs(a(i, k)) > std::abs(a(p, k)) ? i : p;
    if (ipiv) host(ipiv)[k] = static_cast<Integer>(p + 1);
    for (Long j = 0; j < n; ++j) std::swap(a(k, j), a(p, j));
    if (a(k, k) == 0 && *host(info) == 0) *host(info) = static_cast<int>(k + 1);
    for (Long i = k + 1; i < n && a(k, k) != 0; ++i) {
      a(i, k) /= a(k, k);
      for (Long j = k + 1; j < n; ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return 0;
}

template <typename Real, typename Integer>
int getrs(Long n, Long nrhs, const void* lu, Long lda, const Integer* ipiv, void* b, Long ldb) {
  const Real* a = host(static_cast<const Real*>(lu));
  Real* x = host(static_cast<Real*>(b));
  for (; nrhs-- > 0; x += ldb) {
    for (Long k = 0; ipiv && k < n; ++k) std::swap(x[k], x[host(ipiv)[k] - 1]);
    for (Long k = 0; k < n; ++k) {
      for (Long i = k + 1; i < n; ++i) x[i] -= a[i + k * lda] * x[k];
    }
    for (Long k = n; k-- > 0;) {
      x[k] /= a[k + k * lda];
      for (Long i = 0; i < k; ++i) x[i] -= a[i + k * lda] * x[k];
    }
  }
  return 0;
}

// Columns in blocks, dealt to the devices in turn: cuSOLVERMg's matrices.
struct Dealt {
  Long rows, columns, block;
  int devices;

  template <typename T>
  T* column(T* const* a, Long j) const {
    return host(a[j / block % devices]) + (j / block / devices * block + j % block) * rows;
  }
  template <typename T>
  std::vector<T> gather(T* const* a) const {
    std::vector<T> all(rows * columns);
    for (Long j = 0; j < columns; ++j) std::copy_n(column(a, j), rows, &all[j * rows]);
    return all;
  }
  template <typename T>
  void scatter(const std::vector<T>& all, T* const* a) const {
    for (Long j = 0; j < columns; ++j) std::copy_n(&all[j * rows], rows, column(a, j));
  }
  Dealt of_pivots() const { return {1, columns, block, devices}; }
};

template <typename Real>
int getrf_dealt(const Dealt& dealt, void** a, int** ipiv, void* workspace, int* info) {
  Real** const parts = reinterpret_cast<Real**>(a);
  std::vector<Real> all = dealt.gather(parts);
  std::vector<int> pivots(dealt.columns);
  const int status = getrf<Real>(dealt.columns, device(all.data()), dealt.rows, workspace,
                                 device(pivots.data()), device(info));
  dealt.scatter(all, parts);
  dealt.of_pivots().scatter(pivots, ipiv);
  return status;
}

template <typename Real>
int getrs_dealt(const Dealt& of_a, void** a, int** ipiv, const Dealt& of_b, void** b) {
  const std::vector<Real> lu = of_a.gather(reinterpret_cast<Real**>(a));
  const std::vector<int> pivots = of_a.of_pivots().gather(ipiv);
  std::vector<Real> x = of_b.gather(reinterpret_cast<Real**>(b));
  getrs<Real>(of_a.columns, of_b.columns, device(lu.data()), of_a.rows, device(pivots.data()),
              device(x.data()), of_b.rows);
  of_b.scatter(x, reinterpret_cast<Real**>(b));
  return 0;
}

// cuSOLVERMp: each device's thread calls with its part, and the first one works for all.
struct Team {
  explicit Team(int count) : together(count), a(count), b(count), ipiv(count) {}
  std::barrier<> together;
  std::vector<void*> a, b;
  std::vector<Long*> ipiv;
  int info = 0;
};
struct Member {
  std::shared_ptr<Team> team;
  int rank;

  template <typename Work>
  void work(void* a, void* b, Long* ipiv, const Work& work) const {
    team->a[rank] = a, team->b[rank] = b, team->ipiv[rank] = ipiv;
    team->together.arrive_and_wait();
    if (rank == 0) work();
    team->together.arrive_and_wait();
  }
};
struct DealtPart {
  Dealt dealt;
  Member member;
};

template <typename Real>
void getrf_of_team(const DealtPart& part, void* workspace) {
  Team& team = *part.member.team;
  std::vector<int> pivots(part.dealt.columns);
  std::vector<Real> all = part.dealt.gather(reinterpret_cast<Real**>(team.a.data()));
  getrf<Real>(part.dealt.columns, device(all.data()), part.dealt.rows, workspace,
              device(pivots.data()), device(&team.info));
  part.dealt.scatter(all, reinterpret_cast<Real**>(team.a.data()));
  part.dealt.of_pivots().scatter(std::vector<Long>(pivots.begin(), pivots.end()), team.ipiv.data());
}

template <typename Real>
void getrs_of_team(const DealtPart& of_a, const Dealt& of_b) {
  Team& team = *of_a.member.team;
  const std::vector<Real> lu = of_a.dealt.gather(reinterpret_cast<Real**>(team.a.data()));
  const std::vector<Long> pivots = of_a.dealt.of_pivots().gather(team.ipiv.data());
  Real** const b = reinterpret_cast<Real**>(team.b.data());
  std::vector<Real> x = of_b.gather(b);
  getrs<Real>(of_a.dealt.columns, of_b.columns, device(lu.data()), of_a.dealt.rows,
              device(pivots.data()), device(x.data()), of_b.rows);
  of_b.scatter(x, b);
}

// cuBLAS's batches: arrays of pointers, on the device as what they point to.
template <typename Real>
int getrf_batched(int n, void* const* a, int lda, int* ipiv, int* info, int count) {
  char workspace[kWorkspace];
  for (int m = 0; m < count; ++m) {
    getrf<Real>(n, host(a)[m], lda, device(workspace), ipiv + m * n, info + m);
  }
  return 0;
}

template <typename Real>
int getrs_batched(int n, int nrhs, void* const* a, int lda, const int* ipiv, void* const* b,
                  int ldb, int count) {
  for (int m = 0; m < count; ++m) {
    getrs<Real>(n, nrhs, host(a)[m], lda, ipiv + m * n, host(b)[m], ldb);
  }
  return 0;
}

template <typename Real>
int matinv_batched(int n, void* const* a, int lda, void* const* inverse, int ld_inverse, int* info,
                   int count) {
  if (n > 32) return 7;  // CUBLAS_STATUS_INVALID_VALUE
  char workspace[kWorkspace];
  std::vector<int> ipiv(n);
  for (int m = 0; m < count; ++m) {
    const Real* const from = host(static_cast<Real*>(host(a)[m]));
    std::vector<Real> lu(from, from + lda * n);
    getrf<Real>(n, device(lu.data()), lda, device(workspace), device(ipiv.data()), info + m);
    Real* const to = host(static_cast<Real*>(host(inverse)[m]));
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) to[i + j * ld_inverse] = i == j;
    }
    getrs<Real>(n, n, device(lu.data()), lda, device(ipiv.data()), device(to), ld_inverse);
  }
  return 0;
}

}  // namespace

// clang-format off
extern "C" {
const char* cudaGetErrorString(int) { return "no CUDA-capable device is detected"; }
int cudaGetLastError() { return 0; }
int cudaSetDevice(int) { return 0; }
int cudaDeviceSynchronize() { return 0; }
int cudaEventCreate(void**) { return 0; }
int cudaEventRecord(void*, void*) { return 0; }
int cudaEventSynchronize(void*) { return 0; }
int cudaEventElapsedTime(float* milliseconds, void*, void*) { return *milliseconds = 1, 0; }
int cudaEventDestroy(void*) { return 0; }
int cudaGetDeviceCount(int* n) {
  const char* const count = std::getenv("LUGPU_CUDA_STUB_DEVICES");
  return (*n = !std::getenv("LUGPU_CUDA_STUB") ? 0 : count ? std::atoi(count) : 1) > 0 ? 0 : 100;
}
int cudaGetDeviceProperties(char* name, int) { return std::strcpy(name, std::getenv("LUGPU_CUDA_STUB")), 0; }
int cudaMalloc(std::uintptr_t* memory, std::size_t bytes) {
  return *memory = reinterpret_cast<std::uintptr_t>(std::malloc(bytes)) + kShift, 0;
}
int cudaFree(void* memory) { return std::free(host(memory)), 0; }
int cudaMemcpy2D(char* to, std::size_t to_pitch, const char* from, std::size_t from_pitch,
                 std::size_t width, std::size_t height, int kind) {
  if (kind != 2) to = host(to);      // not cudaMemcpyDeviceToHost
  if (kind != 1) from = host(from);  // not cudaMemcpyHostToDevice
  for (; height-- > 0; to += to_pitch, from += from_pitch) std::memcpy(to, from, width);
  return 0;
}
int cudaMemcpy(char* to, const char* from, std::size_t w, int kind) { return cudaMemcpy2D(to, 0, from, 0, w, 1, kind); }

int cublasCreate_v2(void**) { return 0; }
int cublasDestroy_v2(void*) { return 0; }
int cublasSgetrfBatched(void*, int n, void* const* a, int lda, int* ipiv, int* info, int count) {
  return getrf_batched<float>(n, a, lda, ipiv, info, count);
}
int cublasDgetrfBatched(void*, int n, void* const* a, int lda, int* ipiv, int* info, int count) {
  return getrf_batched<double>(n, a, lda, ipiv, info, count);
}
int cublasSgetrsBatched(void*, int, int n, int m, void* const* a, int lda, const int* ipiv, void* const* b, int ldb,
                        int* info, int count) {
  return *info = 0, getrs_batched<float>(n, m, a, lda, ipiv, b, ldb, count);
}
int cublasDgetrsBatched(void*, int, int n, int m, void* const* a, int lda, const int* ipiv, void* const* b, int ldb,
                        int* info, int count) {
  return *info = 0, getrs_batched<double>(n, m, a, lda, ipiv, b, ldb, count);
}
int cublasSmatinvBatched(void*, int n, void* const* a, int lda, void* const* to, int ld, int* info, int count) {
  return matinv_batched<float>(n, a, lda, to, ld, info, count);
}
int cublasDmatinvBatched(void*, int n, void* const* a, int lda, void* const* to, int ld, int* info, int count) {
  return matinv_batched<double>(n, a, lda, to, ld, info, count);
}
int cusolverGetProperty(int type, int* value) { return *value = type + 1, 0; }  // version 1.2.3
int cusolverMgCreate(void**) { return 0; }
int cusolverMgDestroy(void*) { return 0; }
int cusolverMgDeviceSelect(void*, int, int*) { return 0; }
int cusolverMgCreateDeviceGrid(void** grid, std::int32_t, std::int32_t columns, const std::int32_t*, int) {
  return *grid = new int(columns), 0;
}
int cusolverMgDestroyGrid(void* grid) { return delete static_cast<int*>(grid), 0; }
int cusolverMgCreateMatrixDesc(void** dealt, Long rows, Long columns, Long, Long block, int, void* grid) {
  return *dealt = new Dealt{rows, columns, block, *static_cast<int*>(grid)}, 0;
}
int cusolverMgDestroyMatrixDesc(void* dealt) { return delete static_cast<Dealt*>(dealt), 0; }
int cusolverMgGetrf_bufferSize(void*, int, int, void**, int, int, void*, int**, int, Long* w) {
  return *w = kWorkspace, 0;
}
int cusolverMgGetrf(void*, int, int, void** a, int, int, Dealt* of_a, int** ipiv, int type, void** w, Long, int* info) {
  return (type == kDouble ? getrf_dealt<double> : getrf_dealt<float>)(*of_a, a, ipiv, w[0], info);
}
int cusolverMgGetrs_bufferSize(void*, int, int, int, void**, int, int, void*, int**, void**, int, int, void*, int,
                               Long* w) {
  return *w = kWorkspace, 0;
}
int cusolverMgGetrs(void*, int, int, int, void** a, int, int, Dealt* of_a, int** ipiv, void** b, int, int, Dealt* of_b,
                    int type, void**, Long, int*) {
  return (type == kDouble ? getrs_dealt<double> : getrs_dealt<float>)(*of_a, a, ipiv, *of_b, b);
}
int ncclCommInitAll(void** communicators, int count, const int*) {
  const auto team = std::make_shared<Team>(count);
  for (int rank = 0; rank < count; ++rank) communicators[rank] = new Member{team, rank};
  return 0;
}
int ncclCommDestroy(void* member) { return delete static_cast<Member*>(member), 0; }
int cusolverMpCreate(void**, int, void*) { return 0; }
int cusolverMpDestroy(void*) { return 0; }
int cusolverMpGetVersion(void*, int* version) {
  const char* const text = std::getenv("LUGPU_CUDA_STUB_MP_VERSION");
  return *version = text ? std::atoi(text) : 901, 0;
}
int cusolverMpCreateDeviceGrid(void*, void** grid, void* member, std::int32_t, std::int32_t columns, int) {
  return *grid = new DealtPart{{0, 0, 0, columns}, *static_cast<Member*>(member)}, 0;
}
int cusolverMpDestroyGrid(void* grid) { return delete static_cast<DealtPart*>(grid), 0; }
int cusolverMpCreateMatrixDesc(void** part, DealtPart* grid, int, Long rows, Long columns, Long, Long block,
                               std::uint32_t, std::uint32_t, Long) {
  return *part = new DealtPart{{rows, columns, block, grid->dealt.devices}, grid->member}, 0;
}
int cusolverMpDestroyMatrixDesc(void* part) { return delete static_cast<DealtPart*>(part), 0; }
int cusolverMpGetrf_bufferSize(void*, Long, Long, void*, Long, Long, void*, Long*, int, std::size_t* w, std::size_t* h) {
  return *w = *h = kWorkspace, 0;
}
int cusolverMpGetrf(void*, Long, Long, void* a, Long, Long, DealtPart* of_a, Long* ipiv, int type, void* w, std::size_t,
                    char* h, std::size_t, int* info) {
  std::memset(h, 0, kWorkspace);
  of_a->member.work(a, nullptr, ipiv, [&] {
    (type == kDouble ? getrf_of_team<double> : getrf_of_team<float>)(*of_a, w);
  });
  return *host(info) = of_a->member.team->info, 0;
}
int cusolverMpGetrs_bufferSize(void*, int, Long, Long, const void*, Long, Long, void*, const Long*, void*, Long, Long,
                               void*, int, std::size_t* w, std::size_t* h) {
  return *w = *h = kWorkspace, 0;
}
int cusolverMpGetrs(void*, int, Long, Long, void* a, Long, Long, DealtPart* of_a, Long* ipiv, void* b, Long, Long,
                    DealtPart* of_b, int type, void*, std::size_t, void*, std::size_t, int* info) {
  *host(info) = 0;
  of_a->member.work(a, b, ipiv, [&] {
    (type == kDouble ? getrs_of_team<double> : getrs_of_team<float>)(*of_a, of_b->dealt);
  });
  return 0;
}
int cusolverDnCreate(void**) { return 0; }
int cusolverDnDestroy(void*) { return 0; }
int cusolverDnCreateParams(void**) { return 0; }
int cusolverDnDestroyParams(void*) { return 0; }
int cusolverDnSgetrf_bufferSize(void*, int, int, void*, int, int* w) { return *w = kWorkspace, 0; }
int cusolverDnDgetrf_bufferSize(void*, int, int, void*, int, int* w) { return *w = kWorkspace, 0; }
int cusolverDnSgetrf(void*, int, int n, void* a, int lda, void* w, int* ipiv, int* info) {
  return getrf<float>(n, a, lda, w, ipiv, info);
}
int cusolverDnDgetrf(void*, int, int n, void* a, int lda, void* w, int* ipiv, int* info) {
  return getrf<double>(n, a, lda, w, ipiv, info);
}
int cusolverDnSgetrs(void*, int, int n, int m, const void* a, int lda, const int* ipiv, void* b, int ldb, int*) {
  return getrs<float>(n, m, a, lda, ipiv, b, ldb);
}
int cusolverDnDgetrs(void*, int, int n, int m, const void* a, int lda, const int* ipiv, void* b, int ldb, int*) {
  return getrs<double>(n, m, a, lda, ipiv, b, ldb);
}
int cusolverDnXgetrf_bufferSize(void*, void*, Long, Long, int, const void*, Long, int, std::size_t* w, std::size_t* v) {
  return *w = *v = kWorkspace, 0;
}
int cusolverDnXgetrf(void*, void*, Long, Long n, int type, void* a, Long lda, Long* ipiv, int, void* w,
                     std::size_t bytes, void* v, std::size_t host_bytes, int* info) {
  if (bytes != kWorkspace || host_bytes != kWorkspace) return 3;  // CUSOLVER_STATUS_INVALID_VALUE
  std::memset(v, 0, host_bytes);
  return (type == kDouble ? getrf<double, Long> : getrf<float, Long>)(n, a, lda, w, ipiv, info);
}
int cusolverDnXgetrs(void*, void*, int, Long n, Long m, int type, const void* a, Long lda,
                     const Long* ipiv, int, void* b, Long ldb, int*) {
  return (type == kDouble ? getrs<double, Long> : getrs<float, Long>)(n, m, a, lda, ipiv, b, ldb);
}
}
