#include "solve/system_solver.hpp"

#include <limits>

#include "accuracy/refine.hpp"
#include "base/error.hpp"
#include "matrix/norms.hpp"
#include "matrix/rounded.hpp"
#include "solve/memory.hpp"

namespace lugpu {
namespace {

std::string failure_of(FactorArithmetic factors, int info) {
  if (info == kLargeElement) return "an element of L is above 256";
  const bool half = factors == FactorArithmetic::half_products;
  const bool local = factors == FactorArithmetic::local_pivots;
  return std::string("a pivot is exactly zero ") + (half    ? "with products in half precision"
                                                    : local ? "in the rows that it is chosen from"
                                                            : "in single precision");
}

// Half products are those of a vendor's kernels. Local pivots may turn out not to serve, and then
// there must be room for factors in single beside them, lest the system be taken for singular.
Problem possible_problem(const DeviceContext& context, const Method& method,
                         const Problem& problem) {
  require_possible(context.device(), method, problem);
  Problem possible = problem;
  if (!context.settings().vendor && possible.dense.shortcut == Shortcut::half_products) {
    possible.dense.shortcut = Shortcut::none;
  }
  if (possible.dense.shortcut == Shortcut::local_pivots) {
    DenseOptions exact = possible.dense;
    exact.shortcut = Shortcut::none;
    const Size size = size_on_device(problem);
    const std::uint64_t others = bytes_on_device(context.device(), method, size, possible.dense) +
                                 bytes_of_refinement(problem.size.n, problem.size.nrhs);
    if (!has_room_beside(context.device(), method, size, exact, others)) {
      possible.dense.shortcut = Shortcut::none;
    }
  }
  return possible;
}

}  // namespace

std::uint64_t bytes_of_refinement(std::size_t n, std::size_t nrhs) {
  return DoubleMatrix::bytes(n) + device_columns_bytes(n, nrhs);
}

bool has_room_for_double(const Device& device, const Method& method, const Problem& problem) {
  const Size& size = problem.size;
  try {
    require_fits(device, size.n, size.n, Precision::double_precision, Storage::buffer, 1, 0);
  } catch (const Unsupported&) {
    return false;
  }
  return has_room_beside(device, method, size_on_device(problem), problem.dense,
                         bytes_of_refinement(size.n, size.nrhs));
}

SystemSolver::SystemSolver(DeviceContext& context, const Method& method, const Problem& problem)
    : context_(context),
      method_(method),
      problem_(possible_problem(context, method, problem)),
      has_double_(problem.solve.refine == Refine::mixed &&
                  has_room_for_double(context.device(), method, problem)),
      factors_(first_factors(problem_.dense)),
      first_(method.make(context, size_on_device(problem), problem_.dense)) {}

void SystemSolver::upload(const MatrixView& a, const MatrixView& b, double largest) {
  a_ = a;
  b_ = b;
  largest_ = largest;
  columns_.reset();
  later_.reset();
  a_in_double_.reset();
  if (!is_mixed()) {
    first_->upload(a, b);
    return;
  }
  load_double(problem_.dense.shortcut != Shortcut::none && !problem_.dense.shared());
  overflows_ = largest > static_cast<double>(std::numeric_limits<float>::max());
  if (!has_double_) norm_inf_ = lugpu::norm_inf(a);
  if (!overflows_) load(*first_);
}

void SystemSolver::load_double(bool rough_first) {
  if (!has_double_) return;
  a_in_double_.emplace(context_, *a_, rough_first);
}

// Where several devices share A, each gets its part from the host.
void SystemSolver::load(DenseFactorization& factors) {
  const std::size_t nrhs = factors.size().nrhs;
  if (!a_in_double_ || problem_.dense.shared()) {
    factors.upload(*a_, nrhs > 0 ? *b_ : MatrixView(Matrix(a_->rows(), 0)));
    return;
  }
  const Precision precision = factors.options().precision;
  const TakePiece take = [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
    factors.take_columns(piece, first, count);
  };
  if (factors.options().shortcut == Shortcut::none) {
    a_in_double_->give_columns(precision, take);
  } else {
    a_in_double_->give_rough_columns(take);
  }
  if (nrhs > 0) {
    upload_columns(context_, {&*b_, 1}, precision,
                   [&](const cl::Buffer& piece, std::size_t first, std::size_t count) {
                     factors.take_columns(piece, factors.size().n + first, count);
                   });
  }
  context_.queue().finish();
}

void SystemSolver::upload_again(const std::optional<cl::Buffer>& columns) {
  if (later_) columns_.reset();
  later_.reset();
  if (!a_in_double_) load_double(false);
  if (overflows_) return;
  if (!columns) return load(*first_);
  const Size& size = first_->size();
  first_->take_columns(*columns, 0, size.n + size.nrhs);
  context_.queue().finish();
}

void SystemSolver::factor() {
  refinement_ = {};
  factors_ = first_factors(problem_.dense);
  if (overflows_) {
    if (!descend_to_double("A overflows single precision")) {
      throw Unsupported("A overflows single precision, and " + context_.device().name +
                            " cannot factor it in double",
                        {"equilibrate", ""});
    }
    return;
  }
  first_->factor();
  if (!is_mixed()) return;
  const int info = first_->info();
  if (info > 0 || info == kLargeElement) descend(failure_of(factors_, info));
}

RefinedColumns& SystemSolver::columns() {
  if (!columns_) {
    if (a_in_double_) norm_inf_ = a_in_double_->norm_inf();
    columns_ = a_in_double_ ? device_columns(*a_in_double_, *b_, current())
                            : host_columns(host_residual(*a_), widened(*b_),
                                           inverse_by(current(), largest_));
  }
  return *columns_;
}

Refinement SystemSolver::refine_columns() {
  RefinedColumns& by = columns();  // and with them the norm of A
  return solve_mixed(by, norm_inf_);
}

void SystemSolver::solve() {
  if (problem_.solve.refine == Refine::none) {
    first_->solve();
    return;
  }
  x_ = Matrix(b_->rows(), b_->cols());
  if (problem_.solve.refine == Refine::fixed) {
    first_->solve();
    first_->download(x_.view());
    refinement_ =
        refine(*a_, widened(*b_), x_, problem_.dense.precision, inverse_by(*first_, largest_));
    return;
  }
  while (factors_ != FactorArithmetic::double_precision) {
    const Refinement tried = refine_columns();
    refinement_.steps = tried.steps;
    refinement_.converged = tried.converged;
    if (tried.converged || !descend("refinement did not converge")) {
      if (!columns_) refine_columns();  // other factors were tried in between
      x_ = columns().solution();
      return;
    }
    if (info() > 0) return;
  }
  current().solve();
  current().download(x_.view());
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
  report.residuals_on_device = has_double_;
  report.factors = factors_;
  return report;
}

bool SystemSolver::descend(const std::string& because) {
  switch (factors_) {
    case FactorArithmetic::half_products:
    case FactorArithmetic::local_pivots:
      return descend_to_single(because);
    case FactorArithmetic::single_precision:
      return descend_to_double(because);
    case FactorArithmetic::double_precision:
      break;
  }
  return false;
}

// In double where there is no room for a second matrix in single.
bool SystemSolver::descend_to_single(const std::string& because) {
  DenseOptions options = problem_.dense;
  options.shortcut = Shortcut::none;
  const auto [rows, n, nrhs] = problem_.size;
  const std::uint64_t others = has_double_ ? bytes_of_refinement(n, nrhs) : 0;
  if (!has_room_beside(context_.device(), method_, first_->size(), options,
                       bytes_of_first() + others)) {
    return descend_to_double(because);
  }
  refinement_.given_up.push_back({factors_, because});
  factors_ = FactorArithmetic::single_precision;
  factor_anew(first_->size(), options);
  const int info = current().info();
  if (info == 0 || descend_to_double(failure_of(factors_, info))) return true;
  if (first_->info() != 0) return true;  // what single says of A is more
  columns_.reset();
  later_.reset();
  factors_ = first_factors(problem_.dense);
  refinement_.given_up.pop_back();
  return false;
}

// From A in double on the device, where there is room for that beside both factors.
bool SystemSolver::descend_to_double(const std::string& because) {
  refinement_.converged = false;
  DenseOptions options = problem_.dense;
  options.precision = Precision::double_precision;
  options.shortcut = Shortcut::none;
  const Device& device = context_.device();
  try {
    method_.require_room(device, problem_.size, options);
  } catch (const Unsupported&) {
    return false;
  }
  refinement_.given_up.push_back({factors_, because});
  refinement_.fallback = because;
  factors_ = FactorArithmetic::double_precision;
  columns_.reset();
  if (!has_room_beside(device, method_, problem_.size, options,
                       bytes_of_first() + DoubleMatrix::bytes(problem_.size.n))) {
    a_in_double_.reset();
  }
  factor_anew(problem_.size, options);
  return true;
}

void SystemSolver::factor_anew(const Size& size, const DenseOptions& options) {
  columns_.reset();
  later_.reset();
  later_ = method_.make(context_, size, options);
  load(*later_);
  later_->factor();
}

std::uint64_t SystemSolver::bytes_of_first() const {
  return bytes_on_device(context_.device(), method_, first_->size(), problem_.dense);
}

}  // namespace lugpu
