// The direct solver: blocked LU with no or partial pivoting.
#pragma once

#include <optional>

#include "dense/blocked.hpp"
#include "dense/factorization.hpp"

namespace lugpu {

/// P A = L U, in place or through two images, X by forward and back substitution.
class LuBlocked : public DenseFactorization {
 public:
  /// Throws Unsupported if the device cannot hold the system; so does the constructor. size.rows
  /// may differ from size.n on buffers, without right-hand sides.
  static void require_room(const Device& device, const Size& size, const DenseOptions& options);
  LuBlocked(DeviceContext& context, const Size& size, const DenseOptions& options);
  /// The fastest options.nb.
  static std::size_t block_size(const Device& device, const Size& size,
                                const DenseOptions& options);

  /// The one that can be had, and is worth while.
  static Shortcut shortcut(const Device& device, const Size& size, const DenseOptions& options);

  void factor() override;
  Outcome outcome() override;
  int info() override;
  cl::Buffer apply_inverse(const cl::Buffer& b, std::size_t columns, Op op) override;
  using DenseFactorization::apply_inverse;
  bool can_transpose() const override;
  void drop_transpose() override { blocked_->drop_transpose(); }
  cl::Buffer factors(std::size_t first, std::size_t count) override;
  std::optional<std::string> variant() const override { return blocked_->variant(); }

  /// What was uploaded are L and U, with these interchanges (1-based), and not A.
  void adopt_factors(const std::vector<int>& ipiv) { set_ipiv(ipiv); }
  /// Blocked::solve with these factors: without interchanges.
  void solve_triangles(Surface& x, Op op) { blocked_->solve(lu_, x, op); }
  /// Blocked::multiply; 0 on images. The factors are lost.
  std::uint64_t multiply();

 private:
  void take_matrix(const cl::Buffer& columns, std::size_t first, std::size_t count) override;
  void take_rows(const cl::Buffer& rows, std::size_t first, std::size_t count) override;
  bool takes_rows() const override { return true; }
  Surface& target() { return images_ ? images_->src : lu_; }
  /// ipiv of the factorization, 1-based; empty without pivoting.
  const std::vector<int>& ipiv();
  void set_ipiv(std::optional<std::vector<int>> ipiv);
  /// P B or, with Op::transpose, P' B.
  cl::Buffer permuted(const cl::Buffer& b, Op op, std::size_t columns);

  Surface lu_;  // A, if there are no images; L and U after factor()
  std::unique_ptr<Blocked> blocked_;
  std::optional<PingPong> images_;        // A, with --storage image
  std::optional<int> info_;               // once it has been read
  std::optional<std::vector<int>> ipiv_;  // likewise
  cl::Buffer order_, inverse_order_;      // of P and P', once they have been asked for
  std::optional<Surface> columns_;        // of apply_inverse(), kept for the next one
};

}  // namespace lugpu
