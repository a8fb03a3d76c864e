#include "solve/solve_sparse.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "accuracy/checks.hpp"
#include "accuracy/error_bounds.hpp"
#include "base/error.hpp"
#include "operators/product.hpp"
#include "solve/diagnosis.hpp"
#include "solve/methods.hpp"
#include "solve/solve.hpp"

namespace lugpu {
namespace {

// The option of dense methods that was given, as its remedy would be named; null if none was.
const char* dense_option(const Options& options) {
  if (options.pivot != Pivot::partial) return "pivot";
  if (options.refine != Refine::none) return "refine";
  if (options.equilibrate) return "equilibrate";
  if (options.determinant) return "det";
  if (options.inverse) return "inverse";
  if (options.texel) return "texel";
  if (options.nb > 0) return "nb";
  return options.schedule == Schedule::paper ? "schedule" : nullptr;
}

// Whether every |a(i, i)| is at least the sum of the others in its row, up to rounding, and one is
// more. If A is symmetric with a positive diagonal too, it is positive definite or, where parts of
// it are not coupled, semidefinite.
bool is_dominant(const Sparse& a) {
  constexpr double kRounding = 1e-12;
  bool strictly = false;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    double diagonal = 0, others = 0;
    for (auto k = a.row_begin()[i]; k < a.row_begin()[i + 1]; ++k) {
      const auto place = static_cast<std::size_t>(k);
      const bool is_diagonal = static_cast<std::size_t>(a.columns()[place]) == i;
      (is_diagonal ? diagonal : others) += std::abs(a.values()[place]);
    }
    if (!(others <= diagonal * (1 + kRounding))) return false;
    strictly = strictly || others < diagonal * (1 - kRounding);
  }
  return strictly;
}

std::string percent(double part, double whole) {
  return short_number(100 * part / whole) + " %";
}

// What "auto" weighs.
class Choice {
 public:
  Choice(const Device& device, const Sparse& a, const StructuredOptions& options)
      : a_(a), options_(options), facts_(facts(a)), n_(static_cast<double>(a.rows())) {
    bytes_ = static_cast<double>(std::min(device.global_memory / 4, device.max_allocation));
  }

  // Direct methods need no tolerance, and cannot fail to converge: they are taken where they take
  // a moment, or where nothing is known of iterations.
  SparsePlan make() const {
    if (const auto plan = direct_in_a_moment()) return *plan;
    const StructuredMethod* cg = possible("cg");
    const bool dominant = is_dominant(a_);
    const std::optional<SparsePlan> direct = direct_in_a_while();
    if (cg && dominant) {
      SparsePlan plan{cg, options_,
                      "A is symmetric and diagonally dominant, and would take long to factor"};
      if (direct) plan.otherwise = direct->method ? direct->method : possible("lu-blocked");
      return plan;
    }
    if (direct) return *direct;
    if (cg) {
      return {cg, options_,
              "A is symmetric with a positive diagonal, and too large to be factored"};
    }
    const StructuredMethod* gauss_seidel = possible("gauss-seidel");
    if (gauss_seidel && dominant) {
      return {gauss_seidel, options_, "A is diagonally dominant, and too large to be factored"};
    }
    throw Unsupported(
        "A is not symmetric with a positive diagonal, as cg needs it, and too large "
        "to be factored: " +
            band_text(),
        {"method", "gauss-seidel"});
  }

 private:
  // Some seconds on two cores, and less than a second; the least that a band must save.
  static constexpr double kWhile = 2e12, kMoment = 1e11, kWorth = 0.1;
  static constexpr double kSmallDense = 2048, kLargestDense = 16384;

  double word() const { return static_cast<double>(element_size(options_.precision)); }

  // Interchanges of rows widen the upper triangle by the lower bandwidth.
  double band() const {
    return static_cast<double>(2 * facts_.lower_bandwidth + facts_.upper_bandwidth + 1);
  }
  double band_flops() const {
    return 2 * n_ * static_cast<double>(facts_.lower_bandwidth) * band();
  }
  bool is_banded(double most_flops) const {
    return possible("banded") && band() * n_ * word() <= bytes_ && band_flops() <= most_flops;
  }
  bool fits_dense() const { return n_ * n_ * word() <= bytes_; }
  std::string band_text() const {
    return "the entries are " + std::to_string(facts_.lower_bandwidth) + " below and " +
           std::to_string(facts_.upper_bandwidth) + " above the diagonal at most";
  }

