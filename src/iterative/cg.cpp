#include "iterative/cg.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "iterative/norm.hpp"

namespace lugpu {
namespace {

// Two vectors of which a step reads one and writes the other; the same one for buffers.
struct Updated {
  Surface old;
  std::optional<Surface> other;
  const Surface& now(std::size_t k) const { return other && k % 2 == 1 ? *other : old; }
  const Surface& next(std::size_t k) const { return now(k + 1); }
};

// What an iteration keeps on the device.
struct State {
  Updated x, r, p;
  cl::Buffer rr_partials, curvature_partials;
  cl::Buffer history;  // r . r before every step
  cl::Buffer ended;    // two ints: why it cannot go on, and for a stored matrix whether it is over
  double limit;        // of r . r
};

// The launches of a step.
class Steps {
 public:
  virtual ~Steps() = default;
  // r = alpha b - A x, and the partial sums of r . r.
  virtual void start(double alpha, const Surface& b, const Surface& x, Surface& r,
                     const cl::Buffer& rr_partials) = 0;
  // r . r of step k into the history; then p. x is up to date unless it is over.
  virtual void direction(State& state, std::size_t k) = 0;
  // x and r, or r alone if direction() changes x.
  virtual void update(State& state, std::size_t k) = 0;
  // x, after k steps.
  virtual void end(State& state, std::size_t k) = 0;
};

class GridSteps : public Steps {
 public:
  GridSteps(const GridOperator& a, Vectors& vectors)
      : a_(a), vectors_(vectors), options_(vectors.cut().options() + a.options()) {}

  void start(double alpha, const Surface& b, const Surface& x, Surface& r,
             const cl::Buffer& rr_partials) override {
    with_real(vectors_.layout().precision, [&](auto real) {
      a_.run(vectors_.context(), vectors_.cut(), r.kernel("grid/cg_start.cl", "cg_start", options_),
             x, b, r, rr_partials, real(alpha));
    });
  }

  void direction(State& s, std::size_t k) override {
    const Surface& p = k == 0 ? s.r.now(0) : s.p.now(k);  // times 0 in the first step
    with_real(vectors_.layout().precision, [&](auto real) {
      a_.run(vectors_.context(), vectors_.cut(),
             s.r.old.kernel("grid/cg_direction.cl", "cg_direction", options_), s.r.now(k), p,
             s.p.next(k), s.rr_partials, s.curvature_partials, s.history, s.ended, real(s.limit),
             static_cast<cl_int>(k));
    });
  }

  void update(State& s, std::size_t k) override {
    with_real(vectors_.layout().precision, [&](auto real) {
      a_.run(vectors_.context(), vectors_.cut(),
             s.r.old.kernel("grid/cg_update.cl", "cg_update", options_), s.x.now(k), s.x.next(k),
             s.r.now(k), s.r.next(k), s.p.next(k), s.curvature_partials, s.rr_partials, s.history,
             s.ended, real(s.limit), static_cast<cl_int>(k));
    });
  }

  void end(State&, std::size_t) override {}

 private:
  const GridOperator& a_;
  Vectors& vectors_;
  std::string options_;
};

class StoredSteps : public Steps {
 public:
  StoredSteps(const Operator& a, Vectors& vectors)
      : a_(a),
        vectors_(vectors),
        options_(vectors.cut().options()),
        q_(vectors.take()),
        alpha_(vectors.take_room(kRoom)),
        over_(vectors.take_room(kRoom)) {
    vectors.context().fill(over_, 0, sizeof(cl_int));
  }
  ~StoredSteps() override {
    vectors_.give_back(std::move(q_));
    vectors_.give_back_room(std::move(alpha_), kRoom);
    vectors_.give_back_room(std::move(over_), kRoom);
  }
  StoredSteps(const StoredSteps&) = delete;
  StoredSteps& operator=(const StoredSteps&) = delete;

  void start(double alpha, const Surface& b, const Surface& x, Surface& r,
             const cl::Buffer& rr_partials) override {
    a_.apply(vectors_, x, q_);
    vectors_.combine(Operation::subtract, {alpha}, b, {}, q_, r);
    vectors_.partial_sums(r, r, rr_partials);
  }

