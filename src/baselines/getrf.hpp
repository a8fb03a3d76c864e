// LAPACK's getrf and getrs: blocked LU with partial pivoting.
#pragma once

#include <lapacke.h>

#include "baselines/host_solver.hpp"

namespace lugpu {

/// LAPACKE_?getrf_work, column-major; info and ipiv as LAPACK's.
template <typename Real>
class Getrf : public HostSolver<Real> {
 public:
  explicit Getrf(const Problem& problem) : HostSolver<Real>(problem), ipiv_(problem.size.n) {}

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
  using HostSolver<Real>::ld;
  using HostSolver<Real>::lu_;
  using HostSolver<Real>::n_;
  using HostSolver<Real>::nrhs_;
  using HostSolver<Real>::x_;

  std::vector<lapack_int> ipiv_;
  int info_ = 0;
};

}  // namespace lugpu
