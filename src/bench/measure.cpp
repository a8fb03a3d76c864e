#include "bench/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "accuracy/condition.hpp"
#include "accuracy/determinant.hpp"
#include "accuracy/equilibrate.hpp"
#include "accuracy/error_bounds.hpp"
#include "accuracy/in_range.hpp"
#include "accuracy/refine.hpp"
#include "base/error.hpp"
#include "bench/statistics.hpp"
#include "matrix/generate.hpp"
#include "solve/refined_solver.hpp"

namespace lugpu {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <typename Action>
double timed(Action&& action) {
  const auto start = Clock::now();
  action();
  return seconds_since(start);
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

// A matrix of order n > 1 whose first pivot is in the second row and column, so that rows and
// columns are interchanged.
Matrix with_interchange(std::size_t n) {
  Matrix a(n, n);
  for (std::size_t i = 0; i < n; ++i) a(i, i) = 1;
  a(0, 1) = 2;
  a(1, 0) = 3, a(1, 1) = 5;
  return a;
}

// The order of a small system that launches every kernel that the problem does: if the problem has
// more than one block of the method, or of substitution (32), the small one has too.
std::size_t order_to_build(const Problem& problem) {
  const std::size_t more_than_a_block = std::max<std::size_t>(problem.nb, 32) + 1;
  return std::clamp<std::size_t>(problem.n, 2, more_than_a_block);
}

// Builds every kernel of the method by solving a small system; some drivers compile at first
// launch.
double build(DeviceContext& context, const Method& method, Problem problem) {
  problem.n = order_to_build(problem);
  const auto build_kernels = [&] {
    const auto solver = make_solver(context, method, problem);
    const Matrix a = with_interchange(problem.n);
    solver->upload(a, Matrix(problem.n, problem.nrhs));
    solver->factor();
    solver->outcome();
    solver->solve();
    solver->lu();
    if (!method.keeps_factors) return;
    Matrix x(problem.n, 1);
    solver->apply_inverse(x, Op::none);
    solver->apply_inverse(x, Op::transpose);
  };
  return timed([&] {
    build_kernels();
    if (problem.refine != Refine::mixed || !context.device().double_precision) return;
    // What mixed precision falls back to.
    problem.refine = Refine::none;
    problem.precision = Precision::double_precision;
    build_kernels();
  });
}

// What is timed: the factorization, and in mixed precision all that X needs to reach double's
// accuracy.
void run(Solver& solver, const Problem& problem) {
  solver.factor();
  if (problem.refine == Refine::mixed && solver.outcome().info == 0) solver.solve();
}

// Does `work` while commands are timed on the device.
template <typename Work>
void with_profiling(DeviceContext& context, Work&& work) {
  context.set_profiling(true);
  try {
    work();
  } catch (...) {
    context.abandon_profiling();
    throw;
  }
  context.set_profiling(false);
}

// Not what the fallback from mixed precision adds: transfers and read-backs.
bool is_part_of_factor(const std::string& phase) {
  return phase == "pivot_search" || phase == "interchange" || phase == "panel" || phase == "update";
}

// One more factorization, timed on the device, for the phases and the counters.
void profile(DeviceContext& context, Solver& solver, Result& result) {
  solver.reset();
  context.timeline().clear();
  with_profiling(context, [&] { result.phases_s["factor"] = timed([&] { solver.factor(); }); });
  const Timeline& timeline = context.timeline();
  result.device_times_s.push_back(timeline.span());
  for (const auto& [phase, seconds] : timeline.by_phase()) {
    if (is_part_of_factor(phase)) result.phases_s[phase] = seconds;
  }
  result.counters["kernel_launches"] = timeline.kernel_launches();
  result.counters["readbacks"] = timeline.readbacks();
  result.counters["bytes_counted"] = timeline.bytes();
}

// Multiply-adds per second of the products alone, the median of a few; absent without products.
std::optional<double> product_rate(Solver& solver) {
  constexpr int kRuns = 5;
  const std::uint64_t multiply_adds = solver.multiply();
  if (multiply_adds == 0) return std::nullopt;
  std::vector<double> times;
  for (int i = 0; i < kRuns; ++i) times.push_back(timed([&] { solver.multiply(); }));
  return static_cast<double>(multiply_adds) / median(times);
}

// What is solved, and the form in which it is factored.
struct System {
  const Matrix& a;  // as given
  const Matrix& b;
  const Matrix& factored;  // A, or R A C
  Equilibration scaling;   // R and C
  Equilibration advice;    // what they should be
  ApplyInverse inverse;    // of `factored`, by the factors; empty if there are none
};

// L and scale * U.
Matrix scaled_factors(Matrix lu, double factor) {
  for (std::size_t j = 0; j < lu.cols(); ++j) scale(lu.column(j), j + 1, factor);
  return lu;
}

void check_condition(const Matrix& a, double eps, const ApplyInverse& inverse, Checks& checks) {
  const Condition condition = estimate_condition(a, eps, inverse);
  checks.rcond = condition.rcond;
  if (!condition.rcond) checks.rcond_at_most = condition.at_most;
}

// eps: of X; factors_eps: of the factors. thorough: what takes n^3 operations too, and the
// condition by the factors that the host then has.
void check_factors(Solver& solver, const System& system, double eps, double factors_eps,
                   const Outcome& outcome, bool thorough, Checks& checks) {
  const InRange a(system.factored);
  const bool regular = outcome.info == 0;
  if (auto lu = solver.lu()) {
    checks.growth = pivot_growth(system.factored, *lu);
    if (!thorough) {
      if (regular && system.inverse) {
        check_condition(a.matrix(), factors_eps, a.inverse(system.inverse), checks);
      }
      return;
    }
    const Matrix in_range = scaled_factors(std::move(*lu), a.scale());
    checks.factor_ratio = lu_factor_ratio(a.matrix(), in_range, outcome.ipiv, outcome.jpiv, eps);
    if (!regular || !std::isfinite(*checks.factor_ratio)) return;
    check_condition(a.matrix(), factors_eps, inverse_by_lu(in_range, outcome.ipiv, outcome.jpiv),
                    checks);
  } else if (thorough && regular) {
    if (auto inverse = solver.inverse()) {
      scale(inverse->values().data(), inverse->values().size(), 1 / a.scale());
      checks.factor_ratio = inverse_ratio(a.matrix(), *inverse, eps);
      check_condition(
          a.matrix(), factors_eps, [&](Matrix& x, Op op) { x = multiply(*inverse, op, x); },
          checks);
    }
  }
}

void check_solution(const System& system, Matrix x, double eps, double factors_eps,
                    Checks& checks) {
  const InRange a(system.a);
  Matrix b = system.b;
  for (std::size_t j = 0; j < x.cols(); ++j) {
    const double of_x = safe_scale(column_norm_max(x, j));
    scale(x.column(j), x.rows(), of_x);
    scale(b.column(j), b.rows(), of_x);
    scale(b.column(j), b.rows(), a.scale());
  }
  checks.solve_ratio = solve_ratio(a.matrix(), x, b, eps);
  checks.hpl_residual = hpl_residual(a.matrix(), x, b, eps);
  const Matrix r = residual(a.matrix(), x, b);
  const Matrix sizes = residual_sizes(a.matrix(), x, b);
  checks.berr = backward_errors(r, sizes);
  if (!system.inverse) return;
  // Factors that say nothing about the condition say nothing about the error.
  checks.ferr = checks.rcond
                    ? forward_error_bounds(a.matrix(), r, sizes, x, factors_eps,
                                           a.inverse(system.scaling.inverse(system.inverse)))
                    : std::vector<double>(x.cols(), INFINITY);
}

// Of the factors that were used last: mixed precision may have fallen back to double.
Precision factors_precision(const Result& result) {
  const bool fell_back = result.refinement && !result.refinement->fallback.empty();
  return fell_back ? Precision::double_precision : result.what.problem.precision;
}

// Names the pivot that only rounding may have kept from being zero, and says what follows.
void warn_of_small_pivot(const Outcome& outcome, const Matrix& a, Result& result) {
  const double eps = epsilon(factors_precision(result));
  if (outcome.pivots.empty()) return;
  const auto smaller = [](double x, double y) { return std::abs(x) < std::abs(y); };
  const auto least = std::min_element(outcome.pivots.begin(), outcome.pivots.end(), smaller);
  const double threshold = eps * static_cast<double>(a.rows()) * norm_max(a);
  if (std::abs(*least) > threshold) return;
  result.warnings.push_back("pivot " + std::to_string(least - outcome.pivots.begin() + 1) + " is " +
                            short_number(*least) + ", so near zero that " +
                            (result.what.problem.pivot == Pivot::none
                                 ? "X may be wrong without pivoting; use --pivot partial."
                                 : "it may be a rounding error: A is singular or nearly so."));
}

void warn_of_bad_scaling(const System& system, Result& result) {
  const Equilibration& advice = system.advice;
  if (!advice.helps() || system.scaling.helps()) return;
  result.warnings.push_back("A is badly scaled (rowcnd " + short_number(advice.rowcnd) +
                            ", colcnd " + short_number(advice.colcnd) + ", largest element " +
                            short_number(advice.amax) +
                            "); --equilibrate may make X more accurate.");
}

// With partial pivoting, the growth of matrices in practice hardly ever exceeds their order
// (Higham, Accuracy and Stability, 9.4); small orders are allowed more.
bool is_large_growth(const Checks& checks, std::size_t n) {
  return checks.growth && !(*checks.growth <= static_cast<double>(std::max<std::size_t>(n, 100)));
}

// A safer pivoting, or refinement.
std::string cure_for_growth(const Problem& problem) {
  if (problem.pivot == Pivot::none) return "use --pivot partial";
  if (problem.pivot == Pivot::full) return "use --refine";
  return problem.refine == Refine::none ? "use --pivot full or --refine" : "use --pivot full";
}

// Where the factors cannot tell how good X is: because A is ill-conditioned, or because they are
// not A's.
void warn_of_unknown_accuracy(Result& result) {
  const Checks& checks = result.checks;
  if (checks.rcond || !checks.rcond_at_most) return;
  const Precision precision = factors_precision(result);
  const bool in_double = precision == Precision::double_precision;
  const std::string known = short_number(*checks.rcond_at_most);
  if (*checks.rcond_at_most > std::sqrt(epsilon(precision))) {
    result.warnings.push_back(
        std::string("the factors are too inaccurate to tell how many digits of X are right; ") +
        (in_double ? cure_for_growth(result.what.problem) : "use --precision double") + ".");
  } else {
    result.warnings.push_back(
        "A is ill-conditioned, its reciprocal condition number is at most " + known +
        (in_double ? ": X may have no correct digit; --pivot full with --refine is the best that "
                     "double precision can do."
                   : ": X may have no correct digit; use --precision double."));
  }
}

void warn_of_refinement(const Refinement& refinement, Result& result) {
  if (refinement.converged) return;
  result.warnings.push_back(
      refinement.fallback.empty()
          ? "refinement did not converge, and the device cannot factor A in double precision."
          : refinement.fallback +
                ", so that A was factored in double precision; use --precision "
                "double for matrices like it.");
}

void warn_of_growth(Result& result) {
  const Problem& problem = result.what.problem;
  if (!is_large_growth(result.checks, problem.n)) return;
  result.warnings.push_back("pivot growth is " + short_number(*result.checks.growth) +
                            "; X may have lost about log10 of that in digits; " +
                            cure_for_growth(problem) + ".");
}

std::string breakdown(const Result& result, int info) {
  const Problem& problem = result.what.problem;
  const bool in_double = factors_precision(result) == Precision::double_precision;
  const std::string pivot = "pivot " + std::to_string(info) + " is exactly zero";
  return problem.pivot == Pivot::none ? pivot + " without pivoting; use --pivot partial."
         : in_double                  ? "A is singular: " + pivot + "."
                                      : "A is singular in single precision: " + pivot + ".";
}

std::string check_failure(const Problem& problem, const Checks& checks) {
  std::string reason = checks.failure();
  if (checks.growth && std::isfinite(*checks.growth)) {
    reason += ", growth " + short_number(*checks.growth);
  }
  if (problem.pivot == Pivot::none) reason += " without pivoting";
  if (problem.pivot == Pivot::none || is_large_growth(checks, problem.n)) {
    reason += "; " + cure_for_growth(problem);
  }
  return reason + ".";
}

// The inverse of the matrix that was factored, refined as X is; some columns at a time, so that it
// takes little room on the device.
Matrix inverse_by_columns(const System& system, const Result& result) {
  constexpr std::size_t kColumns = 256;
  const std::size_t n = system.factored.rows();
  const Refine refinement = result.what.problem.refine;
  const Precision precision = factors_precision(result);
  const double norm = norm_inf(system.factored);
  const Residual residual = host_residual(system.factored);
  Matrix inverse(n, n);
  for (std::size_t first = 0; first < n; first += kColumns) {
    const std::size_t columns = std::min(kColumns, n - first);
    Matrix identity(n, columns);
    for (std::size_t j = 0; j < columns; ++j) identity(first + j, j) = 1;
    Matrix part = identity;
    if (refinement == Refine::mixed && precision == Precision::single_precision) {
      solve_mixed(residual, norm, identity, part, system.inverse);
    } else {
      system.inverse(part, Op::none);
      if (refinement == Refine::fixed) {
        refine(system.factored, identity, part, precision, system.inverse);
      }
    }
    std::copy(part.values().begin(), part.values().end(), inverse.column(first));
  }
  return inverse;
}

// inv(A), with a warning if it is inaccurate.
Matrix inverse_of(Solver& solver, const System& system, double eps, Result& result) {
  Matrix inverse = system.inverse ? inverse_by_columns(system, result) : solver.inverse().value();
  const double ratio = inverse_ratio(system.factored, inverse, eps);
  if (!(ratio < kFactorRatioLimit)) {
    result.warnings.push_back(
        "the inverse is inaccurate: norm1(I - A inv(A)) / (n norm1(A) "
        "norm1(inv(A)) eps) is " +
        short_number(ratio) + ", not under 30; " + cure_for_growth(result.what.problem) + ".");
  }
  return system.scaling.inverse(std::move(inverse));
}

// det(A) = det(R A C) / (det(R) det(C))
Determinant determinant_of(const Outcome& outcome, const Equilibration& scaling) {
  Determinant det = determinant(outcome);
  for (const double factor : scaling.r) det.multiply(1 / factor);
  for (const double factor : scaling.c) det.multiply(1 / factor);
  return det;
}

// X, after the last factorization. Absent if that met a zero pivot, or one in double precision that
// mixed precision falls back to.
std::optional<Matrix> solution_of(Solver& solver, Result& result) {
  if (solver.outcome().info > 0) return std::nullopt;
  Matrix x;
  result.phases_s["solve"] = timed([&] { solver.solve(); });
  if (solver.outcome().info > 0) return std::nullopt;
  result.phases_s["download"] = timed([&] { x = solver.download(); });
  return x;
}

// The phases come from the samples or, where there are none, from the one profiled run.
void add_up_times(Result& result) {
  const bool mixed = result.what.problem.refine == Refine::mixed;
  std::map<std::string, double>& phases = result.phases_s;
  if (result.times_s.empty()) {
    result.times_s.push_back(phases["factor"] + (mixed ? phases["solve"] : 0));
  }
  if (!mixed) phases["factor"] = median(result.times_s);
  if (phases.contains("download")) {
    phases["total"] = phases["upload"] + phases["factor"] + phases["solve"] + phases["download"];
  }
}

void judge(const System& system, const Outcome& outcome, Result& result) {
  const Problem& problem = result.what.problem;
  const bool passed = result.checks.failure().empty();
  result.status = passed ? Status::ok : Status::failed;
  if (!passed) result.reason = check_failure(problem, result.checks);
  if (result.refinement) warn_of_refinement(*result.refinement, result);
  warn_of_small_pivot(outcome, system.factored, result);
  warn_of_unknown_accuracy(result);
  warn_of_bad_scaling(system, result);
  if (passed && problem.refine == Refine::none) warn_of_growth(result);
}

// After the last timed factorization: solve, download, check, judge.
void conclude(Solver& solver, const System& system, const Effort& effort, Result& result,
              Answers* answers) {
  const Problem& problem = result.what.problem;
  const double eps = epsilon(working_precision(problem));
  std::optional<Matrix> x = solution_of(solver, result);
  const Outcome outcome = solver.outcome();
  result.refinement = solver.refinement();
  result.checks.info = outcome.info;
  add_up_times(result);
  // The factors of mixed precision need not be good ones.
  const bool thorough = effort.check_factors && problem.refine != Refine::mixed;
  const double factors_eps = epsilon(factors_precision(result));
  check_factors(solver, system, eps, factors_eps, outcome, thorough, result.checks);
  if (answers && answers->wants_determinant) {
    result.determinant = determinant_of(outcome, system.scaling);
  }
  if (!x) {
    result.status = Status::failed;
    result.reason = breakdown(result, outcome.info);
    warn_of_bad_scaling(system, result);
    return;
  }
  x = system.scaling.solution(std::move(*x));
  check_solution(system, *x, eps, factors_eps, result.checks);
  judge(system, outcome, result);
  if (!answers) return;
  answers->x = std::move(*x);
  if (answers->wants_inverse) answers->inverse = inverse_of(solver, system, eps, result);
}

std::unique_ptr<Solver> make(const Baseline& baseline, DeviceContext* context,
                             const Problem& problem) {
  return baseline.on_device ? baseline.on_device->make(*context, problem) : baseline.make(problem);
}

// Seconds of one factorization of a random matrix, after one that loads code.
double pilot(const Baseline& baseline, DeviceContext* context, const Problem& problem) {
  const auto solver = make(baseline, context, problem);
  solver->upload(random_matrix(problem.n, problem.n, 1), Matrix(problem.n, problem.nrhs));
  solver->factor();
  solver->reset();
  return timed([&] { solver->factor(); });
}

// Estimated seconds of one factorization, from that of a smaller system; 0 for a small one. A small
// system overestimates where it leaves the device idle or other programs delay its threads, so
// larger ones are tried while they take only a little of the time limit.
double estimate(const Baseline& baseline, DeviceContext* context, const Problem& problem,
                double limit) {
  constexpr std::size_t kFirst = 256, kStep = 2;
  constexpr double kShare = 0.05;
  double seconds = 0;
  for (std::size_t n = kFirst; n < problem.n; n *= kStep) {
    Problem smaller = problem;
    smaller.n = n;
    const double ratio = static_cast<double>(problem.n) / static_cast<double>(n);
    const double one = pilot(baseline, context, smaller);
    seconds = one * ratio * ratio * ratio;
    if (seconds <= limit || one * kStep * kStep * kStep > kShare * limit) break;
  }
  return seconds;
}

}  // namespace

// Counts the time of a piece of work on a case, and stops it when the case has none left.
class Measurement::Turn {
 public:
  explicit Turn(Measurement& of) : of_(of) {
    if (of_.method_) of_.context_->set_deadline(of_.effort_.timeout_s - of_.used_s_, of_.pace_);
  }
  ~Turn() {
    of_.used_s_ += seconds_since(start_);
    if (of_.method_) of_.pace_ = of_.context_->pace();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Measurement& of_;
  Clock::time_point start_ = Clock::now();
};

Measurement::Measurement(DeviceContext& context, const Method& method, const Case& what,
                         const Matrix& a, const Matrix& b, const Effort& effort)
    : context_(&context), method_(&method), a_(a), b_(b), effort_(effort) {
  result_.what = what;
  advice_ = equilibration(a, what.problem.precision);
  if (what.problem.equilibrate) {
    scaling_ = advice_;
    result_.equilibration = scaling_;
  } else {
    scaling_ = into_range(a.rows(), advice_.amax, what.problem.precision);
  }
  if (scaling_.helps()) scaled_ = scaling_.matrix(a);
  context.set_deadline(INFINITY);  // not that of an earlier case
  require_possible(context.device(), method, what.problem);
  if (effort.build_first) result_.phases_s["build"] = build(context, method, what.problem);
  solver_ = make_solver(context, method, what.problem);
  warm_up();
}

Measurement::Measurement(const Baseline& baseline, DeviceContext* context, const Case& what,
                         const Matrix& a, const Matrix& b, const Effort& effort)
    : context_(context), a_(a), b_(b), effort_(effort) {
  result_.what = what;
  const double seconds = estimate(baseline, context, what.problem, effort.timeout_s);
  if (seconds > effort.timeout_s) {
    result_.status = Status::skipped;
    result_.reason = "one run would take about " + short_number(seconds) +
                     " s, more than --timeout " + short_number(effort.timeout_s) + ".";
    return;
  }
  solver_ = make(baseline, context, what.problem);
  warm_up();
}

void Measurement::warm_up() {
  const Turn turn(*this);
  const auto start = Clock::now();
  result_.phases_s["upload"] =
      timed([&] { solver_->upload(factored(), scaling_.right_hand_sides(b_)); });
  solver_->prepare();
  result_.variant = solver_->variant();
  for (int i = 0; i < effort_.warmup && seconds_since(start) < effort_.timeout_s / 4; ++i) {
    solver_->reset();
    run(*solver_, result_.what.problem);
  }
}

bool Measurement::wants_sample() const {
  if (!solver_) return false;
  const bool asked =
      samples_ >= static_cast<std::size_t>(effort_.runs) && sampled_s_ >= effort_.min_time_s;
  // The second half of the time is for the checks.
  const bool late = samples_ > 0 && used_s_ > effort_.timeout_s / 2;
  return !asked && !late;
}

void Measurement::sample() {
  const Turn turn(*this);
  solver_->reset();
  keep(timed([&] { run(*solver_, result_.what.problem); }));
}

void Measurement::keep(double seconds) {
  sampled_s_ += seconds;
  if (samples_++ % samples_apart_ != 0) return;
  std::vector<double>& times = result_.times_s;
  if (times.size() == kMostSamples) {
    for (std::size_t i = 0; i < kMostSamples / 2; ++i) times[i] = times[2 * i];
    times.resize(kMostSamples / 2);
    samples_apart_ *= 2;
  }
  times.push_back(seconds);
}

Result Measurement::finish(Answers* answers) {
  if (!solver_) return std::move(result_);
  const Turn turn(*this);
  ApplyInverse inverse;
  if (method_) {
    profile(*context_, *solver_, result_);
    const Problem& problem = result_.what.problem;
    const WorkModel work = method_->work(problem.n);
    result_.counters["elements_updated"] = work.elements_updated;
    result_.counters["bytes_model"] = work.bytes * element_size(problem.precision) / sizeof(float);
    if (method_->keeps_factors) inverse = inverse_by(*solver_, factored());
  } else if (const auto by_device = solver_->profiled_factor()) {
    result_.device_times_s.push_back(*by_device);
  }
  conclude(*solver_, {a_, b_, factored(), scaling_, advice_, inverse}, effort_, result_, answers);
  if (effort_.time_products && result_.status == Status::ok) {
    result_.product_multiply_adds_per_s = product_rate(*solver_);
  }
  return std::move(result_);
}

Result measure(DeviceContext& context, const Method& method, const Case& what, const Matrix& a,
               const Matrix& b, const Effort& effort, Answers* answers) {
  Measurement measurement(context, method, what, a, b, effort);
  while (measurement.wants_sample()) measurement.sample();
  return measurement.finish(answers);
}

}  // namespace lugpu
