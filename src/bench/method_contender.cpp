#include "bench/method_contender.hpp"

#include <array>
#include <utility>

#include "base/error.hpp"
#include "bench/case_memory.hpp"
#include "dense/lu_blocked.hpp"

namespace lugpu {

MethodContender::MethodContender(DeviceContext& context, const Method& method,
                                 const Problem& problem, double largest)
    : context_(context),
      method_(method),
      problem_(problem),
      largest_(largest),
      solver_(context, method, problem) {}

void MethodContender::upload(const MatrixView& a, const MatrixView& b) {
  a_ = a;
  b_ = b;
  solver_.upload(a, b, largest_);
  is_fresh_ = true;
}

void MethodContender::reset() {
  if (!std::exchange(is_fresh_, true)) solver_.upload_again(copy_);
}

// The copy is not part of what a solution takes. Mixed precision has A in double on the device, if
// there is room for that; what overflows single precision is not copied either: it factors that in
// double.
void MethodContender::prepare() {
  const bool b_too = solver_.first().size().nrhs > 0;
  const bool overflows = problem_.solve.refine == Refine::mixed && largest_ > 0x1p127;
  if (overflows || bytes_of_copy(context_.device(), method_, problem_) == 0) return;
  const std::array<MatrixView, 2> parts = {*a_, *b_};
  copy_ = lugpu::upload(context_, {parts.data(), b_too ? 2u : 1u}, problem_.dense.precision);
  context_.queue().finish();
}

Matrix MethodContender::download() {
  Matrix x(problem_.size.n, problem_.size.nrhs);
  solver_.download(x.view());
  return x;
}

void MethodContender::factor() {
  is_fresh_ = false;
  solver_.factor();
}

std::uint64_t MethodContender::multiply() {
  is_fresh_ = false;
  auto* blocked = dynamic_cast<LuBlocked*>(&solver_.current());
  return blocked ? blocked->multiply() : 0;
}

ApplyInverse MethodContender::apply_inverse() {
  DenseFactorization& factors = solver_.current();
  return factors.keeps_factors() && factors.can_transpose() ? solver_.inverse() : ApplyInverse();
}

std::optional<Matrix> MethodContender::lu() {
  if (!solver_.current().keeps_factors()) return std::nullopt;
  Matrix lu(problem_.size.n, problem_.size.n);
  solver_.current().download_factors(0, lu.view());
  return lu;
}

std::optional<double> MethodContender::growth(double a_max) {
  if (!solver_.current().keeps_factors()) return std::nullopt;
  return pivot_growth(solver_.current(), a_max);
}

std::optional<Matrix> MethodContender::inverse() {
  if (solver_.current().keeps_factors()) return std::nullopt;
  copy_.reset();  // whose room it may need; it is the last that is asked for
  try {
    return solver_.current().inverse(*a_);
  } catch (const Unsupported&) {
    return std::nullopt;  // there is no room beside the system
  }
}

}  // namespace lugpu