  SparsePlan banded() const { return {possible("banded"), options_, band_text()}; }

  std::optional<SparsePlan> direct_in_a_moment() const {
    const double dense_flops = 2.0 / 3 * n_ * n_ * n_;
    if (is_banded(std::min(kMoment, kWorth * dense_flops))) return banded();
    if (n_ > kSmallDense) return {};
    return SparsePlan{nullptr, options_, "A is small enough to be made dense"};
  }

  std::optional<SparsePlan> direct_in_a_while() const {
    const bool dense = n_ <= kLargestDense && fits_dense();
    const double dense_flops = 2.0 / 3 * n_ * n_ * n_;
    if (is_banded(dense ? std::min(kWhile, kWorth * dense_flops) : kWhile)) return banded();
    if (!dense) return {};
    const double entries = static_cast<double>(a_.values().size());
    return SparsePlan{nullptr, options_,
                      percent(entries, n_ * n_) + " of A are entries, which says " +
                          "nothing of iterations, and it fits when it is made dense"};
  }

  const StructuredMethod* possible(const char* name) const {
    const StructuredMethod* method = structured_method(name);
    if (!method) return nullptr;
    try {
      method->require(a_, options_);
      return method;
    } catch (const Error&) {
      return nullptr;
    }
  }

  const Sparse& a_;
  const StructuredOptions& options_;
  SparsityFacts facts_;
  double n_, bytes_;
};

// ||x||_2 without overflow.
double norm_2(const double* x, std::size_t n) {
  double largest = 0, sum = 0;
  for (std::size_t i = 0; i < n; ++i) largest = larger(largest, std::abs(x[i]));
  if (largest == 0 || !std::isfinite(largest)) return largest;
  const double scale = std::exp2(-std::ilogb(largest));
  for (std::size_t i = 0; i < n; ++i) sum += x[i] * scale * (x[i] * scale);
  return std::sqrt(sum) / scale;
}

void check(const SparsePlan& plan, const Sparse& a, const Matrix& b, const Matrix& x,
           Checks& checks) {
  const Matrix r = residual(a, x, b);
  double most = 0;
  for (std::size_t j = 0; j < b.cols(); ++j) {
    most = larger(most, relative(norm_2(r.column(j), r.rows()), norm_2(b.column(j), b.rows())));
  }
  checks.residual = most;
  checks.berr = backward_errors(r, residual_sizes(a, x, b));
  const double eps = epsilon(plan.options.precision);
  if (plan.method->direct) checks.solve_ratio = solve_ratio(norm_1(a), x, r, eps);
}

// What may help if X fails, where it can.
std::optional<Remedy> dense_method(const SparsePlan& plan, const Sparse& a) {
  try {
    structured_method("lu-blocked")->require(a, plan.options);
    return Remedy{"method", "lu-blocked"};
  } catch (const Unsupported&) {
    return {};
  }
}

// Why X is not what was asked for; absent if it is. checks: empty if they were not wanted.
std::optional<Warning> failure(const SparsePlan& plan, const Sparse& a, const Iteration& iteration,
                               const Checks& checks) {
  const bool is_checked = checks.residual.has_value();
  const std::string attained =
      is_checked ? "the true residual is " + short_number(*checks.residual) : "";
  if (!iteration.converged) {
    return Warning{iteration.reason + (is_checked ? "; " + attained : ""), dense_method(plan, a)};
  }
  if (!is_checked) return {};
  if (plan.method->direct) {
    if (*checks.solve_ratio < kSolveRatioLimit) return {};
    return Warning{"solve_ratio is " + short_number(*checks.solve_ratio) + ", not under " +
                       short_number(kSolveRatioLimit),
                   dense_method(plan, a)};
  }
  const double tolerance = plan.options.rule.tolerance;
  if (*checks.residual <= tolerance * kResidualSlack) return {};
  return Warning{attained + ", above the tolerance of " + short_number(tolerance),
                 Remedy{"tolerance", short_number(2 * *checks.residual)}};
}

// A factorization that met a zero leaves no X to be checked.
Diagnosis singular(const SparsePlan& plan, const Iteration& iteration) {
  const bool is_single = plan.options.precision == Precision::single_precision;
  return {Status::singular,
          Warning{std::string("A is singular") + (is_single ? " in single precision" : "") +
                      ": pivot " + std::to_string(iteration.info) + " is exactly zero",
                  std::nullopt},
          {}};
}

// Throws InputError for limits that no iteration can keep.
void require_rule(const StoppingRule& rule) {
  constexpr std::size_t kMost = 1'000'000'000;
  if (rule.iterations > kMost) {
    throw InputError("The iterations are more than " + std::to_string(kMost) + ".");
  }
  if (!(rule.tolerance >= 0)) throw InputError("The tolerance is not a positive number.");
}

Solution<double> solve_once(DeviceContext& context, const SparsePlan& plan, const Sparse& a,
                            const Matrix& b) {
  Solution<double> solution;
  solution.method = plan.method->name;
  solution.why = plan.why;
  solution.precision = plan.options.precision;
  solution.n = a.rows();
  solution.nrhs = b.cols();
  context.timeline().clear();
  std::unique_ptr<PreparedSolver> solver;
  solution.phases_s["setup"] = timed([&] {
    StructuredOptions prepared = plan.options;
    prepared.nrhs = b.cols();
    solver = plan.method->make(context, a, prepared);
    context.queue().finish();
  });
  solution.phases_s["upload"] = timed(
      [&] { solver->upload(b, plan.start.rows() > 0 ? plan.start : Matrix(b.rows(), b.cols())); });
  Iteration iteration;
  solution.phases_s["solve"] = timed([&] { iteration = solver->solve(); });
  set_counters(context.timeline(), solution.counters);
  Matrix x;
  solution.phases_s["download"] = timed([&] { x = solver->download(); });
  solution.iterations = iteration.iterations;
  solution.residuals = iteration.residuals;
  solution.checks.info = iteration.info;
  if (iteration.info > 0) {
    solution.diagnosis = singular(plan, iteration);
    return solution;
  }
  if (plan.check) check(plan, a, b, x, solution.checks);
  Diagnosis& diagnosis = solution.diagnosis;
  diagnosis.reason = failure(plan, a, iteration, solution.checks);
  diagnosis.status = diagnosis.reason ? Status::failed
                     : plan.check     ? Status::ok
                                      : Status::unchecked;
  solution.x = std::move(x.values());
  return solution;
}

}  // namespace

