#include "bench/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "bench/statistics.hpp"
#include "error.hpp"
#include "matrix/generate.hpp"

namespace lugpu {
namespace {

using Clock = std::chrono::steady_clock;

// Enough for a median, however short a run is.
constexpr std::size_t kMostRuns = 100;

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

double epsilon(Precision precision) {
  return precision == Precision::double_precision ? kEpsilonDouble : kEpsilonSingle;
}

// A system whose pivot is the last element, so that every kernel of a method is launched.
Matrix smallest_interchange() {
  Matrix a(2, 2);
  a(0, 0) = 1, a(0, 1) = 2;
  a(1, 0) = 3, a(1, 1) = 5;
  return a;
}

// Builds every kernel of the method by solving a tiny system; some drivers compile at first launch.
double build(DeviceContext& context, const Method& method, Problem problem) {
  problem.n = 2;
  problem.nrhs = 1;
  return timed([&] {
    const auto solver = method.make(context, problem);
    solver->upload(smallest_interchange(), Matrix(2, 1));
    solver->factor();
    solver->solve();
    solver->lu();
  });
}

// The samples of one case.
void sample(Solver& solver, const Effort& effort, Clock::time_point start, Result& result) {
  double total = 0;
  const auto enough = [&] {
    const std::size_t runs = result.times_s.size();
    const bool asked = static_cast<int>(runs) >= effort.runs && total >= effort.min_time_s;
    // The second half of the time is for the checks.
    const bool late = runs > 0 && seconds_since(start) > effort.timeout_s / 2;
    return asked || late || runs >= std::max<std::size_t>(kMostRuns, effort.runs);
  };
  for (int i = 0; i < effort.warmup && seconds_since(start) < effort.timeout_s / 4; ++i) {
    solver.factor();
    solver.reset();
  }
  while (!enough()) {
    if (!result.times_s.empty()) solver.reset();
    result.times_s.push_back(timed([&] { solver.factor(); }));
    total += result.times_s.back();
  }
}

// Times commands on the device while it lives.
class Profiling {
 public:
  explicit Profiling(DeviceContext& context) : context_(context) { context_.set_profiling(true); }
  ~Profiling() { context_.set_profiling(false); }
  Profiling(const Profiling&) = delete;
  Profiling& operator=(const Profiling&) = delete;

