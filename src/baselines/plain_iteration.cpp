#include "baselines/plain_iteration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/clones.hpp"

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

}  // namespace

template <typename Real>
PlainIteration<Real>::PlainIteration(PlainMethod method, const Grid& grid)
    : method_(method),
      grid_(grid),
      r_(grid_.field()),
      p_(method == PlainMethod::cg ? grid_.field() : Field()),
      q_(method == PlainMethod::cg ? grid_.field() : Field()) {}

template <typename Real>
Iteration PlainIteration<Real>::solve(const Field& b, Field& x, const StoppingRule& rule) {
  return method_ == PlainMethod::cg ? conjugate_gradients(b, x, rule) : relax(b, x, rule);
}

template <typename Real>
void PlainIteration<Real>::sweep(const Field& b, Field& x) {
  if (method_ == PlainMethod::jacobi) {
    grid_.jacobi(x, b, r_);
    std::swap(x, r_);
  } else {
    grid_.half_sweep(x, b, 0);
    grid_.half_sweep(x, b, 1);
  }
}

template <typename Real>
Iteration PlainIteration<Real>::relax(const Field& b, Field& x, const StoppingRule& rule) {
  Progress progress(rule.blind ? 0 : dot(b, b), rule);
  std::size_t& done = progress.iteration.iterations;
  if (rule.blind) {
    for (; done < rule.iterations; ++done) sweep(b, x);
    progress.iteration.converged = true;
    return std::move(progress.iteration);
  }
  while (!progress.is_over(grid_.residual(x, b, r_), "sweeps")) {
    const std::size_t end = std::min(done + steps_until_look(done), rule.iterations);
    for (; done < end; ++done) sweep(b, x);
  }
  return std::move(progress.iteration);
}

template <typename Real>
Iteration PlainIteration<Real>::conjugate_gradients(const Field& b, Field& x,
                                                    const StoppingRule& rule) {
  Progress progress(rule.blind ? 0 : dot(b, b), rule);
  std::size_t& done = progress.iteration.iterations;
  double square = grid_.residual(x, b, r_);
  p_ = r_;
  while (rule.blind ? done < rule.iterations && square > 0
                    : !progress.is_over(square, "iterations")) {
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
  if (rule.blind) progress.iteration.converged = progress.iteration.reason.empty();
  return std::move(progress.iteration);
}

template class PlainIteration<float>;
template class PlainIteration<double>;

}  // namespace lugpu
