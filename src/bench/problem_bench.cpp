#include "bench/problem_bench.hpp"

#include <algorithm>
#include <cmath>

#include "accuracy/checks.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "bench/statistics.hpp"
#include "bench/sweep.hpp"
#include "bench/wording.hpp"
#include "dense/matrix_units.hpp"
#include "opencl/element.hpp"
#include "opencl/opencl.hpp"
#include "operators/product.hpp"
#include "solve/diagnosis.hpp"

namespace lugpu {
namespace {

// The largest ||b - A x||_2 / ||b||_2 of all columns.
double true_residual(const SystemView& system, const Matrix& x) {
  const StructuredMatrix& a = system.a;
  const Matrix product = a.grid ? multiply(*a.grid, x) : multiply(*a.stored, Op::none, x);
  double most = 0;
  for (std::size_t j = 0; j < x.cols(); ++j) {
    double residual = 0, right = 0;
    for (std::size_t i = 0; i < x.rows(); ++i) {
      const double b = system.b(i, j), r = b - product(i, j);
      residual += r * r, right += b * b;
    }
    const double size = relative(std::sqrt(residual), std::sqrt(right));
    most = !(size <= most) ? size : most;
  }
  return most;
}

double error_of(const SystemView& system, const Matrix& x) {
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const double d = std::abs(x(i, 0) - system.exact[i]);
    difference = !(d <= difference) ? d : difference;
    largest = std::max(largest, std::abs(system.exact[i]));
  }
  return difference / largest;
}

// One case from its first run to its check.
class Measuring {
 public:
  Measuring(DeviceContext* context, const SystemView& system, const SolverMaker& maker,
            const Effort& effort, StructuredResult& result)
      : context_(context), system_(system), maker_(maker), effort_(effort), result_(result) {}

  void run() {
    const StoppingRule& rule = result_.what.options.rule;
    if (!maker_.direct) {
      constexpr std::size_t kFewSteps = 2;
      prepare({rule.tolerance, kFewSteps});
      upload();
      solver_->solve();
    }
    start_ = Clock::now();
    if (context_) context_->deadline().set(effort_.timeout_s);
    prepare(rule);
    upload();
    sample();
    const double first = seconds_since(start_);
    if (first < effort_.timeout_s / 2) {
      if (maker_.direct) {  // again, with all kernels built
        samples_ = Samples(effort_);
        other_load_.reset();
        result_.times_s.clear();
        prepare(rule);
        upload();
      }
      while (wants_sample()) sample();
    }
    result_.other_load = other_load_->share();
    check();
  }

 private:
  void prepare(const StoppingRule& rule) {
    solver_.reset();
    const Clock::time_point start = Clock::now();
    solver_ = maker_.make(rule);
    if (context_) context_->queue().finish();
    result_.setup_s = seconds_since(start);
  }

  void upload() { solver_->upload(system_.b, Matrix(system_.b.rows(), system_.b.cols())); }

  void sample() {
    if (!other_load_) other_load_.emplace();
    const Clock::time_point start = Clock::now();
    result_.iteration = solver_->solve();
    samples_.add(seconds_since(start));
    result_.times_s = samples_.kept();
  }

  bool wants_sample() const {
    if (samples_.count() == 0) return true;
    return !samples_.enough() && seconds_since(start_) < effort_.timeout_s / 2;
  }

  void check() {
    const Matrix x = solver_->download();
    result_.residual = true_residual(system_, x);
    result_.error = error_of(system_, x);
    const StoppingRule& rule = result_.what.options.rule;
    const bool reached = *result_.residual <= kResidualSlack * rule.tolerance;
    result_.status = reached ? RunStatus::ok : RunStatus::failed;
    if (reached) return;
    const std::string residual = "the true residual is " + short_number(*result_.residual);
    if (!result_.iteration.reason.empty()) {
      result_.reason = result_.iteration.reason + "; " + residual + ".";
      return;
    }
    const bool single = result_.what.options.precision == Precision::single_precision;
    result_.reason = residual + ", above the tolerance of " + short_number(rule.tolerance) +
                     (single ? ": single precision may not reach it." : ".");
    result_.reason.front() = 'T';
  }

