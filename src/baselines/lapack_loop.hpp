// LAPACK one by one: a loop over the members of a batch, shared among all cores.
#pragma once

#include <lapacke.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "baselines/baselines.hpp"
#include "baselines/batch_rivals.hpp"

extern "C" {
void sgetc2_(const int* n, float* a, const int* lda, int* ipiv, int* jpiv, int* info);
void dgetc2_(const int* n, double* a, const int* lda, int* ipiv, int* jpiv, int* info);
void sgesc2_(const int* n, const float* a, const int* lda, float* b, const int* ipiv,
             const int* jpiv, float* scale);
void dgesc2_(const int* n, const double* a, const int* lda, double* b, const int* ipiv,
             const int* jpiv, double* scale);
}

namespace lugpu {

/// getrf and getrs of T, with one thread each.
template <typename T>
struct GetrfOfMember {
  static void factor(int n, T* a, int* ipiv, int*) {
    if constexpr (std::is_same_v<T, double>) {
      LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, a, n, ipiv);
    } else {
      LAPACKE_sgetrf_work(LAPACK_COL_MAJOR, n, n, a, n, ipiv);
    }
  }
  static void solve(int n, const T* a, const int* ipiv, const int*, T* x) {
    if constexpr (std::is_same_v<T, double>) {
      LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', n, 1, a, n, ipiv, x, n);
    } else {
      LAPACKE_sgetrs_work(LAPACK_COL_MAJOR, 'N', n, 1, a, n, ipiv, x, n);
    }
  }
};

/// getc2 and gesc2 of T.
template <typename T>
struct Getc2OfMember {
  static void factor(int n, T* a, int* ipiv, int* jpiv) {
    int info = 0;
    if constexpr (std::is_same_v<T, double>) {
      dgetc2_(&n, a, &n, ipiv, jpiv, &info);
    } else {
      sgetc2_(&n, a, &n, ipiv, jpiv, &info);
    }
  }
  static void solve(int n, const T* a, const int* ipiv, const int* jpiv, T* x) {
    T scale = 1;
    if constexpr (std::is_same_v<T, double>) {
      dgesc2_(&n, a, &n, x, ipiv, jpiv, &scale);
    } else {
      sgesc2_(&n, a, &n, x, ipiv, jpiv, &scale);
    }
    std::transform(x, x + n, x, [&](T value) { return value / scale; });
  }
};

template <typename T, template <typename> class Routine>
class LapackLoop : public BatchContender<T> {
 public:
  LapackLoop(const Device&, const BatchSize& size)
      : size_(size),
        lu_(size.count * size.n * size.n),
        ipiv_(size.count * size.n),
        jpiv_(size.count * size.n) {}

  void upload(const Batch<const T>& a) override {
    const std::size_t n = size_.n;
    for_members([&](std::size_t m) {
      const View<const T> member = a[m];
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < n; ++i) lu_[(m * n + j) * n + i] = member(i, j);
      }
    });
    a_ = lu_;
  }
  void reset() override { lu_ = a_; }
  void factor() override {
    const int threads = blas_threads();
    set_blas_threads(1);
    for_members([&](std::size_t m) {
      const std::size_t n = size_.n;
      Routine<T>::factor(static_cast<int>(n), &lu_[m * n * n], &ipiv_[m * n], &jpiv_[m * n]);
    });
    set_blas_threads(threads);
  }
  void solve(const Batch<const T>& b, const Batch<T>& x) override {
    const std::size_t n = size_.n;
    for (std::size_t m = 0; m < size_.count; ++m) {
      const View<const T> from = b[m];
      const View<T> to = x[m];
      for (std::size_t c = 0; c < from.columns; ++c) {
        std::copy_n(from.column(c), n, to.column(c));
        Routine<T>::solve(static_cast<int>(n), &lu_[m * n * n], &ipiv_[m * n], &jpiv_[m * n],
                          to.column(c));
      }
    }
  }

 private:
  // Each by the next thread of all cores.
  template <typename Work>
  void for_members(const Work& work) const {
    constexpr std::size_t kEnoughForThread = std::size_t{4} << 20;
    in_parallel(size_.count, kEnoughForThread, work);
  }

  const BatchSize size_;
  std::vector<T> a_, lu_;
  std::vector<int> ipiv_, jpiv_;
};

}  // namespace lugpu