StructuredOptions structured_options(const Options& options, const Device& device) {
  StructuredOptions structured;
  structured.precision = options.precision.value_or(
      device.double_precision ? Precision::double_precision : Precision::single_precision);
  structured.storage = options.storage.value_or(automatic_storage(device));
  structured.rule = {options.tolerance, options.iterations};
  require_rule(structured.rule);
  return structured;
}

SparsePlan make_plan(const Options& options, const Device& device, const Sparse& a) {
  const StructuredOptions structured = structured_options(options, device);
  const char* dense = dense_option(options);
  if (options.method == "auto") {
    if (dense) return {nullptr, structured, std::string(dense) + " is an option of dense methods"};
    SparsePlan plan = Choice(device, a, structured).make();
    plan.check = options.check;
    return plan;
  }
  const StructuredMethod* method = structured_method(options.method);
  const bool also_dense = std::any_of(methods().begin(), methods().end(),
                                      [&](const Method& m) { return options.method == m.name; });
  if (!method || also_dense) return {nullptr, structured, ""};
  if (dense) {
    throw InputError(options.method + " is for sparse matrices and has no option " + dense,
                     {"method", "lu"});
  }
  method->require(a, structured);
  return {method, structured, "", options.check};
}

Solution<double> solve(DeviceContext& context, const SparsePlan& plan, const Sparse& a,
                       const Matrix& b) {
  Solution<double> solution = solve_once(context, plan, a, b);
  if (solution.status() != Status::failed || !plan.otherwise) return solution;
  SparsePlan direct = plan;
  direct.method = plan.otherwise;
  direct.why += "; but " + solution.method + " failed: " + solution.diagnosis.reason->reason;
  try {
    return solve_once(context, direct, a, b);
  } catch (const Unsupported&) {
    return solution;
  }
}

}  // namespace lugpu
