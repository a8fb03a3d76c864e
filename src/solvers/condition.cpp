#include "solvers/condition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "matrix/norms.hpp"

namespace lugpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// lacn2 for one operator M: which product it wants next, until it wants none.
class NormEstimate {
 public:
  explicit NormEstimate(std::size_t n) : x_(n, 1.0 / static_cast<double>(n)), signs_(n) {}

  /// Absent when the estimate stands.
  std::optional<Op> wanted() const { return wanted_; }
  /// What is to be multiplied.
  const std::vector<double>& x() const { return x_; }
  double value() const { return estimate_; }

  /// The product that was wanted.
  void take(const double* product) {
    x_.assign(product, product + x_.size());
    switch (stage_) {
      case Stage::ones:
      case Stage::unit_vector:
        take_column();
        break;
      case Stage::signs:
        choose_column();
        break;
      case Stage::alternating:
        raise(2 * sum() / (3 * static_cast<double>(x_.size())));
        wanted_.reset();
    }
  }

 private:
  enum class Stage { ones, signs, unit_vector, alternating };
  static constexpr int kMostColumns = 5;

  double sum() const {
    double total = 0;
    for (const double value : x_) total += std::abs(value);
    return total;
  }

  bool raise(double value) {
    if (std::isnan(value)) value = kInfinity;
    const bool higher = value > estimate_;
    estimate_ = std::max(estimate_, value);
    return higher;
  }

  // x = M times a vector of 1-norm 1, whose 1-norm is a lower bound: is there a steeper direction?
  void take_column() {
    const bool higher = raise(sum());
    const std::vector<double> before = signs_;
    for (std::size_t i = 0; i < x_.size(); ++i) signs_[i] = x_[i] > 0 ? 1 : -1;
    if (x_.size() == 1 || !std::isfinite(estimate_)) {
      wanted_.reset();
    } else if (stage_ == Stage::unit_vector && (!higher || signs_ == before)) {
      alternate();
    } else {
      ask(Stage::signs, Op::transpose, signs_);
    }
  }

  // x = M' signs, the gradient: its largest element names the column to look at.
  void choose_column() {
    const auto smaller = [](double a, double b) { return std::abs(a) < std::abs(b); };
    const std::size_t last = column_;
    column_ = std::max_element(x_.begin(), x_.end(), smaller) - x_.begin();
    const bool stays = columns_ > 0 && std::abs(x_[last]) == std::abs(x_[column_]);
    if (stays || columns_ == kMostColumns) {
      alternate();
      return;
    }
    ++columns_;
    std::vector<double> unit(x_.size(), 0.0);
    unit[column_] = 1;
    ask(Stage::unit_vector, Op::none, std::move(unit));
  }

  // A last vector, against matrices that are made to deceive the rest.
  void alternate() {
    std::vector<double> x(x_.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double part = static_cast<double>(i) / static_cast<double>(x.size() - 1);
      x[i] = (i % 2 == 0 ? 1 : -1) * (1 + part);
    }
    ask(Stage::alternating, Op::none, std::move(x));
  }

  void ask(Stage stage, Op op, std::vector<double> x) {
    stage_ = stage;
    wanted_ = op;
    x_ = std::move(x);
  }

  Stage stage_ = Stage::ones;
  std::optional<Op> wanted_ = Op::none;
  std::vector<double> x_, signs_;
  double estimate_ = 0;
  std::size_t column_ = 0;
  int columns_ = 0;  // looked at
};

// Those estimates that want a product with `op` get it.
void advance(std::vector<NormEstimate>& estimates, std::size_t n, Op op,
             const ApplyOperators& apply) {
  std::vector<std::size_t> which;
  for (std::size_t j = 0; j < estimates.size(); ++j) {
    if (estimates[j].wanted() == op) which.push_back(j);
  }
  if (which.empty()) return;
  Matrix x(n, which.size());
  for (std::size_t c = 0; c < which.size(); ++c) {
    const std::vector<double>& from = estimates[which[c]].x();
    std::copy(from.begin(), from.end(), x.column(c));
  }
  apply(x, which, op);
  for (std::size_t c = 0; c < which.size(); ++c) estimates[which[c]].take(x.column(c));
}

}  // namespace

std::vector<double> estimate_norms_1(std::size_t n, std::size_t count,
                                     const ApplyOperators& apply) {
  if (n == 0) return std::vector<double>(count, 0.0);
  std::vector<NormEstimate> estimates(count, NormEstimate(n));
  const auto unfinished = [](const NormEstimate& estimate) {
    return estimate.wanted().has_value();
  };
  while (std::any_of(estimates.begin(), estimates.end(), unfinished)) {
    advance(estimates, n, Op::none, apply);
    advance(estimates, n, Op::transpose, apply);
  }
  std::vector<double> norms;
  for (const NormEstimate& estimate : estimates) norms.push_back(estimate.value());
  return norms;
}

double estimate_rcond(const Matrix& a, const ApplyInverse& apply_inverse) {
  if (a.rows() == 0) return 1;
  const double norm = norm_1(a);
  if (!std::isfinite(norm) || norm == 0) return 0;
  const auto inverse = [&](Matrix& x, const std::vector<std::size_t>&, Op op) {
    apply_inverse(x, op);
  };
  const double inverse_norm = estimate_norms_1(a.rows(), 1, inverse)[0];
  if (!std::isfinite(inverse_norm) || inverse_norm == 0) return 0;
  return 1 / norm / inverse_norm;
}

}  // namespace lugpu
