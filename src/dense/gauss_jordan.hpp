// Gauss-Jordan elimination as LU-GPU does it: Algorithm 1 of the paper on [A | B], with no, partial
// and full pivoting, and the inverse.
#pragma once

#include <optional>

#include "dense/factorization.hpp"
#include "dense/fused.hpp"
#include "dense/pivoting.hpp"

namespace lugpu {

/// Reduces A of [A | B] to the identity on a pair of n x (n + nrhs) surfaces; B becomes X (its rows
/// in the order of jpiv where columns are interchanged).
class GaussJordan : public DenseFactorization {
 public:
  /// Throws Unsupported if the device cannot hold the system; so does the constructor.
  static void require_room(const Device& device, const Size& size, const DenseOptions& options);
  GaussJordan(DeviceContext& context, const Size& size, const DenseOptions& options);

  void take_columns(const cl::Buffer& columns, std::size_t first, std::size_t count) override;
  void factor() override;
  Outcome outcome() override { return pivoting_.outcome(); }
  const cl::Buffer& solve() override;
  bool keeps_factors() const override { return false; }
  cl::Buffer apply_inverse(const cl::Buffer& b, std::size_t columns, Op op) override;
  cl::Buffer factors(std::size_t first, std::size_t count) override;
  /// From [A | I], the columns of I in as many parts as the device's limits need. Throws
  /// Unsupported if there is no room for [A | x] beside this system.
  Matrix inverse(const MatrixView& a) override;

 private:
  void take_matrix(const cl::Buffer&, std::size_t, std::size_t) override {}
  void step(std::size_t k);

  PingPong ab_;
  Pivoting pivoting_;
  std::optional<Fused> fused_;  // with the fused schedule
};

}  // namespace lugpu
