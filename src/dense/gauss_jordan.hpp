// Gauss-Jordan elimination as LU-GPU does it: Algorithm 1 of the paper on [A | B], with no, partial
// and full pivoting, and the inverse.
#pragma once

#include <optional>

#include "dense/fused.hpp"
#include "dense/pivoting.hpp"
#include "dense/solver.hpp"
#include "opencl/surface.hpp"

namespace lugpu {

/// Reduces A of [A | B] to the identity on a pair of n x (n + nrhs) surfaces; B becomes X (its rows
/// in the order of jpiv with full pivoting).
class GaussJordan : public Solver {
 public:
  /// Throws Unsupported if the device cannot hold the problem; so does the constructor.
  static void require_room(const Device& device, const Problem& problem);
  GaussJordan(DeviceContext& context, const Problem& problem);

  void upload(const Matrix& a, const Matrix& b) override;
  void reset() override;
  void factor() override;
  Outcome outcome() override { return pivoting_.outcome(); }
  void solve() override;
  Matrix download() override;
  /// From [A | I], the columns of I in as many parts as the device's limits need.
  std::optional<Matrix> inverse() override;

 private:
  void step(std::size_t k);
  void join(const cl::Buffer& a, const cl::Buffer& b);

  DeviceContext& context_;
  Problem problem_;
  PingPong ab_;
  Pivoting pivoting_;
  std::optional<Fused> fused_;  // with the fused schedule
  cl::Buffer host_ab_;          // [A | B] as uploaded, column-major
  cl::Buffer x_;                // n x nrhs, column-major
};

}  // namespace lugpu
