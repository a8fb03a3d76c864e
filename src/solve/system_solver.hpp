// A method on a device, with iterative refinement around it where that is asked for.
#pragma once

#include "operators/residual.hpp"
#include "solve/methods.hpp"

namespace lugpu {

/// Solves one system with the factors of a method, then refines (refine.hpp). With Refine::mixed,
/// residuals are computed on the device if that has doubles, and room for A in double; and A is
/// factored in double after all, as dsgesv does, where single precision overflows, meets a zero
/// pivot or does not lead to X: from then on those are the factors.
class SystemSolver {
 public:
  /// Throws as require_possible().
  SystemSolver(DeviceContext& context, const Method& method, const Problem& problem);

  /// A, n x n, and B, n x nrhs, which must stay as they are until the last solve(). largest: max
  /// |a_ij|. Throws InputError if a value overflows the precision.
  void upload(const MatrixView& a, const MatrixView& b, double largest);
  /// What was uploaded, again, from a buffer of [A | B] in the precision of the factors; of A alone
  /// with Refine::mixed. Without a buffer from the host.
  void upload_again(const std::optional<cl::Buffer>& columns);
  /// Factors A (or reduces [A | B]).
  void factor();
  /// Of the last factor().
  Outcome outcome() { return current().outcome(); }
  /// X from the factors; only after a factor() with info = 0. With Refine::mixed it may factor anew
  /// in double, so that outcome() changes.
  void solve();
  template <typename T>
  void download(View<T> x);

  /// The factors that were used last.
  DenseFactorization& current() { return double_ ? *double_ : *first_; }
  const DenseFactorization& first() const { return *first_; }
  /// inv(A) by the factors that are used last when it is called; only for a method that keeps them.
  ApplyInverse inverse();
  /// Of the last solve(). Absent without refinement.
  std::optional<Refinement> refinement() const;

 private:
  bool is_mixed() const { return problem_.solve.refine == Refine::mixed; }
  Residual make_residual();
  /// Factors in double, `because` single precision failed. False if the device cannot.
  bool fall_back(const std::string& because);

  DeviceContext& context_;
  const Method& method_;
  Problem problem_;
  bool residuals_on_device_;
  std::unique_ptr<DenseFactorization> first_, double_;
  std::optional<MatrixView> a_, b_;
  double largest_ = 0;      // max |a_ij|
  double norm_inf_ = 0;     // of A, for mixed precision
  bool overflows_ = false;  // single precision
  Residual residual_;       // in mixed precision, until it falls back: A leaves the device then
  Matrix x_;                // refined
  Refinement refinement_;
};

}  // namespace lugpu
