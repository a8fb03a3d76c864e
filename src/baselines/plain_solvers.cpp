#include "baselines/plain_solvers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "baselines/clones.hpp"
#include "baselines/columns.hpp"
#include "baselines/plain_grid.hpp"
#include "matrix/rounded.hpp"

namespace lugpu {
namespace {

// Elements whose products are summed up in Real before the sum goes on in double.
constexpr std::size_t kBlock = 1024;

template <typename Real>
LUGPU_CLONES double dot(const std::vector<Real>& x, const std::vector<Real>& y) {
  double total = 0;
  for (std::size_t begin = 0; begin < x.size(); begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, x.size());
    Real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = begin; i < end; ++i) sum += x[i] * y[i];
    total += static_cast<double>(sum);
  }
  return total;
}

// x += alpha p; r -= alpha q; r . r
template <typename Real>
LUGPU_CLONES double update(Real alpha, const std::vector<Real>& p, const std::vector<Real>& q,
                           std::vector<Real>& x, std::vector<Real>& r) {
  double total = 0;
  for (std::size_t begin = 0; begin < x.size(); begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, x.size());
    Real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = begin; i < end; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      sum += r[i] * r[i];
    }
    total += static_cast<double>(sum);
  }
  return total;
}

// p = r + beta p
template <typename Real>
LUGPU_CLONES void new_direction(Real beta, const std::vector<Real>& r, std::vector<Real>& p) {
#pragma omp simd
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = r[i] + beta * p[i];
}

// How a method goes on, after its residual's square is known.
class Progress {
 public:
  Progress(double square_of_b, const StoppingRule& rule) : square_of_b_(square_of_b), rule_(rule) {}

  // Takes note of r . r. what: the steps in plural.
  bool is_over(double square, const char* what) {
    iteration.residuals.push_back(square == 0         ? 0
                                  : square_of_b_ == 0 ? std::numeric_limits<double>::infinity()
                                                      : std::sqrt(square / square_of_b_));
    iteration.converged = square <= rule_.tolerance * rule_.tolerance * square_of_b_;
    if (iteration.converged) return true;
    if (!std::isfinite(square)) {
      iteration.reason = "The residual is not finite";
    } else if (iteration.iterations == rule_.iterations) {
      iteration.reason = "The residual is not below the tolerance after " +
                         std::to_string(iteration.iterations) + " " + what;
    }
    return !iteration.reason.empty();
  }

  Iteration iteration;

 private:
  double square_of_b_;
  StoppingRule rule_;
};

template <typename Real>
class PlainSolver : public PreparedSolver {
 public:
  PlainSolver(PlainMethod method, const Grid& grid, const StoppingRule& rule)
      : method_(method),
        unknowns_(grid.unknowns()),
        grid_(grid),
        rule_(rule),
        r_(grid_.field()),
        p_(method == PlainMethod::cg ? grid_.field() : Field()),
        q_(method == PlainMethod::cg ? grid_.field() : Field()) {}

  void upload(const Matrix& b, const Matrix& x) override {
    b_ = fields(b);
    start_ = fields(x);
    x_ = start_;
  }

  Iteration solve() override {
    return solve_columns(b_.size(), [&](std::size_t j) {
      x_[j] = start_[j];
      return method_ == PlainMethod::cg ? conjugate_gradients(b_[j], x_[j]) : relax(b_[j], x_[j]);
    });
  }

  Matrix download() override {
    Matrix x(unknowns_, x_.size());
    for (std::size_t j = 0; j < x_.size(); ++j) grid_.store(x_[j], x.column(j));
    return x;
  }

 private:
  using Field = typename PlainGrid<Real>::Field;

  std::vector<Field> fields(const Matrix& columns) const {
    const std::vector<Real> values = rounded<Real>(columns);
    std::vector<Field> result(columns.cols(), grid_.field());
    for (std::size_t j = 0; j < columns.cols(); ++j) {
      grid_.load(values.data() + j * columns.rows(), result[j]);
    }
    return result;
  }

  Iteration relax(const Field& b, Field& x) {
    Progress progress(dot(b, b), rule_);
    std::size_t& done = progress.iteration.iterations;
    while (!progress.is_over(grid_.residual(x, b, r_), "sweeps")) {
      const std::size_t end = std::min(done + steps_until_look(done), rule_.iterations);
      for (; done < end; ++done) sweep(b, x);
    }
    return std::move(progress.iteration);
  }

  void sweep(const Field& b, Field& x) {
    if (method_ == PlainMethod::jacobi) {
      grid_.jacobi(x, b, r_);
      std::swap(x, r_);
    } else {
      grid_.half_sweep(x, b, 0);
      grid_.half_sweep(x, b, 1);
    }
  }

  Iteration conjugate_gradients(const Field& b, Field& x) {
    Progress progress(dot(b, b), rule_);
    std::size_t& done = progress.iteration.iterations;
    double square = grid_.residual(x, b, r_);
    p_ = r_;
    while (!progress.is_over(square, "iterations")) {
      const double curvature = grid_.apply(p_, q_);
      if (curvature <= 0) {
        progress.iteration.reason =
            "The matrix is not positive definite: p . A p <= 0 in step " + std::to_string(done + 1);
        break;
      }
      const double old = square;
      square = update(static_cast<Real>(old / curvature), p_, q_, x, r_);
      new_direction(static_cast<Real>(square / old), r_, p_);
      ++done;
    }
    return std::move(progress.iteration);
  }

  PlainMethod method_;
  std::size_t unknowns_;
  PlainGrid<Real> grid_;
  StoppingRule rule_;
  std::vector<Field> b_, start_, x_;
  Field r_, p_, q_;
};

}  // namespace

void require_plain(PlainMethod method, const StructuredMatrix& a, Precision precision) {
  if (!a.grid) throw Unsupported("The plain loops are for grids.");
  const Grid& grid = *a.grid;
  constexpr double kFields = 11;  // b, the start, x; r, p, q; the coefficients; A's columns before
  require_half_of_memory(
      kFields * static_cast<double>(grid.unknowns()) * static_cast<double>(element_size(precision)),
      "A grid of " + std::to_string(grid.unknowns()) + " points");
  if (method != PlainMethod::gauss_seidel) return;
  for (int axis = 0; axis < 3; ++axis) {
    if (grid.walls[axis] == Wall::periodic && grid.size[axis] % 2 == 1 && grid.size[axis] > 1 &&
        grid.coefficients[axis] != 0) {
      throw Unsupported("A periodic axis of " + std::to_string(grid.size[axis]) +
                        " points has neighbours of the same colour; use an even number of them.");
    }
  }
}

std::unique_ptr<PreparedSolver> make_plain(PlainMethod method, const StructuredMatrix& a,
                                           Precision precision, const StoppingRule& rule) {
  require_plain(method, a, precision);
  if (precision == Precision::double_precision) {
    return std::make_unique<PlainSolver<double>>(method, *a.grid, rule);
  }
  return std::make_unique<PlainSolver<float>>(method, *a.grid, rule);
}

}  // namespace lugpu
