#include "accuracy/refine.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "accuracy/error_bounds.hpp"
#include "accuracy/gmres.hpp"
#include "matrix/norms.hpp"
#include "matrix/rounded.hpp"
#include "operators/product.hpp"

namespace lugpu {
namespace {

constexpr int kMostSteps = 5;           // gerfs's
constexpr int kMostMixedSteps = 30;     // dsgesv's
constexpr std::size_t kFewColumns = 4;  // that GMRES is for
// Below the first order sqrt(n) eps is less than what rounding does to the residual itself; beyond
// the second it would let pass what the limit of solve_ratio, which has no n, refuses.
constexpr std::size_t kLeastOrder = 16, kMostOrder = 100;

Columns numbered(std::size_t count) {
  Columns columns(count);
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return columns;
}

double in_precision(double value, Precision precision) {
  return precision == Precision::double_precision ? value : static_cast<float>(value);
}

}  // namespace

Refinement refine(const MatrixView& a, const Matrix& b, Matrix& x, Precision precision,
                  const ApplyInverse& apply_inverse) {
  Refinement report;
  const double eps = epsilon(precision);
  Columns active = numbered(x.cols());
  std::vector<double> last(x.cols(), INFINITY);  // backward errors
  Matrix before = x;                             // X(:, active), before the last step
  while (!active.empty()) {
    const Matrix now = chosen(x, active), right = chosen(b, active);
    const Matrix r = residual(a, now, right);
    const std::vector<double> errors = backward_errors(r, residual_sizes(a, now, right));
    Columns worth;  // of `active`, another step
    for (std::size_t c = 0; c < active.size(); ++c) {
      double& earlier = last[active[c]];
      if (!(errors[c] <= earlier)) {
        set_column(x, active[c], before, c);
      } else if (errors[c] > eps && 2 * errors[c] <= earlier && report.steps < kMostSteps) {
        worth.push_back(c);
      }
      earlier = errors[c];
    }
    if (worth.empty()) break;
    // x += inv(A) r
    Matrix d = chosen(r, worth);
    before = chosen(now, worth);
    apply_inverse(d, Op::none);
    for (std::size_t c = 0; c < worth.size(); ++c) {
      worth[c] = active[worth[c]];
      double* column = x.column(worth[c]);
      for (std::size_t i = 0; i < x.rows(); ++i) {
        column[i] = in_precision(column[i] + d(i, c), precision);
      }
    }
    active = std::move(worth);
    ++report.steps;
  }
  return report;
}

double mixed_tolerance(double a_norm_inf, std::size_t n, MixedRules rules) {
  const auto order =
      static_cast<double>(rules == MixedRules::lapack ? n : std::clamp(n, kLeastOrder, kMostOrder));
  return a_norm_inf * epsilon(Precision::double_precision) * std::sqrt(order);
}

namespace {

using Sizes = RefinedColumns::Sizes;

bool is_small(const Sizes& sizes, double tolerance) {
  return sizes.r <= sizes.x * tolerance;
}

// What solve_mixed() knows of the columns.
struct Progress {
  Columns active, slow;
  Columns worse;             // of the slow ones, by the last step
  std::vector<double> last;  // max |r|
};

// After a step: the columns that need another one. Slow are those of a few for which three more at
// this rate would not do, of many those whose residual it did not halve.
Columns judge_columns(const std::vector<Sizes>& sizes, double tolerance, Progress& progress) {
  const bool few = progress.last.size() <= kFewColumns;
  Columns unfinished;
  for (std::size_t c = 0; c < progress.active.size(); ++c) {
    const std::size_t j = progress.active[c];
    const auto [x, r] = sizes[c];
    const double rate = r / progress.last[j];
    if (!is_small(sizes[c], tolerance)) {
      const bool fast = few ? is_small({x, r * rate * rate * rate}, tolerance) : rate <= 0.5;
      (fast ? unfinished : progress.slow).push_back(j);
      if (!(rate <= 1)) progress.worse.push_back(j);
    }
    progress.last[j] = r;
  }
  return unfinished;
}

// LAPACK's: none of the columns is done before all are.
Columns judge_together(const std::vector<Sizes>& sizes, double tolerance, const Columns& all) {
  for (const Sizes& of_column : sizes) {
    if (!is_small(of_column, tolerance)) return all;
  }
  return {};
}

// dsgesv's: what overflows single precision is not refined, whatever it is scaled by.
void require_single(const std::vector<Sizes>& sizes, MixedRules rules) {
  if (rules != MixedRules::lapack) return;
  for (const auto [x, r] : sizes) {
    if (overflows<float>(r)) refuse_overflow<float>(r);
  }
}

// A column that goes on with GMRES.
struct WithGmres {
  std::size_t j;
  Gmres gmres;
  bool converged = false;
};

// After a correction that is not enough: takes it in. False if the column is done, or given up.
bool goes_on(RefinedColumns& columns, WithGmres& column, double tolerance) {
  auto& [j, gmres, converged] = column;
  const bool grows = gmres.add(columns.now(j));
  const auto& [x, r] = gmres.best();
  if (norm_max(r) <= tolerance * norm_max(x)) {
    converged = is_small(columns.set_x(j, x), tolerance);
    if (!converged) gmres = Gmres(columns.now(j));
    return !converged;
  }
  columns.set(j, gmres.next());
  return grows && !gmres.stalls();
}

// The slow columns, the last correction of each being the first of GMRES.
void go_on_with_gmres(RefinedColumns& columns, const Columns& slow, double tolerance,
                      Refinement& report) {
  std::vector<WithGmres> active;
  const auto keep = [&](WithGmres column) {
    if (goes_on(columns, column, tolerance)) {
      active.push_back(std::move(column));
    } else {
      report.converged = report.converged && column.converged;
    }
  };
  for (const std::size_t j : slow) keep({j, Gmres(columns.before(j))});
  while (!active.empty() && report.steps < kMostMixedSteps) {
    ++report.steps;
    ++report.gmres_steps;
    Columns which;
    for (const WithGmres& column : active) which.push_back(column.j);
    const auto sizes = columns.correct(which);
    for (std::size_t c = 0; auto& column : std::exchange(active, {})) {
      if (!is_small(sizes[c++], tolerance)) keep(std::move(column));
    }
  }
  report.converged = report.converged && active.empty();
}

}  // namespace

Refinement solve_mixed(RefinedColumns& columns, double a_norm_inf, MixedRules rules) {
  Refinement report;
  const double tolerance = mixed_tolerance(a_norm_inf, columns.rows(), rules);
  Progress progress{
      numbered(columns.count()), {}, {}, std::vector<double>(columns.count(), INFINITY)};
  require_single(columns.begin(), rules);
  for (int step = 0; !progress.active.empty() && step <= kMostMixedSteps; ++step) {
    report.steps = step;
    const auto sizes = columns.correct(progress.active);
    progress.active = rules == MixedRules::lapack
                          ? judge_together(sizes, tolerance, progress.active)
                          : judge_columns(sizes, tolerance, progress);
    if (!progress.active.empty()) require_single(sizes, rules);
  }
  report.converged = progress.active.empty() && progress.slow.size() <= kFewColumns;
  if (report.converged) {
    go_on_with_gmres(columns, progress.slow, tolerance, report);
  } else {
    columns.undo(progress.worse);
  }
  return report;
}

}  // namespace lugpu
