#include "solve/solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "accuracy/determinant.hpp"
#include "accuracy/equilibrate.hpp"
#include "accuracy/in_range.hpp"
#include "accuracy/refine.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "distributed/crew.hpp"
#include "matrix/rounded.hpp"
#include "solve/diagnosis.hpp"
#include "solve/system_solver.hpp"

namespace lugpu {
namespace {

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
// more than one block of the method, or of substitution (32), the small one has too, on each
// device.
std::size_t order_to_build(const Problem& problem) {
  const std::size_t block = std::max<std::size_t>(problem.dense.nb, 32);
  return std::clamp<std::size_t>(problem.size.n, 2, device_count(problem.dense) * block + 1);
}

void solve_small_system(DeviceContext& context, const Method& method, const Problem& problem) {
  const std::size_t n = order_to_build(problem);
  Problem small = problem;
  small.size = Size::square(n, problem.size.nrhs);
  Matrix a = with_interchange(n), b(n, small.size.nrhs);
  if (problem.solve.refine == Refine::mixed) {  // something to correct: single rounds thirds
    for (double& value : a.values()) value /= 3;
    std::fill(b.values().begin(), b.values().end(), 1.0);
  }
  SystemSolver solver(context, method, small);
  solver.upload(a, b, norm_max(a));
  solver.factor();
  solver.outcome();
  solver.solve();
  if (!method.keeps_factors) return;
  Matrix x(n, 1);
  solver.current().download_factors(0, x.view());
  solver.current().apply_inverse(x, Op::none);
  solver.current().apply_inverse(x, Op::transpose);
}

// The inverse of the matrix that was factored, refined as X is; some columns at a time, so that it
// takes little room on the device.
Matrix inverse_by_columns(const FactoredSystem& system, const Problem& problem, bool in_double,
                          const ApplyInverse& apply_inverse) {
  constexpr std::size_t kColumns = 256;
  const MatrixView a = system.factored_a();
  const std::size_t n = a.rows();
  const Refine refinement = problem.solve.refine;
  const double norm = refinement == Refine::mixed ? norm_inf(a) : 0;
  const Residual residual = host_residual(a);
  Matrix inverse(n, n);
  for (std::size_t first = 0; first < n; first += kColumns) {
    const std::size_t columns = std::min(kColumns, n - first);
    Matrix identity(n, columns);
    for (std::size_t j = 0; j < columns; ++j) identity(first + j, j) = 1;
    Matrix part = identity;
    if (refinement == Refine::mixed && !in_double) {
      const auto by_columns = host_columns(residual, identity, apply_inverse);
      solve_mixed(*by_columns, norm);
      part = by_columns->solution();
    } else {
      apply_inverse(part, Op::none);
      if (refinement == Refine::fixed) {
        refine(a, identity, part, problem.dense.precision, apply_inverse);
      }
    }
    std::copy(part.values().begin(), part.values().end(), inverse.column(first));
  }
  return inverse;
}

void warn_of_inaccurate_inverse(const FactoredSystem& system, const Problem& problem,
                                const Matrix& inverse, std::vector<Warning>& warnings) {
  const double eps = epsilon(working_precision(problem));
  const MatrixView a = system.factored_a();
  const double ratio = inverse_ratio(a, inverse, host_residual(a), eps);
  if (ratio < kFactorRatioLimit) return;
  warnings.push_back(
      {"the inverse is inaccurate: norm1(I - A inv(A)) / (n norm1(A) norm1(inv(A)) eps) is " +
           short_number(ratio) + ", not under 30",
       cure_for_growth(problem)});
}

void require_shapes(const MatrixView& a, const MatrixView& b) {
  const auto shape = [](const MatrixView& m) {
    return std::to_string(m.rows()) + " x " + std::to_string(m.cols());
  };
  if (a.rows() != a.cols()) throw InputError("A is " + shape(a) + "; it must be square.");
  if (b.rows() != a.rows()) {
    throw InputError("B is " + shape(b) + "; it must have as many rows as A, " +
                     std::to_string(a.rows()) + ".");
  }
}

// Works on one system from A and B to its Solution.
template <typename T>
class Solving {
 public:
  Solving(DeviceContext& context, const Plan& plan, const MatrixView& a, const MatrixView& b)
      : context_(context),
        problem_(plan.problem),
        system_(a, b, plan.problem, plan.problem.solve.check || plan.problem.solve.equilibrate),
        solver_(context, *plan.method, plan.problem) {
    solution_.method = plan.method->name;
    solution_.pivot = problem_.dense.pivot;
    solution_.n = problem_.size.n;
    solution_.nrhs = problem_.size.nrhs;
    if (system_.is_equilibrated()) solution_.equilibration = system_.applied();
  }

