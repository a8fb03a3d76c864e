#include "solve/system_solver.hpp"

#include <limits>

#include "accuracy/refine.hpp"
#include "base/error.hpp"
#include "matrix/norms.hpp"
#include "matrix/rounded.hpp"

namespace lugpu {
namespace {

// Whether A in double fits on the device besides what the method needs.
bool has_room_for_residuals(const Device& device, const Method& method, const Problem& problem) {
  const Size& size = problem.size;
  try {
    require_fits(device, size.n, size.n, Precision::double_precision, Storage::buffer, 1, 0);
  } catch (const Unsupported&) {
    return false;
  }
  return has_room_beside(device, method, size_on_device(problem), problem.dense,
                         residual_bytes(size.n, size.nrhs));
}

}  // namespace

SystemSolver::SystemSolver(DeviceContext& context, const Method& method, const Problem& problem)
    : context_(context),
      method_(method),
      problem_((require_possible(context.device(), method, problem), problem)),
      residuals_on_device_(problem.solve.refine == Refine::mixed &&
                           has_room_for_residuals(context.device(), method, problem)),
      first_(method.make(context, size_on_device(problem), problem.dense)) {}

void SystemSolver::upload(const MatrixView& a, const MatrixView& b, double largest) {
  a_ = a;
  b_ = b;
  largest_ = largest;
  if (!is_mixed()) {
    first_->upload(a, b);
    return;
  }
  norm_inf_ = norm_inf(a);
  overflows_ = largest > static_cast<double>(std::numeric_limits<float>::max());
  if (overflows_) return;
  first_->upload(a, Matrix(a.rows(), 0));
  residual_ = make_residual();
}

void SystemSolver::upload_again(const std::optional<cl::Buffer>& columns) {
  const bool fell_back = double_ != nullptr;
  double_.reset();
  if (overflows_) return;
  if (fell_back) residual_ = make_residual();
  if (!columns) {
    first_->upload(*a_, is_mixed() ? MatrixView(Matrix(a_->rows(), 0)) : *b_);
    return;
  }
  const Size& size = first_->size();
  first_->take_columns(*columns, 0, size.n + size.nrhs);
  context_.queue().finish();
}

void SystemSolver::factor() {
  refinement_ = {};
  if (overflows_) {
    if (!fall_back("A overflows single precision")) {
      throw Unsupported("A overflows single precision, and " + context_.device().name +
                            " cannot factor it in double",
                        {"equilibrate", ""});
    }
    return;
  }
  first_->factor();
  if (is_mixed() && first_->outcome().info > 0) {
    fall_back("a pivot is exactly zero in single precision");
  }
}

void SystemSolver::solve() {
  if (problem_.solve.refine == Refine::none) {
    first_->solve();
    return;
  }
  const Matrix b = widened(*b_);
  x_ = Matrix(b.rows(), b.cols());
  if (problem_.solve.refine == Refine::fixed) {
    first_->solve();
    first_->download(x_.view());
    refinement_ = refine(*a_, b, x_, problem_.dense.precision, inverse_by(*first_, largest_));
    return;
  }
  if (!double_) {
    refinement_ = solve_mixed(residual_, norm_inf_, b, x_, inverse_by(*first_, largest_));
    if (refinement_.converged || !fall_back("refinement did not converge")) return;
  }
  if (double_->outcome().info > 0) return;
  double_->solve();
  double_->download(x_.view());
}

template <typename T>
void SystemSolver::download(View<T> x) {
  if (problem_.solve.refine == Refine::none) {
    first_->download(x);
  } else {
    for (const double value : x_.values()) {
      if (overflows<T>(value)) refuse_overflow<T>(value);
    }
    assign(x, x_.values().data());
  }
}
template void SystemSolver::download(View<float>);
template void SystemSolver::download(View<double>);

ApplyInverse SystemSolver::inverse() {
  return [this](Matrix& x, Op op) { inverse_by(current(), largest_)(x, op); };
}

std::optional<Refinement> SystemSolver::refinement() const {
  if (problem_.solve.refine == Refine::none) return std::nullopt;
  Refinement report = refinement_;
  report.residuals_on_device = residuals_on_device_;
  return report;
}

Residual SystemSolver::make_residual() {
  return residuals_on_device_ ? device_residual(context_, *a_) : host_residual(*a_);
}

bool SystemSolver::fall_back(const std::string& because) {
  refinement_.converged = false;
  DenseOptions in_double = problem_.dense;
  in_double.precision = Precision::double_precision;
  try {
    method_.require_room(context_.device(), problem_.size, in_double);
  } catch (const Unsupported&) {
    return false;
  }
  refinement_.fallback = because;
  residual_ = nullptr;  // makes room
  double_ = method_.make(context_, problem_.size, in_double);
  double_->upload(*a_, *b_);
  double_->factor();
  return true;
}

}  // namespace lugpu
