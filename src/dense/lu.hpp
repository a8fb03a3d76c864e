// LU decomposition as LU-GPU does it: Algorithm 3 of the paper, with no, partial, rook and full
// pivoting.
#pragma once

#include <optional>

#include "dense/full_pivoting.hpp"
#include "dense/fused.hpp"
#include "dense/pivoting.hpp"
#include "dense/solver.hpp"
#include "opencl/surface.hpp"

namespace lugpu {

/// P A Q = L U on a pair of n x n surfaces, X by forward and back substitution.
class Lu : public Solver {
 public:
  /// Throws Unsupported if the device cannot hold the problem; so does the constructor.
  static void require_room(const Device& device, const Problem& problem);
  Lu(DeviceContext& context, const Problem& problem);

  void upload(const Matrix& a, const Matrix& b) override;
  void reset() override;
  void factor() override;
  Outcome outcome() override { return pivoting_.outcome(); }
  void solve() override;
  Matrix download() override;
  void apply_inverse(Matrix& x, Op op) override;
  std::optional<Matrix> lu() override;

  /// Both hold L and U after factor() by the paper's schedule (Lemma 4.1); src does by either.
  const PingPong& surfaces() const { return a_; }

 private:
  void step(std::size_t k);

  DeviceContext& context_;
  Problem problem_;
  PingPong a_;
  Pivoting pivoting_;
  std::optional<Fused> fused_;        // with the fused schedule
  std::optional<FullPivoting> full_;  // the same with full pivoting
  cl::Buffer host_a_, host_b_;        // A and B as uploaded, column-major
  cl::Buffer y_, x_;                  // n x nrhs, column-major
};

}  // namespace lugpu
