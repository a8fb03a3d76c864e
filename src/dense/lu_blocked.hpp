// The direct solver: blocked LU with no or partial pivoting.
#pragma once

#include <optional>

#include "dense/blocked.hpp"
#include "dense/solver.hpp"
#include "opencl/surface.hpp"

namespace lugpu {

/// P A = L U, in place or through two images, X by forward and back substitution.
class LuBlocked : public Solver {
 public:
  /// Throws Unsupported if the device cannot hold the problem; so does the constructor.
  static void require_room(const Device& device, const Problem& problem);
  LuBlocked(DeviceContext& context, const Problem& problem);
  /// The fastest problem.nb.
  static std::size_t block_size(const Device& device, const Problem& problem);

  void upload(const Matrix& a, const Matrix& b) override;
  void reset() override;
  void factor() override;
  Outcome outcome() override;
  void solve() override;
  Matrix download() override;
  void apply_inverse(Matrix& x, Op op) override;
  std::optional<Matrix> lu() override;
  std::uint64_t multiply() override;
  std::optional<std::string> variant() const override { return blocked_->variant(); }

 private:
  /// ipiv of the factorization, 1-based; empty without pivoting.
  std::vector<int> ipiv(const char* phase);
  /// The row of A that each row of P A is.
  std::vector<int> row_order();

  DeviceContext& context_;
  Problem problem_;
  Surface lu_;  // A, if there are no images; L and U after factor()
  std::unique_ptr<Blocked> blocked_;
  std::optional<PingPong> images_;  // A, with --storage image
  cl::Buffer host_a_, host_b_;      // A and B as uploaded, column-major
  Surface x_;                       // X, n x nrhs
  cl::Buffer pb_;                   // P B, column-major
  std::optional<Surface> columns_;  // of apply_inverse(), kept for the next one
};

}  // namespace lugpu
