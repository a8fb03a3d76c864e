#include "baselines/cublas_batched.hpp"

#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "baselines/cuda_runtime.hpp"
#include "baselines/shared_library.hpp"

namespace lugpu {
namespace {

constexpr int kNotTransposed = 0;          // CUBLAS_OP_N
constexpr std::size_t kMostToInvert = 32;  // order that matinvBatched takes

// What is used of cublas_api.h, versions 11.1 to 13, under its own names. void* stands for float*
// and double*; arrays of matrices are arrays of pointers, both on the device.
struct Api {
  int (*cublasCreate_v2)(Handle* handle);
  int (*cublasDestroy_v2)(Handle handle);
  using GetrfBatched = int(Handle, int n, void* const* a, int lda, int* ipiv, int* info, int count);
  GetrfBatched *cublasSgetrfBatched, *cublasDgetrfBatched;
  using GetrsBatched = int(Handle, int trans, int n, int nrhs, void* const* a, int lda,
                           const int* ipiv, void* const* b, int ldb, int* host_info, int count);
  GetrsBatched *cublasSgetrsBatched, *cublasDgetrsBatched;
  using MatinvBatched = int(Handle, int n, void* const* a, int lda, void* const* inverse,
                            int ld_inverse, int* info, int count);
  MatinvBatched *cublasSmatinvBatched, *cublasDmatinvBatched;
};

// The functions, found once. Throws Unsupported, each time for the same reason.
const Api& api() {
  static const std::pair<Api, std::string> opened = [] {
    std::pair<Api, std::string> result;
    Api& api = result.first;
    try {
      const SharedLibrary cublas =
          open_cuda({"libcublas.so", "libcublas.so.13", "libcublas.so.12", "libcublas.so.11"});
      cublas.find(api.cublasCreate_v2, "cublasCreate_v2");
      cublas.find(api.cublasDestroy_v2, "cublasDestroy_v2");
      cublas.find(api.cublasSgetrfBatched, "cublasSgetrfBatched");
      cublas.find(api.cublasDgetrfBatched, "cublasDgetrfBatched");
      cublas.find(api.cublasSgetrsBatched, "cublasSgetrsBatched");
      cublas.find(api.cublasDgetrsBatched, "cublasDgetrsBatched");
      cublas.find(api.cublasSmatinvBatched, "cublasSmatinvBatched");
      cublas.find(api.cublasDmatinvBatched, "cublasDmatinvBatched");
      cuda();
    } catch (const Unsupported& error) {
      result.second = error.what();
    }
    return result;
  }();
  if (!opened.second.empty()) throw Unsupported(opened.second);
  return opened.first;
}

void check_cublas(int status, const char* call) {
  if (status != kSuccess) fail(call, "cuBLAS's status is " + std::to_string(status));
}

// Matrices of one shape one after the other on the device, and an array there of pointers to them.
template <typename T>
class Stack {
 public:
  Stack(std::size_t count, std::size_t elements)
      : count_(count),
        elements_(elements),
        values_(allocate(count * elements * sizeof(T))),
        pointers_(allocate(count * sizeof(void*))) {
    std::vector<T*> places(count);
    for (std::size_t m = 0; m < count; ++m) places[m] = get() + m * elements;
    copy(pointers_.get(), places.data(), count * sizeof(void*), kHostToDevice);
  }

  T* get() const { return static_cast<T*>(values_.get()); }
  void* const* pointers() const { return static_cast<void* const*>(pointers_.get()); }

  void upload(const Batch<const T>& from) {
    std::vector<T> values(count_ * elements_);
    for (std::size_t m = 0; m < count_; ++m) {
      const View<const T> member = from[m];
      for (std::size_t j = 0; j < member.columns; ++j) {
        for (std::size_t i = 0; i < member.rows; ++i) {
          values[m * elements_ + j * member.rows + i] = member(i, j);
        }
      }
    }
    copy(get(), values.data(), values.size() * sizeof(T), kHostToDevice);
  }
  std::vector<T> download() const {
    std::vector<T> values(count_ * elements_);
    copy(values.data(), get(), values.size() * sizeof(T), kDeviceToHost);
    return values;
  }
  void copy_from(const Stack& other) {
    copy(get(), other.get(), count_ * elements_ * sizeof(T), kDeviceToDevice);
  }

 private:
  std::size_t count_, elements_;
  Memory values_, pointers_;
};

template <typename T>
class Cublas : public BatchContender<T> {
 public:
  Cublas(const Device& device, const BatchSize& size, bool inverts)
      : count_(static_cast<int>(size.count)),
        n_(static_cast<int>(size.n)),
        inverts_((use_device(cuda_indices(device.name, 1).front()), inverts)),
        handle_(api().cublasCreate_v2, api().cublasDestroy_v2, "cublasCreate_v2"),
        a_(size.count, size.n * size.n),
        result_(size.count, size.n * size.n),
        ipiv_(allocate(size.count * size.n * sizeof(int))),
        info_(allocate(size.count * sizeof(int))) {}

