#include "accuracy/gmres.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "matrix/norms.hpp"

namespace lugpu {
namespace {

constexpr int kCycle = 10;

double dot(const Matrix& x, const Matrix& y) {
  return std::inner_product(x.values().begin(), x.values().end(), y.values().begin(), 0.0);
}

// Without over- or underflow of squares.
double norm_2(const Matrix& x) {
  const double largest = norm_max(x);
  if (largest == 0 || !std::isfinite(largest)) return largest;
  double sum = 0;
  for (const double value : x.values()) sum += value / largest * (value / largest);
  return largest * std::sqrt(sum);
}

// y += alpha x
void add(double alpha, const Matrix& x, Matrix& y) {
  for (std::size_t i = 0; i < y.values().size(); ++i) y.values()[i] += alpha * x.values()[i];
}

Matrix scaled(double alpha, Matrix x) {
  for (double& value : x.values()) value *= alpha;
  return x;
}

// One cycle: A Z = V H, and y that minimizes ||r - A Z y||_2 = ||beta e_1 - H y||_2, where Givens
// rotations make H upper triangular column by column.
class Cycle {
 public:
  Cycle(const Residual& residual, const Matrix& r, const ApplyInverse& apply_inverse)
      : residual_(residual), apply_inverse_(apply_inverse), g_{norm_2(r)} {
    v_.push_back(scaled(1 / g_[0], r));
  }

  /// ||r - A Z y||_2
  double residual_norm() const { return std::abs(g_.back()); }

  /// False if the space cannot grow: A Z y = r then, or a value is not finite.
  bool step() {
    Matrix z = v_.back();
    apply_inverse_(z, Op::none);
    Matrix w = scaled(-1, residual_(z, Matrix(z.rows(), 1)));  // A z
    std::vector<double> h;
    for (const Matrix& v : v_) {
      h.push_back(dot(w, v));
      add(-h.back(), v, w);
    }
    const double norm = norm_2(w);
    if (!std::isfinite(norm)) return false;
    z_.push_back(std::move(z));
    rotate(std::move(h), norm);
    if (norm == 0) return false;
    v_.push_back(scaled(1 / norm, std::move(w)));
    return true;
  }

  /// Z y
  Matrix correction() const {
    const std::size_t m = z_.size();
    std::vector<double> y(g_.begin(), g_.begin() + static_cast<std::ptrdiff_t>(m));
    Matrix d(v_[0].rows(), 1);
    for (std::size_t i = m; i-- > 0;) {
      for (std::size_t j = i + 1; j < m; ++j) y[i] -= h_[j][i] * y[j];
      y[i] /= h_[i][i];
      add(y[i], z_[i], d);
    }
    return d;
  }

 private:
  struct Rotation {
    double c, s;
  };

  // h: a new column of H, which has `below` under its last element.
  void rotate(std::vector<double> h, double below) {
    for (std::size_t i = 0; i < rotations_.size(); ++i) {
      const auto [c, s] = rotations_[i];
      const double top = h[i], bottom = h[i + 1];
      h[i] = c * top + s * bottom;
      h[i + 1] = c * bottom - s * top;
    }
    const double length = std::hypot(h.back(), below);
    const Rotation last = length > 0 ? Rotation{h.back() / length, below / length} : Rotation{1, 0};
    rotations_.push_back(last);
    h.back() = length;
    h_.push_back(std::move(h));
    g_.push_back(-last.s * g_.back());
    g_[g_.size() - 2] *= last.c;
  }

  const Residual& residual_;
  const ApplyInverse& apply_inverse_;
  std::vector<Matrix> v_, z_;           // n x 1 each
  std::vector<std::vector<double>> h_;  // columns
  std::vector<Rotation> rotations_;
  std::vector<double> g_;  // beta e_1, rotated
};

}  // namespace

Gmres gmres(const Residual& residual, const Matrix& b, Matrix& x, double tolerance, int most_steps,
            const ApplyInverse& apply_inverse) {
  Gmres report;
  Matrix r = residual(x, b);
  for (double size = norm_max(r);;) {
    report.converged = size <= tolerance * norm_max(x);
    if (report.converged || report.steps >= most_steps) return report;
    Cycle cycle(residual, r, apply_inverse);
    for (int i = 0; i < kCycle && report.steps < most_steps; ++i) {
      ++report.steps;
      if (!cycle.step() || cycle.residual_norm() <= tolerance * norm_max(x)) break;
    }
    Matrix next = x;
    add(1, cycle.correction(), next);
    r = residual(next, b);
    const double reached = norm_max(r);
    if (!(reached < size)) return report;
    x = std::move(next);
    if (2 * reached > size) most_steps = report.steps;
    size = reached;
  }
}

}  // namespace lugpu