  void direction(State& s, std::size_t k) override {
    const std::size_t before = k == 0 ? 0 : k - 1;  // x is one step behind
    with_real(vectors_.layout().precision, [&](auto real) {
      run(s, "iterative/cg_direction.cl", "cg_direction", s.x.now(before), s.x.next(before),
          s.r.now(k), s.p.now(k), s.p.next(k), s.rr_partials, alpha_, s.history, s.ended, over_,
          real(s.limit), static_cast<cl_int>(k));
    });
  }

  void update(State& s, std::size_t k) override {
    a_.apply(vectors_, s.p.next(k), q_, {s.curvature_partials, over_});
    run(s, "iterative/cg_update.cl", "cg_update", s.r.now(k), s.r.next(k), q_, s.curvature_partials,
        s.history, s.rr_partials, alpha_, s.ended, over_, static_cast<cl_int>(k));
  }

  void end(State& s, std::size_t k) override { direction(s, k); }

 private:
  static constexpr std::size_t kRoom = sizeof(double);  // of a scalar

  template <typename... Arguments>
  void run(State& s, const char* file, const char* function, const Arguments&... arguments) {
    const VectorLayout& layout = vectors_.layout();
    vectors_.context().run("vector", s.r.old.kernel(file, function, options_),
                           vectors_.cut().items(), arguments..., static_cast<cl_int>(layout.rows),
                           static_cast<cl_int>(layout.columns),
                           static_cast<cl_int>(vectors_.cut().walk));
  }

  const Operator& a_;
  Vectors& vectors_;
  std::string options_;
  Surface q_;
  cl::Buffer alpha_, over_;
};

class Cg {
 public:
  Cg(Vectors& vectors, const StoppingRule& rule, Steps& steps)
      : vectors_(vectors),
        rule_(rule),
        steps_(steps),
        real_bytes_(element_size(vectors.layout().precision)) {}

  Iteration solve(const Surface& b, Surface& x) {
    if (rule_.blind) return solve_blindly(b, x);
    b_ = scaled_square(vectors_, b);
    Iteration result;
    if (b_.square == 0) {
      vectors_.combine(Operation::multiply, {0}, b, {0}, b, x);
      return {0, true, {0.0}, ""};
    }
    if (!std::isfinite(b_.square)) {
      return {0, false, {b_.square}, "The right-hand side is not finite"};
    }
    State state = started(b, x);
    std::size_t done = 0;  // steps enqueued
    while (done < rule_.iterations && !is_over(result)) {
      const std::size_t last = std::min(done + steps_until_look(done), rule_.iterations);
      for (; done < last; ++done) {
        steps_.direction(state, done);
        steps_.update(state, done);
      }
      look(state, result, done);
    }
    if (!is_over(result)) {
      steps_.direction(state, done);
      look(state, result, done + 1);
    }
    finish(state, result, x);
    return result;
  }

 private:
  Iteration solve_blindly(const Surface& b, Surface& x) {
    b_ = {1, 0};
    State state = started(b, x);
    for (std::size_t k = 0; k < rule_.iterations; ++k) {
      steps_.direction(state, k);
      steps_.update(state, k);
    }
    steps_.end(state, rule_.iterations);
    keep_x(state, rule_.iterations, x);
    return {rule_.iterations, false, {}, ""};
  }

  std::size_t partials_bytes() const { return vectors_.cut().groups() * real_bytes_; }
  std::size_t history_bytes() const { return (rule_.iterations + 1) * real_bytes_; }
  Updated updated(Surface vector) {
    Updated both{std::move(vector), {}};
    if (vectors_.layout().storage == Storage::image) both.other = vectors_.take();
    return both;
  }

  // r = b - A x, and its square in the partial sums.
  State started(const Surface& b, Surface& x) {
    if (b_.scale != 1) scale(vectors_, b_.scale, x);
    Surface r = vectors_.take();
    cl::Buffer rr = vectors_.take_room(partials_bytes());
    cl::Buffer ended = vectors_.take_room(sizeof(cl_int));
    vectors_.context().fill(ended, 0, sizeof(cl_int));
    steps_.start(b_.scale, b, x, r, rr);
    return {updated(x),
            updated(std::move(r)),
            {vectors_.take(), vectors_.take()},
            std::move(rr),
            vectors_.take_room(partials_bytes()),
            vectors_.take_room(history_bytes()),
            std::move(ended),
            rule_.tolerance * rule_.tolerance * b_.square};
  }

