#include "bench/measure.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "accuracy/equilibrate.hpp"
#include "accuracy/in_range.hpp"
#include "base/clock.hpp"
#include "bench/factor_checks.hpp"
#include "bench/method_contender.hpp"
#include "bench/statistics.hpp"
#include "bench/wording.hpp"
#include "matrix/generate.hpp"
#include "operators/product.hpp"
#include "solve/diagnosis.hpp"

namespace lugpu {
namespace {

// What is timed: the factorization, and in mixed precision all that X needs to reach double's
// accuracy.
void run(Contender& contender, const Problem& problem) {
  contender.factor();
  if (problem.solve.refine == Refine::mixed && contender.info() == 0) contender.solve();
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

// One more factorization, timed on the device, for the phases and the counters. For a trace, what
// notes the times of its parts has been built before, and has run.
void profile(DeviceContext& context, Contender& contender, bool trace, Result& result) {
  std::optional<PartTimes> part_times;
  if (trace) {
    part_times.emplace(context);
    contender.reset();
    contender.factor();
  }
  contender.reset();
  context.timeline().clear();
  with_profiling(context, [&] { result.phases_s["factor"] = timed([&] { contender.factor(); }); });
  const Timeline& timeline = context.timeline();
  result.device_times_s.push_back(timeline.span());
  result.profiled_s = result.phases_s["factor"];
  for (const auto& [phase, seconds] : timeline.by_phase()) {
    if (is_part_of_factor(phase)) result.phases_s[phase] = seconds;
  }
  if (trace) {
    result.commands = timeline.commands();
    result.parts = part_times->ran();
  }
  set_counters(timeline, result.counters);
}

// Multiply-adds per second of the products alone, the median of a few; absent without products.
std::optional<double> product_rate(Contender& contender) {
  constexpr int kRuns = 5;
  const std::uint64_t multiply_adds = contender.multiply();
  if (multiply_adds == 0) return std::nullopt;
  std::vector<double> times;
  for (int i = 0; i < kRuns; ++i) times.push_back(timed([&] { contender.multiply(); }));
  return static_cast<double>(multiply_adds) / median(times);
}

// L and scale * U.
Matrix scaled_factors(Matrix lu, double factor) {
  for (std::size_t j = 0; j < lu.cols(); ++j) scale(lu.column(j), j + 1, factor);
  return lu;
}

// The checks of the factors. eps: of X; factors_eps: of the factors. most_order: up to which the
// host multiplies them, and solves with them for the condition; absent: they do not come to the
// host.
void check_factors(Contender& contender, const FactoredSystem& system, double eps,
                   double factors_eps, const Outcome& outcome,
                   std::optional<std::size_t> most_order, Checks& checks) {
  const bool regular = outcome.info == 0;
  if (!most_order) {
    const std::optional<double> growth = contender.growth(system.largest());
    if (!growth) return;
    const ApplyInverse inverse = regular ? contender.apply_inverse() : ApplyInverse();
    return lugpu::check_factors(system, *growth, factors_eps, inverse, checks);
  }
  const InRange a(system.factored_a(), system.largest());
  if (auto lu = contender.lu()) {
    checks.growth = relative(largest_of_u(lu->view(), 0), system.largest());
    Matrix in_range = scaled_factors(std::move(*lu), a.scale());
    checks.factor_ratio_estimated = in_range.rows() > *most_order;
    const auto ratio = checks.factor_ratio_estimated ? estimated_factor_ratio : lu_factor_ratio;
    checks.factor_ratio = ratio(a.matrix(), in_range, outcome.ipiv, outcome.jpiv, eps);
    if (!regular || !std::isfinite(*checks.factor_ratio)) return;
    ApplyInverse inverse;
    if (checks.factor_ratio_estimated) inverse = contender.apply_inverse();
    if (inverse) {
      in_range = Matrix();  // a device that is the host's needs the room
      inverse = a.inverse(std::move(inverse));
    } else {
      inverse = inverse_by_lu(in_range, outcome.ipiv, outcome.jpiv);
    }
    check_condition(a.matrix(), factors_eps, inverse, checks);
  } else if (regular) {
    if (auto inverse = contender.inverse()) {
      scale(inverse->values().data(), inverse->values().size(), 1 / a.scale());
      checks.factor_ratio = inverse_ratio(a.matrix(), *inverse, blas_residual(a.matrix()), eps);
      check_condition(
          a.matrix(), factors_eps, [&](Matrix& x, Op op) { x = multiply(*inverse, op, x); },
          checks);
    }
  }
}

// X, after the last factorization. Absent if that met a zero pivot, or one in double precision that
// mixed precision falls back to.
std::optional<Matrix> solution_of(Contender& contender, Result& result) {
  if (contender.outcome().info > 0) return std::nullopt;
  Matrix x;
  result.phases_s["solve"] = timed([&] { contender.solve(); });
  if (contender.outcome().info > 0) return std::nullopt;
  result.phases_s["download"] = timed([&] { x = contender.download(); });
  return x;
}

// The phases come from the samples or, where there are none, from the one profiled run.
void add_up_times(Result& result) {
  const bool mixed = result.what.problem.solve.refine == Refine::mixed;
  std::map<std::string, double>& phases = result.phases_s;
  if (result.times_s.empty()) {
    result.times_s.push_back(phases["factor"] + (mixed ? phases["solve"] : 0));
  }
  if (!mixed) phases["factor"] = median(result.times_s);
  if (phases.contains("download")) {
    phases["total"] = phases["upload"] + phases["factor"] + phases["solve"] + phases["download"];
  }
}

std::unique_ptr<Contender> make(const Baseline& baseline, DeviceContext* context,
                                const Problem& problem) {
  return baseline.on_device ? baseline.on_device->make(*context, problem) : baseline.make(problem);
}

// Seconds of one factorization of a random matrix, after one that loads code.
double pilot(const Baseline& baseline, DeviceContext* context, const Problem& problem) {
  const auto contender = make(baseline, context, problem);
  contender->upload(random_matrix(problem.size.n, problem.size.n, 1),
                    Matrix(problem.size.n, problem.size.nrhs));
  contender->factor();
  contender->reset();
  return timed([&] { contender->factor(); });
}

// Estimated seconds of one factorization, from that of a smaller system; 0 for a small one. A small
// system overestimates where it leaves the device idle or other programs delay its threads, so
// larger ones are tried while they take only a little of the time limit.
double estimate(const Baseline& baseline, DeviceContext* context, const Problem& problem,
                double limit) {
  constexpr std::size_t kFirst = 256, kStep = 2;
  constexpr double kShareOfLimit = 0.05;
  double seconds = 0;
  for (std::size_t n = kFirst; n < problem.size.n; n *= kStep) {
    Problem smaller = problem;
    smaller.size.n = n;
    const double ratio = static_cast<double>(problem.size.n) / static_cast<double>(n);
    const double one = pilot(baseline, context, smaller);
    seconds = one * ratio * ratio * ratio;
    if (seconds <= limit || one * kStep * kStep * kStep > kShareOfLimit * limit) break;
  }
  return seconds;
}

}  // namespace

// Counts the time of a piece of work on a case, and stops it when the case has none left.
class Measurement::Turn {
 public:
  explicit Turn(Measurement& of) : of_(of) {
    if (of_.method_) of_.context_->deadline().set(of_.effort_.timeout_s - of_.used_s_, of_.pace_);
  }
  ~Turn() {
    of_.used_s_ += seconds_since(start_);
    if (of_.method_) of_.pace_ = of_.context_->deadline().pace();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Measurement& of_;
  Clock::time_point start_ = Clock::now();
};

Measurement::Measurement(DeviceContext& context, const Method& method, const Case& what,
                         const Matrix& a, const Matrix& b, const Effort& effort)
    : context_(&context), method_(&method), system_(a, b, what.problem, true), effort_(effort) {
  result_.what = what;
  if (system_.is_equilibrated()) result_.equilibration = system_.applied();
  context.deadline().set(INFINITY);  // not that of an earlier case
  require_possible(context.device(), method, what.problem);
  if (effort.build_first) result_.phases_s["build"] = build_kernels(context, method, what.problem);
  contender_ = std::make_unique<MethodContender>(context, method, what.problem, system_.largest());
  warm_up();
}

Measurement::Measurement(const Baseline& baseline, DeviceContext* context, const Case& what,
                         const Matrix& a, const Matrix& b, const Effort& effort)
    : context_(context), system_(a, b), effort_(effort) {
  result_.what = what;
  const double seconds = estimate(baseline, context, what.problem, effort.timeout_s);
  if (seconds > effort.timeout_s) {
    result_.status = RunStatus::skipped;
    result_.reason = "one run would take about " + short_number(seconds) +
                     " s, more than --timeout " + short_number(effort.timeout_s) + ".";
    return;
  }
  contender_ = make(baseline, context, what.problem);
  warm_up();
}

void Measurement::warm_up() {
  const Turn turn(*this);
  const auto start = Clock::now();
  result_.phases_s["upload"] =
      timed([&] { contender_->upload(system_.factored_a(), system_.factored_b()); });
  contender_->prepare();
  result_.variant = contender_->variant();
  if (!result_.what.threads_to_try.empty()) find_threads();
  for (int i = 0; i < effort_.warmup && seconds_since(start) < effort_.timeout_s / 4; ++i) {
    contender_->reset();
    run(*contender_, result_.what.problem);
  }
  result_.phases_s["upload"] += contender_->waited_for_upload();
}

// The fastest number of threads by the best of a few short runs each, from the largest down to one
// that is clearly slower: fewer would be slower still, and of a large system take long.
void Measurement::find_threads() {
  constexpr int kRuns = 3;
  constexpr double kLongEnough = 0.05, kClearlySlower = 1.5;
  std::vector<int>& numbers = result_.what.threads_to_try;
  double best = INFINITY;
  for (auto number = numbers.end(); number != numbers.begin();) {
    set_blas_threads(*--number);
    double seconds = INFINITY, all = 0;
    for (int i = 0; i < kRuns && all < kLongEnough; ++i) {
      contender_->reset();
      const double one = timed([&] { run(*contender_, result_.what.problem); });
      seconds = std::min(seconds, one);
      all += one;
    }
    if (seconds < best) result_.what.threads = *number;
    best = std::min(best, seconds);
    if (seconds <= kClearlySlower * best) continue;
    numbers.erase(numbers.begin(), number);
    break;
  }
  set_blas_threads(*result_.what.threads);
}

void Measurement::resume(const EarlierSamples& earlier) {
  if (!contender_) return;
  result_.what.threads = earlier.threads;
  result_.what.threads_to_try = earlier.threads_to_try;
  samples_.resume(earlier.times_s, earlier.count);
}

bool Measurement::wants_sample() const {
  if (!contender_) return false;
  // The second half of the time is for the checks.
  const bool late = samples_.count() > 0 && used_s_ > effort_.timeout_s / 2;
  return !samples_.enough() && !late;
}

double Measurement::sample() {
  const Turn turn(*this);
  if (!other_load_) {
    other_load_.emplace();
    energy_ = energy_of(context_ ? &context_->device() : nullptr);
  }
  contender_->reset();
  const double before = energy_ ? energy_() : 0;
  const double seconds = timed([&] { run(*contender_, result_.what.problem); });
  samples_.add(seconds);
  ++taken_;
  if (energy_) joules_ += energy_() - before;
  return seconds;
}

// After the last timed factorization: solve, download, check, judge.
void Measurement::conclude() {
  const Problem& problem = result_.what.problem;
  const double eps = epsilon(working_precision(problem));
  std::optional<Matrix> x = solution_of(*contender_, result_);
  const Outcome outcome = contender_->outcome();
  result_.refinement = contender_->refinement();
  result_.checks.info = outcome.info;
  add_up_times(result_);
  // The factors of mixed precision need not be good ones.
  std::optional<std::size_t> most_order;
  if (effort_.check_factors && problem.solve.refine != Refine::mixed) {
    most_order = effort_.most_order_of_product;
  }
  const double factors_eps = epsilon_of_factors(problem, result_.refinement);
  check_factors(*contender_, system_, eps, factors_eps, outcome, most_order, result_.checks);
  if (x) {
    unscale_solution(system_.applied(), x->view());
    check_solution(system_, *x, eps, factors_eps, contender_->apply_inverse(), result_.checks);
  }
  set_diagnosis(diagnose({problem, outcome, result_.checks, result_.refinement, system_.largest(),
                          system_.advice(), system_.applied().helps(), x.has_value()}),
                result_);
}

Result Measurement::finish() {
  if (!contender_) return std::move(result_);
  const Turn turn(*this);
  result_.times_s = samples_.kept();
  if (other_load_) result_.other_load = other_load_->share();
  if (joules_ > 0) result_.energy_j = joules_ / taken_;
  if (method_) {
    profile(*context_, *contender_, effort_.trace, result_);
    set_work(*method_, result_);
  } else if (const auto by_device = contender_->profiled_factor()) {
    result_.device_times_s.push_back(*by_device);
  }
  if (!method_ && taken_ == 0) {  // all samples are from a run before, so nothing is factored
    contender_->reset();
    contender_->factor();
  }
  conclude();
  if (effort_.time_products && result_.status == RunStatus::ok) {
    result_.product_multiply_adds_per_s = product_rate(*contender_);
  }
  return std::move(result_);
}

Result measure(DeviceContext& context, const Method& method, const Case& what, const Matrix& a,
               const Matrix& b, const Effort& effort) {
  Measurement measurement(context, method, what, a, b, effort);
  while (measurement.wants_sample()) measurement.sample();
  return measurement.finish();
}

}  // namespace lugpu
