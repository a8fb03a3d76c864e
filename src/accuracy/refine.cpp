#include "accuracy/refine.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "accuracy/error_bounds.hpp"
#include "matrix/norms.hpp"
#include "matrix/rounded.hpp"
#include "operators/product.hpp"

namespace lugpu {
namespace {

constexpr int kMostSteps = 5;        // gerfs's
constexpr int kMostMixedSteps = 30;  // dsgesv's
constexpr int kMostStalled = 10;     // corrections in which a residual is halved, or it is given up
// Below the first order sqrt(n) eps is less than what rounding does to the residual itself; beyond
// the second it would let pass what the limit of solve_ratio, which has no n, refuses.
constexpr std::size_t kLeastOrder = 16, kMostOrder = 100;

double in_precision(double value, Precision precision) {
  return precision == Precision::double_precision ? value : static_cast<float>(value);
}

}  // namespace

Refinement refine(const MatrixView& a, const Matrix& b, Matrix& x, Precision precision,
                  const ApplyInverse& apply_inverse) {
  Refinement report;
  const double eps = epsilon(precision);
  Columns active = all_columns(x.cols());
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

// max |r| of a column at its least, and the correction that last halved that.
struct Progress {
  double least = INFINITY;
  int since = 0;
};

// After correction `step`: the columns of `active` that are not done; by LAPACK's rules none is
// before all are.
Columns unfinished(const std::vector<Sizes>& sizes, double tolerance, int step, MixedRules rules,
                   const Columns& active, std::vector<Progress>& progress) {
  Columns left;
  for (std::size_t c = 0; c < active.size(); ++c) {
    const auto [x, r] = sizes[c];
    if (!(r <= x * tolerance)) left.push_back(active[c]);
    auto& [least, since] = progress[active[c]];
    if (2 * r > least) continue;
    least = r;
    since = step;
  }
  return rules == MixedRules::lapack && !left.empty() ? active : left;
}

// The columns that another correction after number `step` may help.
Columns hopeful(const Columns& columns, const std::vector<Progress>& progress, int step,
                MixedRules rules) {
  const int stalled = rules == MixedRules::lapack ? kMostMixedSteps : kMostStalled;
  Columns left;
  for (const std::size_t j : columns) {
    const auto [least, since] = progress[j];
    if (std::isfinite(least) && step < std::min(since + stalled, kMostMixedSteps)) {
      left.push_back(j);
    }
  }
  return left;
}

// dsgesv's: what overflows single precision is not refined, whatever it is scaled by.
void require_single(const std::vector<Sizes>& sizes) {
  for (const auto [x, r] : sizes) {
    if (overflows<float>(r)) refuse_overflow<float>(r);
  }
}

}  // namespace

Refinement solve_mixed(RefinedColumns& columns, double a_norm_inf, MixedRules rules) {
  Refinement report;
  report.converged = true;
  const double tolerance = mixed_tolerance(a_norm_inf, columns.rows(), rules);
  Columns active = all_columns(columns.count());
  std::vector<Progress> progress(columns.count());
  columns.begin();
  if (rules == MixedRules::lapack) require_single(columns.sizes(active));
  for (int step = 0; !active.empty(); ++step) {
    report.steps = step;
    columns.correct(active);
    // The first solution is where corrections begin.
    if (step > 0) columns.minimize_residual(tolerance);
    const std::vector<Sizes> sizes = columns.sizes(active);
    const Columns left = unfinished(sizes, tolerance, step, rules, active, progress);
    if (rules == MixedRules::lapack && !left.empty()) require_single(sizes);
    active = hopeful(left, progress, step, rules);
    report.converged = report.converged && active.size() == left.size();
  }
  return report;
}

}  // namespace lugpu
