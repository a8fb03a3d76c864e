// A method on a device, with iterative refinement around it where that is asked for.
#pragma once

#include "accuracy/refined_columns.hpp"
#include "solve/methods.hpp"

namespace lugpu {

/// Bytes that mixed precision takes on the device besides the factors, at most.
std::uint64_t bytes_of_refinement(std::size_t n, std::size_t nrhs);
/// Whether the device has doubles, and room for those besides what the method needs.
bool has_room_for_double(const Device& device, const Method& method, const Problem& problem);

/// Solves one system with the factors of a method, then refines (refine.hpp). With Refine::mixed, A
/// is loaded in double and refinement is done on the device, if that has doubles, and room for A in
/// double, otherwise on the host. Factors that overflow, meet a zero pivot or do not lead to X are
/// given up, with the reason, for the next ones of a ladder: with products in half precision, where
/// the problem begins with those; in single; in double, as dsgesv does. From then on those are the
/// factors.
class SystemSolver {
 public:
  /// Throws as require_possible().
  SystemSolver(DeviceContext& context, const Method& method, const Problem& problem);

  /// A, n x n, and B, n x nrhs, which must stay as they are until the last solve() or, if that is
  /// never called, as long as this. largest: max |a_ij|. Throws InputError if a value overflows the
  /// precision. Factors that are less exact than those in single (Shortcut) are of A rounded to 21
  /// significant bits on a GPU that has A in double, and may begin when it returns; the rest of A
  /// follows.
  void upload(const MatrixView& a, const MatrixView& b, double largest);
  /// Seconds for which later calls have waited for the rest of A.
  double waited_for_upload() const { return a_in_double_ ? a_in_double_->waited() : 0; }
  /// What was uploaded, again, from a buffer of [A | B] in the precision of the factors; of A alone
  /// with Refine::mixed. Without a buffer from A in double on the device, or from the host.
  void upload_again(const std::optional<cl::Buffer>& columns);
  /// Factors A (or reduces [A | B]).
  void factor();
  /// Of the last factor().
  Outcome outcome() { return current().outcome(); }
  int info() { return current().info(); }
  /// X from the factors; only after a factor() with info = 0. With Refine::mixed it may factor anew
  /// in double, so that outcome() changes.
  void solve();
  template <typename T>
  void download(View<T> x);
  /// Factors anew as the next step of the ladder says, `because` the factors at hand failed, for
  /// another solve(). False, and the factors at hand stay, if there is none, or the device has no
  /// room for it.
  bool descend(const std::string& because);

  /// The factors that were used last.
  DenseFactorization& current() { return later_ ? *later_ : *first_; }
  const DenseFactorization& first() const { return *first_; }
  /// inv(A) by the factors that are used last when it is called; only for a method that keeps them.
  ApplyInverse inverse();
  /// Of the last solve(). Absent without refinement.
  std::optional<Refinement> refinement() const;

 private:
  bool is_mixed() const { return problem_.solve.refine == Refine::mixed; }
  /// A in double to the device, if that has room for it.
  void load_double(bool rough_first);
  /// A as it was uploaded, for these factors; B too if they are for it.
  void load(DenseFactorization& factors);
  RefinedColumns& columns();
  Refinement refine_columns();
  bool descend_to_single(const std::string& because);
  bool descend_to_double(const std::string& because);
  /// later_ with these options, A being loaded.
  void factor_anew(const Size& size, const DenseOptions& options);
  std::uint64_t bytes_of_first() const;

  DeviceContext& context_;
  const Method& method_;
  Problem problem_;
  bool has_double_;           // mixed precision has A in double on the device
  FactorArithmetic factors_;  // of current()
  std::unique_ptr<DenseFactorization> first_, later_;
  std::optional<MatrixView> a_, b_;
  double largest_ = 0;                       // max |a_ij|
  double norm_inf_ = 0;                      // of A, for mixed precision
  bool overflows_ = false;                   // single precision
  std::optional<DoubleMatrix> a_in_double_;  // until the factors in double need its room
  std::unique_ptr<RefinedColumns> columns_;  // of mixed precision, for current()
  Matrix x_;                                 // refined, once it is on the host
  Refinement refinement_;
};

}  // namespace lugpu
