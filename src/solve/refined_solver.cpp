#include "solve/refined_solver.hpp"

#include <algorithm>
#include <limits>

#include "accuracy/refine.hpp"
#include "base/error.hpp"
#include "matrix/norms.hpp"
#include "opencl/surface.hpp"

namespace lugpu {
namespace {

Problem in_double(Problem problem) {
  problem.precision = Precision::double_precision;
  return problem;
}

// Whether A in double fits on the device besides what the method needs.
bool has_room_for_residuals(const Device& device, const Method& method, const Problem& problem) {
  const std::uint64_t bytes = residual_bytes(problem.n, problem.nrhs);
  Device rest = device;
  rest.global_memory -= std::min(bytes, rest.global_memory);
  try {
    require_fits(device, problem.n, problem.n, Precision::double_precision, Storage::buffer, 1, 0);
    method.require_room(rest, problem);
  } catch (const Unsupported&) {
    return false;
  }
  return true;
}

}  // namespace

RefinedSolver::RefinedSolver(DeviceContext& context, const Method& method, const Problem& problem)
    : context_(context),
      method_(method),
      problem_((require_possible(context.device(), method, problem), problem)),
      first_(method.make(context, problem)),
      residuals_on_device_(problem.refine == Refine::mixed &&
                           has_room_for_residuals(context.device(), method, problem)) {}

void RefinedSolver::upload(const Matrix& a, const Matrix& b) {
  a_ = &a;
  b_ = b;
  inverse_ = inverse_by(*first_, a);
  if (problem_.refine == Refine::fixed) {
    first_->upload(a, b);
    return;
  }
  // B stays on the host: only residuals go to the device.
  norm_inf_ = norm_inf(a);
  const auto largest = static_cast<double>(std::numeric_limits<float>::max());
  overflows_ = norm_max(a) > largest;
  if (overflows_) return;
  first_->upload(a, Matrix(b.rows(), b.cols()));
  residual_ = make_residual();
}

void RefinedSolver::reset() {
  const bool fell_back = double_ != nullptr;
  double_.reset();
  if (overflows_) return;
  if (fell_back) residual_ = make_residual();
  first_->reset();
}

void RefinedSolver::factor() {
  refinement_ = {};
  if (overflows_) {
    if (!fall_back("A overflows single precision")) {
      throw Unsupported("A overflows single precision, and " + context_.device().name +
                        " cannot factor it in double; --equilibrate may help.");
    }
    return;
  }
  first_->factor();
  if (problem_.refine == Refine::mixed && first_->outcome().info > 0) {
    fall_back("a pivot is exactly zero in single precision");
  }
}

void RefinedSolver::solve() {
  if (problem_.refine == Refine::fixed) {
    first_->solve();
    x_ = first_->download();
    refinement_ = refine(*a_, b_, x_, problem_.precision, inverse_);
    return;
  }
  if (!double_) {
    refinement_ = solve_mixed(residual_, norm_inf_, b_, x_, inverse_);
    if (refinement_.converged || !fall_back("refinement did not converge")) return;
  }
  if (double_->outcome().info > 0) return;
  double_->solve();
  x_ = double_->download();
}

std::optional<Refinement> RefinedSolver::refinement() const {
  Refinement report = refinement_;
  report.residuals_on_device = residuals_on_device_;
  return report;
}

Residual RefinedSolver::make_residual() {
  return residuals_on_device_ ? device_residual(context_, *a_) : host_residual(*a_);
}

bool RefinedSolver::fall_back(const std::string& because) {
  refinement_.converged = false;
  const Problem problem = in_double(problem_);
  try {
    method_.require_room(context_.device(), problem);
  } catch (const Unsupported&) {
    return false;
  }
  refinement_.fallback = because;
  residual_ = nullptr;  // makes room
  double_ = method_.make(context_, problem);
  double_->upload(*a_, b_);
  double_->factor();
  return true;
}

std::unique_ptr<Solver> make_solver(DeviceContext& context, const Method& method,
                                    const Problem& problem) {
  if (problem.refine == Refine::none) return method.make(context, problem);
  return std::make_unique<RefinedSolver>(context, method, problem);
}

void require_possible(const Device& device, const Method& method, const Problem& problem) {
  if (problem.refine != Refine::none && !method.keeps_factors) {
    throw Unsupported(std::string(method.name) +
                      " keeps no factors to refine X with; use --method lu-blocked or lu.");
  }
  method.require_room(device, problem);
}

}  // namespace lugpu