  DeviceContext* context_;
  const SystemView& system_;
  const SolverMaker& maker_;
  const Effort& effort_;
  StructuredResult& result_;
  std::unique_ptr<PreparedSolver> solver_;
  Samples samples_{effort_};
  std::optional<OtherLoad> other_load_;
  Clock::time_point start_;
};

// 0 if it does not tell.
std::uint64_t cache_bytes(const Device& device) {
  cl_ulong bytes = 0;
  const auto id = static_cast<cl_device_id>(device.id);
  const bool known = clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof bytes, &bytes,
                                     nullptr) == CL_SUCCESS;
  return known ? bytes : 0;
}

// Why so many multiply-adds cannot have taken this time; empty if they can.
std::string disbelief(const char* what, double multiply_adds, double seconds, double ceiling) {
  constexpr double kMargin = 1.5;
  if (!(multiply_adds > kMargin * ceiling * seconds)) return "";
  return std::string("The time of the ") + what + " would mean " +
         short_number(2e-9 * multiply_adds / seconds) + " GFLOP/s where the device does " +
         short_number(2e-9 * ceiling);
}

// Sets the bandwidth, or says why it cannot be true.
std::string judge_bandwidth(const Limits& limits, StructuredResult& result) {
  const StructuredMethod* method = structured_method(result.what.routine);
  if (!method || method->words == 0 || result.iteration.iterations == 0) return "";
  const double vector =
      static_cast<double>(result.unknowns * element_size(result.what.options.precision));
  // Of the column with the most steps; the others take about as many.
  const double steps = static_cast<double>(result.iteration.iterations * result.what.options.nrhs);
  const double per_word = vector * steps / median(result.times_s);
  constexpr double kNoise = 1.15, kCaches = 2;
  const double least = method->least_words * per_word;
  const double cache = static_cast<double>(limits.cache_bytes);
  if (cache > 0 && vector > kCaches * cache && result.what.options.nrhs == 1 &&
      least > kNoise * limits.copy_bytes_per_s) {
    return "The time would mean " + short_number(least * 1e-9) + " GB/s where the device copies " +
           short_number(limits.copy_bytes_per_s * 1e-9) + " GB/s";
  }
  const double bytes = method->words * per_word;
  result.bandwidth = {bytes, bytes / limits.copy_bytes_per_s};
  return "";
}

}  // namespace

StructuredResult measure_problem(DeviceContext* context, const StructuredCase& what,
                                 const SystemView& system, const SolverMaker& maker,
                                 const Effort& effort) {
  StructuredResult result;
  result.what = what;
  result.unknowns = system.a.order();
  attempt_into(result, effort, [&] { Measuring(context, system, maker, effort, result).run(); });
  if (context) context->deadline().set(INFINITY);
  return result;
}

Limits limits_of(const DeviceContext& context, const Ceilings& ceilings, Precision precision,
                 const Work& work) {
  const bool is_double = precision == Precision::double_precision;
  Limits limits{ceilings.copy_bytes_per_s, cache_bytes(context.device()),
                ceilings.multiply_adds_per_s.at(precision)};
  if (work.by_matrix_units && context.settings().vendor &&
      has_matrix_units(context.device(), precision)) {
    limits.multiply_adds_per_s *= is_double ? 2 : 5;
  }
  return limits;
}

void judge_time(const Limits& limits, const Work& least, StructuredResult& result) {
  if (result.status != RunStatus::ok) return;
  const double columns = static_cast<double>(result.what.options.nrhs);
  std::string reason = disbelief("setup", least.setup, *result.setup_s, limits.multiply_adds_per_s);
  if (reason.empty()) {
    reason = disbelief("solution", columns * least.solution, median(result.times_s),
                       limits.multiply_adds_per_s);
  }
  if (reason.empty()) reason = judge_bandwidth(limits, result);
  if (reason.empty()) return;
  result.status = RunStatus::error;
  result.reason = reason + ": it is not believed.";
}

}  // namespace lugpu
