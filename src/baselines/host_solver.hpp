// What the LAPACK baselines share: A, B and X in their own precision, column-major on the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "baselines/contender.hpp"
#include "matrix/rounded.hpp"

namespace lugpu {

/// Real: float or double. A derived class factors lu_ in place and turns x_ from B into X.
template <typename Real>
class HostSolver : public Contender {
 public:
  explicit HostSolver(const Problem& problem)
      : n_(static_cast<int>(problem.size.n)), nrhs_(static_cast<int>(problem.size.nrhs)) {}

  void upload(const MatrixView& a, const MatrixView& b) override {
    a_ = rounded<Real>(a);
    b_ = rounded<Real>(b);
    reset();
  }
  void reset() override {
    lu_ = a_;
    x_ = b_;
  }
  Matrix download() override { return widened(x_, n_, nrhs_); }
  std::optional<Matrix> lu() override { return widened(lu_, n_, n_); }

 protected:
  int ld() const { return std::max(n_, 1); }
  std::vector<double> diagonal() const {
    std::vector<double> pivots(n_);
    for (int k = 0; k < n_; ++k) pivots[k] = lu_[k + static_cast<std::size_t>(k) * n_];
    return pivots;
  }

  int n_, nrhs_;
  std::vector<Real> lu_, x_;

 private:
  static Matrix widened(const std::vector<Real>& values, int rows, int columns) {
    Matrix matrix(rows, columns);
    std::copy(values.begin(), values.end(), matrix.values().begin());
    return matrix;
  }

  std::vector<Real> a_, b_;
};

}  // namespace lugpu