  Solution<T> run() {
    timed_phase("upload", [&] {
      solver_.upload(system_.factored_a(), system_.factored_b(), system_.largest());
    });
    context_.timeline().clear();
    timed_phase("factor", [&] { solver_.factor(); });
    set_counters(context_.timeline(), solution_.counters);
    Outcome outcome = solve();
    while (const std::optional<std::string> why = failure_of_factors()) {
      bool others = false;
      solver_.current().drop_transpose();  // the others may need its room
      timed_phase("factor", [&] { others = solver_.descend(*why); });
      if (!others) break;
      outcome = solve();
    }
    const bool solved = outcome.info == 0;
    if (problem_.solve.determinant) {
      solution_.determinant = determinant_of(outcome, system_.applied());
    }
    solution_.diagnosis =
        diagnose({problem_, outcome, solution_.checks, solution_.refinement, system_.largest(),
                  system_.advice(), system_.applied().helps(), solved});
    if (has_no_room_) {
      solution_.diagnosis.warnings.push_back(
          {"the device has no room for what the condition number and error bounds need",
           std::nullopt});
    }
    if (solved && problem_.solve.inverse) invert();
    return std::move(solution_);
  }

 private:
  // Adds up where a phase comes again.
  template <typename Action>
  void timed_phase(const char* phase, const Action& action) {
    solution_.phases_s[phase] += timed(action);
  }

  // X by the factors at hand, if there is one, with its checks.
  Outcome solve() {
    if (solver_.outcome().info == 0) timed_phase("solve", [&] { solver_.solve(); });
    Outcome outcome = solver_.outcome();
    const bool solved = outcome.info == 0;
    solution_.refinement = solver_.refinement();
    solution_.precision = precision_of_factors(problem_, solution_.refinement);
    solution_.checks = {};
    solution_.checks.info = outcome.info;
    solution_.x.clear();
    if (solved) download();
    if (problem_.solve.check) check(solved);
    return outcome;
  }

  // Why other factors may do better: refinement converged, but X does not pass the checks of the
  // system as given.
  std::optional<std::string> failure_of_factors() const {
    const bool refined = solution_.refinement && solution_.refinement->converged &&
                         problem_.solve.refine == Refine::mixed;
    const std::string failure = refined ? solution_.checks.failure() : "";
    return failure.empty() ? std::nullopt : std::optional(failure);
  }

  void download() {
    solution_.x.resize(solution_.n * solution_.nrhs);
    const View<T> x{solution_.x.data(), solution_.n, solution_.nrhs, solution_.n};
    timed_phase("download", [&] { solver_.download(x); });
    unscale_solution(system_.applied(), x);
  }

  void check(bool solved) {
    DenseFactorization& factors = solver_.current();
    ApplyInverse inverse;
    double growth = NAN;
    const double factors_eps = epsilon_of_factors(problem_, solution_.refinement);
    if (factors.keeps_factors()) {
      growth = pivot_growth(factors, system_.largest());
      has_no_room_ = solved && !factors.can_transpose();
      if (solved && !has_no_room_) inverse = solver_.inverse();
      check_factors(system_, growth, factors_eps, inverse, solution_.checks);
    }
    if (!solved) return;
    check_solution(system_, solution_.view(), epsilon(working_precision(problem_)), factors_eps,
                   inverse, solution_.checks);
  }

  void invert() {
    DenseFactorization& factors = solver_.current();
    const bool in_double = solution_.precision == Precision::double_precision;
    factors.drop_transpose();
    Matrix inverse = factors.keeps_factors()
                         ? inverse_by_columns(system_, problem_, in_double, solver_.inverse())
                         : factors.inverse(system_.factored_a());
    warn_of_inaccurate_inverse(system_, problem_, inverse, solution_.diagnosis.warnings);
    unscale_inverse(system_.applied(), inverse);
    if constexpr (std::is_same_v<T, double>) {
      solution_.inverse = std::move(inverse.values());
    } else {
      solution_.inverse.assign(inverse.values().begin(), inverse.values().end());
    }
  }

