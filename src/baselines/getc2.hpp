// LAPACK's getc2 and gesc2: unblocked LU with full pivoting. LAPACKE has no interface to them.
#pragma once

#include "baselines/host_solver.hpp"

extern "C" {
void sgetc2_(const int* n, float* a, const int* lda, int* ipiv, int* jpiv, int* info);
void dgetc2_(const int* n, double* a, const int* lda, int* ipiv, int* jpiv, int* info);
void sgesc2_(const int* n, const float* a, const int* lda, float* rhs, const int* ipiv,
             const int* jpiv, float* scale);
void dgesc2_(const int* n, const double* a, const int* lda, double* rhs, const int* ipiv,
             const int* jpiv, double* scale);
}

namespace lugpu {

/// info > 0 from getc2 means that the info-th pivot was perturbed, since it was too small; it is
/// reported as a zero pivot.
template <typename Real>
class Getc2 : public HostSolver<Real> {
 public:
  explicit Getc2(const Problem& problem)
      : HostSolver<Real>(problem), ipiv_(problem.size.n), jpiv_(problem.size.n) {}

  void factor() override {
    const int lda = ld();
    info_ = 0;
    if (n_ == 0) return;
    if constexpr (std::is_same_v<Real, double>) {
      dgetc2_(&n_, lu_.data(), &lda, ipiv_.data(), jpiv_.data(), &info_);
    } else {
      sgetc2_(&n_, lu_.data(), &lda, ipiv_.data(), jpiv_.data(), &info_);
    }
  }
  Outcome outcome() override { return {info_, ipiv_, jpiv_, this->diagonal()}; }
  /// gesc2 solves A X = scale B for one column at a time.
  void solve() override {
    const int lda = ld();
    if (n_ == 0) return;
    for (int j = 0; j < nrhs_; ++j) {
      Real* column = x_.data() + static_cast<std::size_t>(j) * n_;
      Real scale = 1;
      if constexpr (std::is_same_v<Real, double>) {
        dgesc2_(&n_, lu_.data(), &lda, column, ipiv_.data(), jpiv_.data(), &scale);
      } else {
        sgesc2_(&n_, lu_.data(), &lda, column, ipiv_.data(), jpiv_.data(), &scale);
      }
      std::for_each(column, column + n_, [scale](Real& value) { value /= scale; });
    }
  }

 private:
  using HostSolver<Real>::ld;
  using HostSolver<Real>::lu_;
  using HostSolver<Real>::n_;
  using HostSolver<Real>::nrhs_;
  using HostSolver<Real>::x_;

  std::vector<int> ipiv_, jpiv_;
  int info_ = 0;
};

}  // namespace lugpu
