// LU decomposition as LU-GPU does it: Algorithm 3 of the paper, with every pivoting.
#pragma once

#include <optional>

#include "dense/factorization.hpp"
#include "dense/full_pivoting.hpp"
#include "dense/fused.hpp"
#include "dense/pivoting.hpp"
#include "dense/resident_full.hpp"

namespace lugpu {

/// P A Q = L U on a pair of n x n surfaces, X by forward and back substitution.
class Lu : public DenseFactorization {
 public:
  /// Throws Unsupported if the device cannot hold the system; so does the constructor.
  static void require_room(const Device& device, const Size& size, const DenseOptions& options);
  Lu(DeviceContext& context, const Size& size, const DenseOptions& options);

  void factor() override;
  Outcome outcome() override;
  cl::Buffer apply_inverse(const cl::Buffer& b, std::size_t columns, Op op) override;
  using DenseFactorization::apply_inverse;
  cl::Buffer factors(std::size_t first, std::size_t count) override;
  std::optional<std::string> variant() const override;

  /// Both hold L and U after factor() by the paper's schedule (Lemma 4.1); src does by either.
  const PingPong& surfaces() const { return a_; }

 private:
  void take_matrix(const cl::Buffer& columns, std::size_t first, std::size_t count) override;
  void take_rows(const cl::Buffer& rows, std::size_t first, std::size_t count) override;
  bool takes_rows() const override { return true; }
  void step(std::size_t k);

  PingPong a_;
  Pivoting pivoting_;
  std::optional<Fused> fused_;            // with the fused schedule
  std::optional<FullPivoting> full_;      // the same with full pivoting
  std::optional<ResidentFull> resident_;  // tried first, where it can be
  std::optional<Outcome> outcome_;        // once it has been read
};

}  // namespace lugpu