  DeviceContext& context_;
  const Problem& problem_;
  FactoredSystem system_;
  SystemSolver solver_;
  Solution<T> solution_;
  bool has_no_room_ = false;  // for the transposed factors
};

}  // namespace

void set_counters(const Timeline& timeline, std::map<std::string, std::uint64_t>& counters) {
  counters["kernel_launches"] = timeline.kernel_launches();
  counters["readbacks"] = timeline.readbacks();
  counters["bytes_counted"] = timeline.bytes();
}

double timed(const std::function<void()>& action) {
  const Clock::time_point start = Clock::now();
  action();
  return seconds_since(start);
}

FactoredSystem::FactoredSystem(const MatrixView& a, const MatrixView& b, const Problem& problem,
                               bool advice)
    : a_(a), b_(b), largest_given_(norm_max(a)), largest_(largest_given_) {
  const Precision precision = problem.dense.precision;
  const bool mixed = problem.solve.refine == Refine::mixed;
  const Scaling ranged = into_range(a.rows(), largest_given_, precision);
  const bool extreme = ranged.helps() || largest_given_ > std::numeric_limits<float>::max();
  if (advice || (mixed && extreme)) advice_ = equilibration(a, largest_given_, precision);
  is_equilibrated_ =
      problem.solve.equilibrate ||
      (mixed && is_needed(advice_, problem.dense.shortcut == Shortcut::half_products));
  applied_ = is_equilibrated_ ? advice_ : ranged;
  if (applied_.helps()) {
    scaled_a_ = scaled_matrix(applied_, a);
    scaled_b_ = scaled_right_hand_sides(applied_, b);
    largest_ = norm_max(scaled_a_);
  }
}

FactoredSystem::FactoredSystem(const MatrixView& a, const MatrixView& b)
    : a_(a), b_(b), largest_given_(norm_max(a)), largest_(largest_given_) {}

// det(A) = det(R A C) / (det(R) det(C))
Determinant determinant_of(const Outcome& outcome, const Scaling& scaling) {
  Determinant det = determinant(outcome);
  for (const double factor : scaling.r) det.multiply(1 / factor);
  for (const double factor : scaling.c) det.multiply(1 / factor);
  return det;
}

void check_factors(const FactoredSystem& system, double growth, double factors_eps,
                   const ApplyInverse& inverse, Checks& checks) {
  checks.growth = growth;
  if (!inverse) return;
  const InRange a(system.factored_a(), system.largest());
  check_condition(a.matrix(), factors_eps, a.inverse(inverse), checks);
}

void check_solution(const FactoredSystem& system, const MatrixView& x, double eps,
                    double factors_eps, const ApplyInverse& inverse, Checks& checks) {
  CheckedSystem checked{system.a(), system.largest_given(), {}};
  if (inverse) checked.inverse = unscaled_inverse(system.applied(), inverse);
  check_solution(checked, system.b(), x, eps, factors_eps, checks);
}

double build_kernels(DeviceContext& context, const Method& method, const Problem& problem) {
  return timed([&] {
    solve_small_system(context, method, problem);
    if (problem.solve.refine != Refine::mixed || !context.device().double_precision) return;
    // What mixed precision falls back to.
    Problem in_double = problem;
    in_double.solve.refine = Refine::none;
    in_double.dense.precision = Precision::double_precision;
    solve_small_system(context, method, in_double);
  });
}

template <typename T>
Solution<T> solve(DeviceContext& context, const Plan& plan, View<const T> a, View<const T> b) {
  return solve<T>(context, plan, MatrixView(a), MatrixView(b));
}

template <typename T>
Solution<T> solve(DeviceContext& context, const Plan& plan, const MatrixView& a,
                  const MatrixView& b) {
  require_shapes(a, b);
  return Solving<T>(context, plan, a, b).run();
}

template Solution<float> solve(DeviceContext&, const Plan&, View<const float>, View<const float>);
template Solution<double> solve(DeviceContext&, const Plan&, View<const double>,
                                View<const double>);
template Solution<double> solve(DeviceContext&, const Plan&, const MatrixView&, const MatrixView&);

}  // namespace lugpu
