// LAPACK's getrf and getrs: blocked LU with partial pivoting.
#pragma once

#include <cblas.h>
#include <lapacke.h>

#include <vector>

#include "baselines/host_solver.hpp"

namespace lugpu {

/// LAPACKE_?getrf_work, column-major; info and ipiv as LAPACK's.
template <typename Real>
class Getrf : public HostSolver<Real> {
 public:
  explicit Getrf(const Problem& problem) : HostSolver<Real>(problem), ipiv_(problem.size.n) {}

  void reset() override {
    HostSolver<Real>::reset();
    if (n_ >= kThreaded) wake_threads();
  }
  void factor() override {
    if constexpr (std::is_same_v<Real, double>) {
      info_ = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n_, n_, lu_.data(), ld(), ipiv_.data());
    } else {
      info_ = LAPACKE_sgetrf_work(LAPACK_COL_MAJOR, n_, n_, lu_.data(), ld(), ipiv_.data());
    }
  }
  Outcome outcome() override { return {info_, ipiv_, {}, this->diagonal()}; }
  void solve() override {
    if constexpr (std::is_same_v<Real, double>) {
      LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', n_, nrhs_, lu_.data(), ld(), ipiv_.data(),
                          x_.data(), ld());
    } else {
      LAPACKE_sgetrs_work(LAPACK_COL_MAJOR, 'N', n_, nrhs_, lu_.data(), ld(), ipiv_.data(),
                          x_.data(), ld());
    }
  }

 private:
  static constexpr int kThreaded = 256;  // from this order on all threads take part

  // OpenBLAS's threads fall asleep while other contenders are measured. In virtual machines a
  // sleeping core can take tens of milliseconds to wake up: with a product of its own before each
  // sample, that is not getrf's time.
  static void wake_threads() {
    constexpr int kOrder = kThreaded;
    const std::vector<float> a(kOrder * kOrder);
    std::vector<float> c(kOrder * kOrder);
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, kOrder, kOrder, kOrder, 1, a.data(),
                kOrder, a.data(), kOrder, 0, c.data(), kOrder);
  }

  using HostSolver<Real>::ld;
  using HostSolver<Real>::lu_;
  using HostSolver<Real>::n_;
  using HostSolver<Real>::nrhs_;
  using HostSolver<Real>::x_;

  std::vector<lapack_int> ipiv_;
  int info_ = 0;
};

}  // namespace lugpu