 private:
  DeviceContext& context_;
};

// One more factorization, timed on the device, for the phases and the counters. Where there was
// none before, its wall-clock time is the only one.
void profile(DeviceContext& context, Solver& solver, Result& result) {
  solver.reset();
  context.timeline().clear();
  const Profiling profiling(context);
  const double seconds = timed([&] { solver.factor(); });
  if (result.times_s.empty()) result.times_s.push_back(seconds);
  const Timeline& timeline = context.timeline();
  result.device_times_s.push_back(timeline.span());
  result.phases_s.merge(timeline.by_phase());
  result.counters["kernel_launches"] = timeline.kernel_launches();
  result.counters["readbacks"] = timeline.readbacks();
  result.counters["bytes_counted"] = timeline.bytes();
}

void check_factors(Solver& solver, const Matrix& a, double eps, const Outcome& outcome,
                   bool thorough, Checks& checks) {
  if (const auto lu = solver.lu()) {
    if (thorough) checks.factor_ratio = lu_factor_ratio(a, *lu, outcome.ipiv, outcome.jpiv, eps);
    checks.growth = pivot_growth(a, *lu);
    checks.rcond = rcond_from_lu(*lu, norm_1(a));
  } else if (thorough && outcome.info == 0) {
    if (const auto inverse = solver.inverse()) {
      checks.factor_ratio = inverse_ratio(a, *inverse, eps);
      checks.rcond = 1 / (norm_1(a) * norm_1(*inverse));
    }
  }
}

// Names the pivot that rounding may have kept from being zero, and says what follows.
void warn_of_near_singularity(const Outcome& outcome, const Matrix& a, double eps, Result& result) {
  if (outcome.pivots.empty()) return;
  const auto smaller = [](double x, double y) { return std::abs(x) < std::abs(y); };
  const auto least = std::min_element(outcome.pivots.begin(), outcome.pivots.end(), smaller);
  const double threshold = eps * static_cast<double>(a.rows()) * norm_max(a);
  if (std::abs(*least) <= threshold) {
    result.warnings.push_back(
        "pivot " + std::to_string(least - outcome.pivots.begin() + 1) + " is " +
        short_number(*least) + ", so near zero that " +
        (result.what.problem.pivot == Pivot::none
             ? "X may be wrong without pivoting; use --pivot partial."
             : "it may be a rounding error: A is singular, or as good as singular."));
  }
  if (result.checks.rcond && *result.checks.rcond < eps) {
    result.warnings.push_back("A is ill-conditioned, its reciprocal condition number is about " +
                              short_number(*result.checks.rcond) +
                              ": X may have no correct digit.");
  }
}

std::string breakdown(const Problem& problem, int info) {
  const std::string pivot = "pivot " + std::to_string(info) + " is exactly zero";
  return problem.pivot == Pivot::none ? pivot + " without pivoting; use --pivot partial."
         : problem.precision == Precision::single_precision
             ? "A is singular in single precision: " + pivot + "."
             : "A is singular: " + pivot + ".";
}

std::string check_failure(const Problem& problem, const Checks& checks) {
  std::string reason = checks.failure();
  if (checks.growth && std::isfinite(*checks.growth)) {
    reason += ", growth " + short_number(*checks.growth);
  }
  if (problem.pivot == Pivot::none) reason += " without pivoting; use --pivot partial";
  return reason + ".";
}

// After the last timed factorization: solve, download, check, judge.
void conclude(Solver& solver, const Matrix& a, const Matrix& b, const Effort& effort,
              Result& result, Matrix* x) {
  const Problem& problem = result.what.problem;
  const double eps = epsilon(problem.precision);
  const Outcome outcome = solver.outcome();
  result.checks.info = outcome.info;
  result.phases_s["factor"] = median(result.times_s);
  if (outcome.info > 0) {
    check_factors(solver, a, eps, outcome, effort.check_factors, result.checks);
    result.status = Status::failed;
    result.reason = breakdown(problem, outcome.info);
    return;
  }
  Matrix solution;
  result.phases_s["solve"] = timed([&] { solver.solve(); });
  result.phases_s["download"] = timed([&] { solution = solver.download(); });
  double total = 0;
  for (const char* phase : {"upload", "factor", "solve", "download"})
    total += result.phases_s[phase];
  result.phases_s["total"] = total;

  result.checks.solve_ratio = solve_ratio(a, solution, b, eps);
  result.checks.hpl_residual = hpl_residual(a, solution, b, eps);
  check_factors(solver, a, eps, outcome, effort.check_factors, result.checks);
  const bool passed = result.checks.failure().empty();
  result.status = passed ? Status::ok : Status::failed;
  if (!passed) result.reason = check_failure(problem, result.checks);
  warn_of_near_singularity(outcome, a, eps, result);
  if (x) *x = std::move(solution);
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

// Seconds that one factorization will take, from one of a smaller system, 0 for a small one. A
// small system overestimates where it leaves the device idle, so that a larger one is tried as long
// as that costs little of the time limit.
double estimate(const Baseline& baseline, DeviceContext* context, const Problem& problem,
                double limit) {
  constexpr std::size_t kFirst = 256, kStep = 4;
  constexpr double kShare = 0.02;
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

Result measure(DeviceContext& context, const Method& method, const Case& what, const Matrix& a,
               const Matrix& b, const Effort& effort, Matrix* x) {
  Result result;
  result.what = what;
  context.set_deadline(INFINITY);  // not the one of a case before
  const auto solver = method.make(context, what.problem);
  result.phases_s["build"] = build(context, method, what.problem);
  context.set_deadline(effort.timeout_s);
  const auto start = Clock::now();
  result.phases_s["upload"] = timed([&] { solver->upload(a, b); });
  sample(*solver, effort, start, result);
  result.variant = solver->variant();
  profile(context, *solver, result);
  const WorkModel work = method.work(what.problem.n);
  result.counters["elements_updated"] = work.elements_updated;
  result.counters["bytes_model"] =
      work.bytes * element_size(what.problem.precision) / sizeof(float);
  conclude(*solver, a, b, effort, result, x);
  return result;
}

Result measure(const Baseline& baseline, DeviceContext* context, const Case& what, const Matrix& a,
               const Matrix& b, const Effort& effort) {
  Result result;
  result.what = what;
  const double seconds = estimate(baseline, context, what.problem, effort.timeout_s);
  if (seconds > effort.timeout_s) {
    result.status = Status::skipped;
    result.reason = "one run would take about " + short_number(seconds) +
                    " s, more than --timeout " + short_number(effort.timeout_s) + ".";
    return result;
  }
  const auto solver = make(baseline, context, what.problem);
  const auto start = Clock::now();
  result.phases_s["upload"] = timed([&] { solver->upload(a, b); });
  solver->prepare();
  result.variant = solver->variant();
  sample(*solver, effort, start, result);
  if (const auto by_device = solver->profiled_factor()) {
    result.device_times_s.push_back(*by_device);
  }
  conclude(*solver, a, b, effort, result, nullptr);
  return result;
}

}  // namespace lugpu
