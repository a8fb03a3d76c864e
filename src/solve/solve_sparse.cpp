#include "solve/solve_sparse.hpp"

#include <algorithm>
#include <cmath>

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

  // Where dense methods take less than a second, they are the safest.
  SparsePlan make() const {
    constexpr double kSmall = 2048, kLargest = 16384;
    const StructuredMethod* banded = possible("banded");
    const double band =
        static_cast<double>(2 * facts_.lower_bandwidth + facts_.upper_bandwidth + 1);
    const double lower = static_cast<double>(facts_.lower_bandwidth);
    const double band_flops = 2 * n_ * lower * band, dense_flops = 2.0 / 3 * n_ * n_ * n_;
    constexpr double kMostFlops = 2e12, kWorth = 0.1;
    const bool fits = band * n_ * word() <= bytes_;
    const std::string bandwidths = std::to_string(facts_.lower_bandwidth) + " below and " +
                                   std::to_string(facts_.upper_bandwidth) +
                                   " above the diagonal at most";
    if (banded && fits && band_flops <= kMostFlops && band_flops <= kWorth * dense_flops) {
      return {banded, options_, "the entries are " + bandwidths};
    }
    if (n_ <= kSmall) return {nullptr, options_, "A is small enough to be made dense"};
    const StructuredMethod* cg = possible("cg");
    const double entries = static_cast<double>(a_.values().size());
    if (cg && n_ * n_ * word() > bytes_) {
      return {cg, options_, "A is symmetric with a positive diagonal, and too large to be dense"};
    }
    if (n_ <= kLargest && n_ * n_ * word() <= bytes_) {
      return {nullptr, options_,
              percent(entries, n_ * n_) + " of A are entries, which says " +
                  "nothing of iterations, and it fits when it is made dense"};
    }
    if (cg) return {cg, options_, "A is symmetric with a positive diagonal, and large"};
    if (banded && fits) return {banded, options_, "the entries are " + bandwidths};
    if (n_ * n_ * word() <= bytes_)
      return {nullptr, options_, "no method for sparse matrices has room for it or can take it"};
    throw Unsupported("A is not symmetric with a positive diagonal, as cg needs it, its band of " +
                          bandwidths + " does not fit the device, nor does it as a dense matrix",
                      {"method", "gauss-seidel"});
  }

 private:
  double word() const { return static_cast<double>(element_size(options_.precision)); }

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

double norm_2(const double* x, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i] * x[i];
  return std::sqrt(sum);
}

// Sets the checks and the diagnosis.
void judge(const SparsePlan& plan, const Sparse& a, const Matrix& b, const Matrix& x,
           const Iteration& iteration, Solution<double>& solution) {
  const Matrix r = residual(a, x, b);
  double most = 0;
  for (std::size_t j = 0; j < b.cols(); ++j) {
    most = larger(most, relative(norm_2(r.column(j), r.rows()), norm_2(b.column(j), b.rows())));
  }
  Checks& checks = solution.checks;
  checks.residual = most;
  checks.berr = backward_errors(r, residual_sizes(a, x, b));
  const double eps = epsilon(plan.options.precision);
  const bool direct = plan.method->direct;
  if (direct) checks.solve_ratio = solve_ratio(norm_1(a), x, r, eps);
  Diagnosis& diagnosis = solution.diagnosis;
  diagnosis.status = Status::failed;
  if (!iteration.converged && direct) diagnosis.status = Status::singular;
  const std::string attained = "the true residual is " + short_number(most);
  if (!iteration.reason.empty()) {
    diagnosis.reason = {iteration.reason + "; " + attained, Remedy{"method", "lu-blocked"}};
  } else if (direct && !(*checks.solve_ratio < kSolveRatioLimit)) {
    diagnosis.reason = {"solve_ratio is " + short_number(*checks.solve_ratio) + ", not under " +
                            short_number(kSolveRatioLimit),
                        Remedy{"method", "lu-blocked"}};
  } else if (!direct && !(most <= plan.options.rule.tolerance * kResidualSlack)) {
    diagnosis.reason = {
        attained + ", above the tolerance of " + short_number(plan.options.rule.tolerance),
        Remedy{"tolerance", short_number(2 * most)}};
  } else {
    diagnosis.status = Status::ok;
  }
}

}  // namespace

SparsePlan make_plan(const Options& options, const Device& device, const Sparse& a) {
  StructuredOptions structured;
  structured.precision = options.precision.value_or(
      device.double_precision ? Precision::double_precision : Precision::single_precision);
  structured.storage = options.storage.value_or(automatic_storage(device));
  structured.rule = {options.tolerance, options.iterations};
  const char* dense = dense_option(options);
  if (options.method == "auto") {
    if (dense) return {nullptr, structured, std::string("--") + dense + " is for dense methods"};
    return Choice(device, a, structured).make();
  }
  const StructuredMethod* method = structured_method(options.method);
  const bool also_dense = std::any_of(methods().begin(), methods().end(),
                                      [&](const Method& m) { return options.method == m.name; });
  if (!method || also_dense) return {nullptr, structured, ""};
  if (dense) {
    throw InputError(options.method + " is for sparse matrices and knows no --" + dense,
                     {"method", "lu"});
  }
  method->require(a, structured);
  return {method, structured, ""};
}

Solution<double> solve(DeviceContext& context, const SparsePlan& plan, const Sparse& a,
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
    solver = plan.method->make(context, a, plan.options);
    context.queue().finish();
  });
  solution.phases_s["upload"] = timed([&] { solver->upload(b, Matrix(b.rows(), b.cols())); });
  Iteration iteration;
  solution.phases_s["solve"] = timed([&] { iteration = solver->solve(); });
  set_counters(context.timeline(), solution.counters);
  Matrix x;
  solution.phases_s["download"] = timed([&] { x = solver->download(); });
  solution.iterations = iteration.iterations;
  solution.residuals = iteration.residuals;
  judge(plan, a, b, x, iteration, solution);
  if (solution.diagnosis.status != Status::singular) solution.x = std::move(x.values());
  return solution;
}

}  // namespace lugpu
