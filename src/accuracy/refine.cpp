#include "accuracy/refine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "accuracy/error_bounds.hpp"
#include "accuracy/gmres.hpp"
#include "matrix/norms.hpp"
#include "operators/product.hpp"

namespace lugpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMostSteps = 5;        // gerfs's
constexpr int kMostMixedSteps = 30;  // dsgesv's
constexpr std::size_t kMostStalled = 4;
// Below the first order sqrt(n) eps is less than what rounding does to the residual itself; beyond
// the second it would let pass what the limit of solve_ratio, which has no n, refuses.
constexpr std::size_t kLeastOrder = 16, kMostOrder = 100;

using Columns = std::vector<std::size_t>;

Columns all_columns(const Matrix& x) {
  Columns columns(x.cols());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return columns;
}

// X(:, which)
Matrix chosen(const Matrix& x, const Columns& which) {
  Matrix part(x.rows(), which.size());
  for (std::size_t c = 0; c < which.size(); ++c) {
    std::copy(x.column(which[c]), x.column(which[c]) + x.rows(), part.column(c));
  }
  return part;
}

void set_column(Matrix& x, std::size_t j, const Matrix& from, std::size_t c) {
  std::copy(from.column(c), from.column(c) + x.rows(), x.column(j));
}

double in_precision(double value, Precision precision) {
  return precision == Precision::double_precision ? value : static_cast<float>(value);
}

}  // namespace

Refinement refine(const MatrixView& a, const Matrix& b, Matrix& x, Precision precision,
                  const ApplyInverse& apply_inverse) {
  Refinement report;
  const double eps = epsilon(precision);
  Columns active = all_columns(x);
  std::vector<double> last(x.cols(), kInfinity);  // backward errors
  Matrix before = x;                              // X(:, active), before the last step
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

namespace {

double tolerance_of(double a_norm_inf, std::size_t n, MixedRules rules) {
  const auto order =
      static_cast<double>(rules == MixedRules::lapack ? n : std::clamp(n, kLeastOrder, kMostOrder));
  return a_norm_inf * epsilon(Precision::double_precision) * std::sqrt(order);
}

// The columns on which solve_mixed() works, and what it knows of them.
struct Progress {
  Columns active, stalled;
  std::vector<double> last;  // residuals
};

// From X(:, active) and its residual r: X is updated where it improved, and the result are the
// places in `active` of the columns that need another step.
Columns judge_columns(const Matrix& now, const Matrix& r, double tolerance, Progress& progress,
                      Matrix& x) {
  Columns unfinished;
  for (std::size_t c = 0; c < progress.active.size(); ++c) {
    const std::size_t j = progress.active[c];
    const double size = column_norm_max(r, c);
    if (!(size <= progress.last[j])) {
      progress.stalled.push_back(j);  // as it was
      continue;
    }
    set_column(x, j, now, c);
    if (size <= column_norm_max(now, c) * tolerance) continue;
    if (2 * size <= progress.last[j]) {
      unfinished.push_back(c);
    } else {
      progress.stalled.push_back(j);
    }
    progress.last[j] = size;
  }
  return unfinished;
}

// LAPACK's: none of the columns is done before all are.
Columns judge_together(const Matrix& now, const Matrix& r, double tolerance, Matrix& x) {
  x = now;
  for (std::size_t j = 0; j < x.cols(); ++j) {
    if (!(column_norm_max(r, j) <= column_norm_max(now, j) * tolerance)) return all_columns(x);
  }
  return {};
}

}  // namespace

Refinement solve_mixed(const Residual& residual, double a_norm_inf, const Matrix& b, Matrix& x,
                       const ApplyInverse& apply_inverse, MixedRules rules) {
  Refinement report;
  const double tolerance = tolerance_of(a_norm_inf, b.rows(), rules);
  x = Matrix(b.rows(), b.cols());
  Matrix r = b;  // of the active columns
  Progress progress{all_columns(x), {}, std::vector<double>(x.cols(), kInfinity)};
  Columns& active = progress.active;
  for (int step = 0; !active.empty() && step <= kMostMixedSteps; ++step) {
    report.steps = step;
    // x += inv(A) r
    const Matrix before = chosen(x, active);
    Matrix now = std::move(r);
    apply_inverse(now, Op::none);
    for (std::size_t k = 0; k < now.values().size(); ++k) now.values()[k] += before.values()[k];
    r = residual(now, chosen(b, active));
    Columns unfinished = rules == MixedRules::lapack
                             ? judge_together(now, r, tolerance, x)
                             : judge_columns(now, r, tolerance, progress, x);
    r = chosen(r, unfinished);
    for (std::size_t& c : unfinished) c = active[c];
    active = std::move(unfinished);
  }
  report.converged = active.empty() && progress.stalled.size() <= kMostStalled;
  if (!report.converged) return report;
  const int left = kMostMixedSteps - report.steps;
  for (const std::size_t j : progress.stalled) {
    Matrix column = chosen(x, {j});
    const Gmres solved = gmres(residual, chosen(b, {j}), column, tolerance, left, apply_inverse);
    set_column(x, j, column, 0);
    report.gmres_steps = std::max(report.gmres_steps, solved.steps);
    report.converged = report.converged && solved.converged;
  }
  report.steps += report.gmres_steps;
  return report;
}

}  // namespace lugpu
