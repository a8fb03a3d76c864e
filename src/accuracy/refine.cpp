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
constexpr int kPatience = 10;        // corrections in which a residual is halved, or it is given up
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

// What solve_mixed() knows of a column.
struct Progress {
  Sizes now;
  double least = INFINITY;  // max |r|
  int since = 0;            // the correction that last halved it
};

// The columns of `active` that are not done; by LAPACK's rules none is done before all are.
Columns unfinished(const Columns& active, const std::vector<Progress>& progress, double tolerance,
                   MixedRules rules) {
  Columns left;
  for (const std::size_t j : active) {
    const auto [x, r] = progress[j].now;
    if (!(r <= x * tolerance)) left.push_back(j);
  }
  return rules == MixedRules::lapack && !left.empty() ? active : left;
}

// The columns of `active` that another correction after number `step` may help.
Columns hopeful(const Columns& active, std::vector<Progress>& progress, int step,
                MixedRules rules) {
  const int patience = rules == MixedRules::lapack ? kMostMixedSteps : kPatience;
  Columns left;
  for (const std::size_t j : active) {
    auto& [now, least, since] = progress[j];
    if (2 * now.r <= least) {
      least = now.r;
      since = step;
    }
    if (step < std::min(since + patience, kMostMixedSteps) && std::isfinite(now.r)) {
      left.push_back(j);
    }
  }
  return left;
}

// dsgesv's: what overflows single precision is not refined, whatever it is scaled by.
void require_single(const std::vector<Sizes>& sizes, MixedRules rules) {
  if (rules != MixedRules::lapack) return;
  for (const auto [x, r] : sizes) {
    if (overflows<float>(r)) refuse_overflow<float>(r);
  }
}

}  // namespace

Refinement solve_mixed(RefinedColumns& columns, double a_norm_inf, MixedRules rules) {
  Refinement report;
  report.converged = true;
  const double tolerance = mixed_tolerance(a_norm_inf, columns.rows(), rules);
  std::vector<Progress> progress(columns.count());
  const auto note = [&](const Columns& which, const std::vector<Sizes>& sizes) {
    for (std::size_t c = 0; c < which.size(); ++c) progress[which[c]].now = sizes[c];
  };
  Columns active = all_columns(columns.count());
  require_single(columns.begin(), rules);
  for (int step = 0; !active.empty(); ++step) {
    report.steps = step;
    const auto corrected = columns.correct(active);
    note(active, corrected);
    active = unfinished(active, progress, tolerance, rules);
    if (!active.empty()) require_single(corrected, rules);
    // The first solution is where corrections begin.
    if (step > 0) note(active, columns.minimize_residual(active));
    const std::size_t count = active.size();
    active = hopeful(active, progress, step, rules);
    report.converged = report.converged && active.size() == count;
  }
  return report;
}

}  // namespace lugpu
