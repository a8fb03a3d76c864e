#include "accuracy/condition.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "matrix/norms.hpp"
#include "operators/product.hpp"

namespace lugpu {
namespace {

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
  static constexpr int kMostColumns = 4;

  double sum() const {
    double total = 0;
    for (const double value : x_) total += std::abs(value);
    return total;
  }

  bool raise(double value) {
    if (std::isnan(value)) value = INFINITY;
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

  // A last vector, against matrices made to deceive the others.
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

Op flipped(Op op) {
  return op == Op::none ? Op::transpose : Op::none;
}

// Applies `op` for the estimates that want a product with it.
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

InverseNorms estimate_inverse_norms(const MatrixView& a, Op op, const Matrix& weights,
                                    const ApplyInverse& apply_inverse) {
  constexpr double kRoom = 3;  // the estimate of a norm is seldom less than a third of it
  const std::size_t n = a.rows(), defect = weights.cols();
  InverseNorms found;
  found.stretch = INFINITY;
  const auto weigh = [&](Matrix& x, const std::vector<std::size_t>& which) {
    for (std::size_t c = 0; c < which.size(); ++c) {
      for (std::size_t i = 0; i < n && which[c] != defect; ++i) x(i, c) *= weights(i, which[c]);
    }
  };
  // The column of the defect is the last one, if it is there.
  const auto defect_column = [&](const Matrix& x, const std::vector<std::size_t>& which) {
    Matrix column;
    if (which.back() != defect) return column;
    column = Matrix(n, 1);
    std::copy(x.column(which.size() - 1), x.column(which.size() - 1) + n, column.column(0));
    return column;
  };
  const auto set_last = [&](Matrix& x, const Matrix& column) {
    std::copy(column.column(0), column.column(0) + n, x.column(x.cols() - 1));
  };
  std::vector<double> norms = estimate_norms_1(
      n, defect + 1, [&](Matrix& x, const std::vector<std::size_t>& which, Op wanted) {
        const Matrix before = defect_column(x, which);
        const bool has_defect = before.cols() > 0;
        if (wanted == Op::transpose) {
          // diag(w)' then N'; x - N' op(A)' x
          weigh(x, which);
          if (has_defect) set_last(x, multiply(a, flipped(op), before));
          apply_inverse(x, flipped(op));
        } else {
          apply_inverse(x, op);
          weigh(x, which);
        }
        if (!has_defect) return;
        Matrix after = defect_column(x, which);
        if (wanted == Op::none) {
          const double size = column_norm_1(after, 0);
          after = multiply(a, op, after);
          found.stretch = std::min(found.stretch, column_norm_1(after, 0) / size);
        }
        for (std::size_t i = 0; i < n; ++i) after(i, 0) = before(i, 0) - after(i, 0);
        set_last(x, after);
      });
  found.defect = kRoom * norms.back();
  norms.pop_back();
  found.weighted = std::move(norms);
  return found;
}

Condition estimate_condition(const MatrixView& a, double eps, const ApplyInverse& apply_inverse) {
  const std::size_t n = a.rows();
  if (n == 0) return {1, 1};
  const double norm = norm_1(a);
  if (norm == 0) return {0, 0};
  if (!std::isfinite(norm)) return {};
  Matrix ones(n, 1);
  std::fill(ones.values().begin(), ones.values().end(), 1.0);
  const InverseNorms inverse = estimate_inverse_norms(a, Op::none, ones, apply_inverse);
  const double rcond = 1 / norm / inverse.weighted[0];
  // A y is computed to within n eps ||A|| ||y||.
  const double rounding = static_cast<double>(n) * epsilon(Precision::double_precision);
  const double met = inverse.stretch / norm + rounding;
  Condition condition;
  condition.at_most = met < 1 ? met : 1;  // NaN: 1
  if (inverse.defect < kLargestDefect && rcond >= eps) condition.rcond = std::min(rcond, 1.0);
  return condition;
}

}  // namespace lugpu
