// LU decomposition as LU-GPU does it: Algorithm 3 of the paper, with no, partial and full pivoting.
#pragma once

#include "opencl/surface.hpp"
#include "solvers/pivoting.hpp"
#include "solvers/solver.hpp"

namespace lugpu {

/// P A Q = L U on a pair of n x n surfaces, X by forward and back substitution.
class Lu : public Solver {
 public:
  /// Throws Unsupported if the device cannot hold the problem.
  Lu(DeviceContext& context, const Problem& problem);

  void upload(const Matrix& a, const Matrix& b) override;
  void reset() override;
  void factor() override;
  Outcome outcome() override { return pivoting_.outcome(); }
  void solve() override;
  Matrix download() override;
  std::optional<Matrix> lu() override;

  /// Both hold L and U after factor() (Lemma 4.1).
  const PingPong& surfaces() const { return a_; }

 private:
  void step(std::size_t k);
  KernelId kernel(const char* file, const char* function) const;

  DeviceContext& context_;
  Problem problem_;
  PingPong a_;
  Pivoting pivoting_;
  cl::Buffer host_a_, host_b_;  // A and B as uploaded, column-major
  cl::Buffer y_, x_;            // n x nrhs, column-major
};

}  // namespace lugpu
