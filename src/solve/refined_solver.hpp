// Any method that keeps its factors, with iterative refinement around it.
#pragma once

#include "dense/solver.hpp"
#include "opencl/context.hpp"
#include "operators/residual.hpp"
#include "solve/methods.hpp"

namespace lugpu {

/// Solves with the factors of a method, then refines (refine.hpp). With Refine::mixed, residuals
/// are computed on the device if that has doubles, and room for A in double; and A is factored in
/// double after all, as dsgesv does, where single precision overflows, meets a zero pivot or does
/// not lead to X: from then on those are the factors.
class RefinedSolver : public Solver {
 public:
  /// problem.refine is fixed or mixed. Throws Unsupported if the method keeps no factors.
  RefinedSolver(DeviceContext& context, const Method& method, const Problem& problem);

  void upload(const Matrix& a, const Matrix& b) override;
  void reset() override;
  void factor() override;
  Outcome outcome() override { return current().outcome(); }
  void solve() override;
  Matrix download() override { return x_; }
  void apply_inverse(Matrix& x, Op op) override { current().apply_inverse(x, op); }
  std::optional<Matrix> lu() override { return current().lu(); }
  std::optional<std::string> variant() const override { return first_->variant(); }
  std::optional<Refinement> refinement() const override;

 private:
  Solver& current() { return double_ ? *double_ : *first_; }
  Residual make_residual();
  /// Factors in double, `because` single precision failed. False if the device cannot.
  bool fall_back(const std::string& because);

  DeviceContext& context_;
  const Method& method_;
  Problem problem_;
  std::unique_ptr<Solver> first_, double_;
  const Matrix* a_ = nullptr;
  Matrix b_, x_;
  double norm_inf_ = 0;     // of A
  ApplyInverse inverse_;    // by first_
  bool overflows_ = false;  // single precision
  bool residuals_on_device_;
  Residual residual_;  // in mixed precision, until it falls back: A leaves the device then
  Refinement refinement_;
};

/// The solver of the method, in a RefinedSolver where the problem asks for refinement.
std::unique_ptr<Solver> make_solver(DeviceContext& context, const Method& method,
                                    const Problem& problem);

/// Throws Unsupported, before anything is allocated, if the device cannot hold the problem or the
/// method cannot refine.
void require_possible(const Device& device, const Method& method, const Problem& problem);

}  // namespace lugpu