  void upload(const Batch<const T>& a) override {
    a_.upload(a);
    reset();
  }
  void reset() override {
    if (!inverts_) result_.copy_from(a_);
    synchronize();
  }
  void factor() override {
    if (inverts_) {
      const auto matinv = kIsDouble ? api().cublasDmatinvBatched : api().cublasSmatinvBatched;
      check_cublas(
          matinv(handle_.get(), n_, a_.pointers(), n_, result_.pointers(), n_, info(), count_),
          "cublas?matinvBatched");
    } else {
      const auto getrf = kIsDouble ? api().cublasDgetrfBatched : api().cublasSgetrfBatched;
      check_cublas(getrf(handle_.get(), n_, result_.pointers(), n_, ipiv(), info(), count_),
                   "cublas?getrfBatched");
    }
    synchronize();
  }
  void solve(const Batch<const T>& b, const Batch<T>& x) override {
    inverts_ ? multiply(b, x) : substitute(b, x);
  }

 private:
  static constexpr bool kIsDouble = std::is_same_v<T, double>;

  int* info() const { return static_cast<int*>(info_.get()); }
  int* ipiv() const { return static_cast<int*>(ipiv_.get()); }

  void substitute(const Batch<const T>& b, const Batch<T>& x) {
    const std::size_t elements = b.rows() * b.columns();
    Stack<T> sides(b.size(), elements);
    sides.upload(b);
    int host_info = 0;
    const auto getrs = kIsDouble ? api().cublasDgetrsBatched : api().cublasSgetrsBatched;
    check_cublas(getrs(handle_.get(), kNotTransposed, n_, static_cast<int>(b.columns()),
                       result_.pointers(), n_, ipiv(), sides.pointers(), n_, &host_info, count_),
                 "cublas?getrsBatched");
    synchronize();
    const std::vector<T> values = sides.download();
    for (std::size_t m = 0; m < b.size(); ++m) {
      const View<T> to = x[m];
      for (std::size_t j = 0; j < to.columns; ++j) {
        std::copy_n(&values[m * elements + j * to.rows], to.rows, to.column(j));
      }
    }
  }
  // X = inv(A) B on the host.
  void multiply(const Batch<const T>& b, const Batch<T>& x) {
    const std::size_t n = b.rows();
    const std::vector<T> inverse = result_.download();
    for (std::size_t m = 0; m < b.size(); ++m) {
      const View<const T> from = b[m];
      const View<T> to = x[m];
      for (std::size_t c = 0; c < from.columns; ++c) {
        for (std::size_t i = 0; i < n; ++i) {
          double sum = 0;
          for (std::size_t k = 0; k < n; ++k) {
            sum += static_cast<double>(inverse[(m * n + k) * n + i]) * from(k, c);
          }
          to(i, c) = static_cast<T>(sum);
        }
      }
    }
  }

  int count_, n_;
  bool inverts_;
  Object handle_;
  Stack<T> a_, result_;  // result_: the factors, or the inverses
  Memory ipiv_, info_;
};

}  // namespace

void require_cublas(const Device& device, const BatchSize& size, Precision precision) {
  api();
  cuda_indices(device.name, 1);
  const double elements = static_cast<double>(size.count) * static_cast<double>(size.n * size.n);
  if (2 * elements * static_cast<double>(element_size(precision)) >
      static_cast<double>(device.global_memory)) {
    throw Unsupported("cuBLAS's matrices do not fit into the memory of " + device.name + ".");
  }
}

void require_cublas_inverse(const Device& device, const BatchSize& size, Precision precision) {
  require_cublas(device, size, precision);
  if (size.n <= kMostToInvert) return;
  throw Unsupported("cuBLAS inverts matrices of order up to " + std::to_string(kMostToInvert) +
                    ", not " + std::to_string(size.n) + ".");
}

template <typename T>
std::unique_ptr<BatchContender<T>> make_cublas_getrf(const Device& device, const BatchSize& size) {
  return std::make_unique<Cublas<T>>(device, size, false);
}

template <typename T>
std::unique_ptr<BatchContender<T>> make_cublas_inverse(const Device& device,
                                                       const BatchSize& size) {
  return std::make_unique<Cublas<T>>(device, size, true);
}

template std::unique_ptr<BatchContender<float>> make_cublas_getrf(const Device&, const BatchSize&);
template std::unique_ptr<BatchContender<double>> make_cublas_getrf(const Device&, const BatchSize&);
template std::unique_ptr<BatchContender<float>> make_cublas_inverse(const Device&,
                                                                    const BatchSize&);
template std::unique_ptr<BatchContender<double>> make_cublas_inverse(const Device&,
                                                                     const BatchSize&);

}  // namespace lugpu