  bool is_over(const Iteration& result) const { return result.converged || !result.reason.empty(); }

  // Reads r . r of the first `count` steps, and whether they came to an end.
  void look(const State& state, Iteration& result, std::size_t count) {
    const std::size_t known = result.residuals.size();
    cl_int ended = 0;
    vectors_.context().checkpoint();
    vectors_.context().read_back("residuals", state.ended, 0, sizeof ended, &ended);
    with_real(vectors_.layout().precision, [&](auto real) {
      std::vector<decltype(real(0))> squares(count - known);
      vectors_.context().read_back("residuals", state.history, known * real_bytes_,
                                   squares.size() * real_bytes_, squares.data());
      for (const auto square : squares) {
        if (is_over(result)) break;
        result.residuals.push_back(std::sqrt(square / b_.square));
        result.converged = square <= real(state.limit);
        if (!std::isfinite(square)) {
          result.reason = "The residual is not finite";
        } else if (result.residuals.size() == static_cast<std::size_t>(ended)) {
          result.reason = why_ended(state, result) + " in step " + std::to_string(ended);
        }
      }
    });
  }

  // p . A p of the step that ended it, whose parts are still there, is not positive.
  std::string why_ended(const State& state, const Iteration& result) const {
    double curvature = 0;
    with_real(vectors_.layout().precision, [&](auto real) {
      std::vector<decltype(real(0))> parts(vectors_.cut().groups());
      vectors_.context().read_back("residuals", state.curvature_partials, 0,
                                   parts.size() * real_bytes_, parts.data());
      curvature = std::accumulate(parts.begin(), parts.end(), real(0));
    });
    if (!std::isfinite(curvature)) return "p . A p is not finite";
    // Where p is that small, p . A p rounds to zero.
    const bool is_tiny = result.residuals.back() < epsilon(vectors_.layout().precision);
    return is_tiny ? "Nothing is left of the residual but rounding errors: p . A p <= 0"
                   : "The matrix is not positive definite: p . A p <= 0";
  }

  // x after so many steps; the rest goes back.
  void keep_x(State& state, std::size_t steps, Surface& x) {
    if (state.x.other && steps % 2 == 1) std::swap(state.x.old, *state.x.other);
    x = std::move(state.x.old);
    for (auto* both : {&state.x, &state.r, &state.p}) {
      if (both->other) vectors_.give_back(std::move(*both->other));
      if (both != &state.x) vectors_.give_back(std::move(both->old));
    }
    vectors_.give_back_room(std::move(state.rr_partials), partials_bytes());
    vectors_.give_back_room(std::move(state.curvature_partials), partials_bytes());
    vectors_.give_back_room(std::move(state.history), history_bytes());
    vectors_.give_back_room(std::move(state.ended), sizeof(cl_int));
  }

  void finish(State& state, Iteration& result, Surface& x) {
    result.iterations = result.residuals.size() - 1;
    if (!is_over(result)) {
      result.reason = "The residual is not below the tolerance after " +
                      std::to_string(result.iterations) + " iterations";
    }
    keep_x(state, result.iterations, x);
    if (b_.scale == 1) return;
    scale(vectors_, 1 / b_.scale, x);
    if (result.converged && !std::isfinite(norm(vectors_, x))) {
      result.converged = false;
      result.reason = "The solution is beyond the range of the precision";
    }
  }

  Vectors& vectors_;
  StoppingRule rule_;
  Steps& steps_;
  std::size_t real_bytes_;
  ScaledSquare b_;
};

}  // namespace

Iteration conjugate_gradients(const Operator& a, Vectors& vectors, const Surface& b, Surface& x,
                              const StoppingRule& rule) {
  StoredSteps steps(a, vectors);
  return Cg(vectors, rule, steps).solve(b, x);
}

Iteration conjugate_gradients(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                              const StoppingRule& rule) {
  GridSteps steps(a, vectors);
  return Cg(vectors, rule, steps).solve(b, x);
}

}  // namespace lugpu
