#include "iterative/cg.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace lugpu {
namespace {

// Scalars of the device.
constexpr std::size_t kSquare = 0;

class Cg {
 public:
  Cg(const GridOperator& a, Vectors& vectors, const StoppingRule& rule)
      : a_(a),
        vectors_(vectors),
        rule_(rule),
        real_bytes_(element_size(vectors.layout().precision)),
        rr_partials_(partials()),
        curvature_partials_(partials()),
        history_(vectors.context().allocate((rule.iterations + 1) * real_bytes_)),
        ended_(vectors.context().zeros(1)),
        options_(vectors.cut().options()) {}

  Iteration solve(const Surface& b, Surface& x) {
    vectors_.reduce(Reduction::dot, b, b, kSquare);
    square_of_b_ = vectors_.scalar(kSquare);
    limit_ = rule_.tolerance * rule_.tolerance * square_of_b_;
    start(b, x);
    Iteration result;
    std::size_t done = 0;  // steps enqueued
    while (done < rule_.iterations && !is_over(result)) {
      const std::size_t last = std::min(done + steps_until_look(done), rule_.iterations);
      for (; done < last; ++done) step(done);
      look(result, done);
    }
    if (!is_over(result)) {
      direction(done);
      look(result, done + 1);
    }
    finish(result, x);
    return result;
  }

 private:
  // Two vectors of which a step reads one and writes the other; the same one for buffers.
  struct Updated {
    Surface old;
    std::optional<Surface> other;
    const Surface& now(std::size_t k) const { return other && k % 2 == 1 ? *other : old; }
    const Surface& next(std::size_t k) const { return now(k + 1); }
  };

  cl::Buffer partials() const {
    return vectors_.context().allocate(vectors_.cut().groups() * real_bytes_);
  }
  Updated updated(Surface vector) {
    Updated both{std::move(vector), {}};
    if (vectors_.layout().storage == Storage::image) both.other = vectors_.take();
    return both;
  }

  // r = b - A x, its square in the partial sums, and p = 0.
  void start(const Surface& b, const Surface& x) {
    Surface product = vectors_.take(), r = vectors_.take();
    a_.apply(vectors_, x, product);
    vectors_.combine(Operation::subtract, {}, b, {}, product, r);
    vectors_.partial_sums(r, r, rr_partials_);
    vectors_.combine(Operation::multiply, {0}, b, {0}, b, product);
    p_ = {std::move(product), vectors_.take()};
    r_ = updated(std::move(r));
    x_ = updated(x);
  }

  void direction(std::size_t k) {
    with_real(vectors_.layout().precision, [&](auto real) {
      a_.run(vectors_, r_->old.kernel("grid/cg_direction.cl", "cg_direction", options_), r_->now(k),
             p_->now(k), p_->next(k), rr_partials_, curvature_partials_, history_, ended_,
             real(limit_), static_cast<cl_int>(k));
    });
  }

  void step(std::size_t k) {
    direction(k);
    with_real(vectors_.layout().precision, [&](auto real) {
      a_.run(vectors_, r_->old.kernel("grid/cg_update.cl", "cg_update", options_), x_->now(k),
             x_->next(k), r_->now(k), r_->next(k), p_->next(k), curvature_partials_, rr_partials_,
             history_, ended_, real(limit_), static_cast<cl_int>(k));
    });
  }

  bool is_over(const Iteration& result) const { return result.converged || !result.reason.empty(); }

  // Reads r . r of the first `count` steps, and whether they came to an end.
  void look(Iteration& result, std::size_t count) {
    const std::size_t known = result.residuals.size();
    cl_int ended = 0;
    vectors_.context().read_back("residuals", ended_, 0, sizeof ended, &ended);
    with_real(vectors_.layout().precision, [&](auto real) {
      std::vector<decltype(real(0))> squares(count - known);
      vectors_.context().read_back("residuals", history_, known * real_bytes_,
                                   squares.size() * real_bytes_, squares.data());
      for (const auto square : squares) {
        if (is_over(result)) break;
        const double relative = square_of_b_ > 0 ? std::sqrt(square / square_of_b_) : 0;
        result.residuals.push_back(square_of_b_ > 0 || square == 0 ? relative : INFINITY);
        result.converged = square <= real(limit_);
        if (!std::isfinite(square)) {
          result.reason = "The residual is not finite";
        } else if (ended != 0 && result.residuals.size() == static_cast<std::size_t>(ended)) {
          result.reason =
              "The matrix is not positive definite: p . A p <= 0 in step " + std::to_string(ended);
        }
      }
    });
  }

  void finish(Iteration& result, Surface& x) {
    result.iterations = result.residuals.size() - 1;
    if (!is_over(result)) {
      result.reason = "The residual is not below the tolerance after " +
                      std::to_string(result.iterations) + " iterations";
    }
    if (x_->other && result.iterations % 2 == 1) std::swap(x_->old, *x_->other);
    x = x_->old;
    for (auto* both : {&x_, &r_, &p_}) {
      if ((*both)->other) vectors_.give_back(std::move(*(*both)->other));
      if (both != &x_) vectors_.give_back(std::move((*both)->old));
    }
  }

  const GridOperator& a_;
  Vectors& vectors_;
  StoppingRule rule_;
  std::size_t real_bytes_;
  cl::Buffer rr_partials_, curvature_partials_, history_, ended_;
  std::string options_;
  std::optional<Updated> x_, r_, p_;
  double square_of_b_ = 0, limit_ = 0;
};

}  // namespace

Iteration conjugate_gradients(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                              const StoppingRule& rule) {
  return Cg(a, vectors, rule).solve(b, x);
}

}  // namespace lugpu
