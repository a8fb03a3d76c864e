#include "accuracy/refine.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "accuracy/error_bounds.hpp"
#include "accuracy/gmres.hpp"
#include "matrix/norms.hpp"
#include "matrix/rounded.hpp"
#include "operators/product.hpp"

namespace lugpu {
namespace {

constexpr int kMostSteps = 5;        // gerfs's
constexpr int kMostMixedSteps = 30;  // dsgesv's
constexpr std::size_t kMostStalled = 4;
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

// What solve_mixed() knows of the columns.
struct Progress {
  Columns active, stalled;
  std::vector<double> last;  // max |r|
};

// After a step: the columns that need another one. A step that makes a column worse is undone.
Columns judge_columns(const std::vector<RefinedColumns::Sizes>& sizes, double tolerance,
                      Progress& progress, RefinedColumns& columns) {
  Columns unfinished, worse;
  for (std::size_t c = 0; c < progress.active.size(); ++c) {
    const std::size_t j = progress.active[c];
    const auto [x, r] = sizes[c];
    double& last = progress.last[j];
    if (!(r <= last)) {
      worse.push_back(j);
      continue;
    }
    if (!(r <= x * tolerance)) (2 * r <= last ? unfinished : progress.stalled).push_back(j);
    last = r;
  }
  columns.undo(worse);
  progress.stalled.insert(progress.stalled.end(), worse.begin(), worse.end());
  return unfinished;
}

// LAPACK's: none of the columns is done before all are.
Columns judge_together(const std::vector<RefinedColumns::Sizes>& sizes, double tolerance,
                       const Columns& all) {
  for (const auto [x, r] : sizes) {
    if (!(r <= x * tolerance)) return all;
  }
  return {};
}

// dsgesv's: what overflows single precision is not refined, whatever it is scaled by.
void require_single(const std::vector<RefinedColumns::Sizes>& sizes, MixedRules rules) {
  if (rules != MixedRules::lapack) return;
  for (const auto [x, r] : sizes) {
    if (overflows<float>(r)) refuse_overflow<float>(r);
  }
}

// The columns that stalled, one by one.
void go_on_with_gmres(RefinedColumns& columns, const Columns& stalled, double tolerance,
                      Refinement& report) {
  const int left = kMostMixedSteps - report.steps;
  for (const std::size_t j : stalled) {
    Matrix x = columns.x(j);
    const Gmres solved =
        gmres(columns.residual(), columns.b(j), x, tolerance, left, columns.inverse());
    columns.set_x(j, x);
    report.gmres_steps = std::max(report.gmres_steps, solved.steps);
    report.converged = report.converged && solved.converged;
  }
  report.steps += report.gmres_steps;
}

}  // namespace

Refinement solve_mixed(RefinedColumns& columns, double a_norm_inf, MixedRules rules) {
  Refinement report;
  const double tolerance = mixed_tolerance(a_norm_inf, columns.rows(), rules);
  Progress progress{numbered(columns.count()), {}, std::vector<double>(columns.count(), INFINITY)};
  require_single(columns.begin(), rules);
  for (int step = 0; !progress.active.empty() && step <= kMostMixedSteps; ++step) {
    report.steps = step;
    const auto sizes = columns.correct(progress.active);
    progress.active = rules == MixedRules::lapack
                          ? judge_together(sizes, tolerance, progress.active)
                          : judge_columns(sizes, tolerance, progress, columns);
    if (!progress.active.empty()) require_single(sizes, rules);
  }
  report.converged = progress.active.empty() && progress.stalled.size() <= kMostStalled;
  if (report.converged) go_on_with_gmres(columns, progress.stalled, tolerance, report);
  return report;
}

}  // namespace lugpu
