#include "iterative/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/error.hpp"

namespace lugpu {
namespace {

// A sweep from x to x_new, which it may leave in x and swap, or write and swap.
using Sweep = std::function<void(Surface& x, Surface& x_new)>;

// ||b - A x||_2, with `scratch` for A x - b.
double residual(const GridOperator& a, Vectors& vectors, const Surface& b, const Surface& x,
                Surface& scratch) {
  a.apply(vectors, x, Operation::subtract, b, scratch);
  vectors.reduce(Reduction::dot, scratch, scratch, 0);
  return std::sqrt(vectors.scalar(0));
}

Iteration relax(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                const StoppingRule& rule, const Sweep& sweep) {
  Surface other = vectors.take();
  vectors.reduce(Reduction::dot, b, b, 0);
  const double norm_b = std::sqrt(vectors.scalar(0));
  Iteration result;
  while (true) {
    const double norm = residual(a, vectors, b, x, other);
    result.residuals.push_back(norm == 0 ? 0 : norm / norm_b);
    result.converged = norm <= rule.tolerance * norm_b;
    if (result.converged) break;
    if (!std::isfinite(norm)) {
      result.reason = "The residual is not finite: the sweeps diverge";
      break;
    }
    if (result.iterations == rule.iterations) {
      result.reason = "The residual is not below the tolerance after " +
                      std::to_string(result.iterations) + " sweeps";
      break;
    }
    const std::size_t count =
        std::min(steps_until_look(result.iterations), rule.iterations - result.iterations);
    for (std::size_t i = 0; i < count; ++i) sweep(x, other);
    result.iterations += count;
  }
  vectors.give_back(std::move(other));
  return result;
}

}  // namespace

Iteration jacobi(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                 const StoppingRule& rule) {
  const KernelId kernel = x.kernel("grid/jacobi.cl", "jacobi", vectors.cut().options());
  return relax(a, vectors, b, x, rule, [&](Surface& now, Surface& next) {
    a.run(vectors, kernel, now, b, next);
    std::swap(now, next);
  });
}

Iteration gauss_seidel(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                       const StoppingRule& rule) {
  for (int axis = 0; axis < 3; ++axis) {
    if (a.grid().walls[axis] == Wall::periodic && a.grid().size[axis] % 2 == 1 &&
        a.grid().coefficients[axis] != 0) {
      throw InputError("A periodic axis of " + std::to_string(a.grid().size[axis]) +
                       " points has neighbours of the same colour");
    }
  }
  const bool in_place = x.storage() == Storage::buffer;
  const KernelId kernel = x.kernel("grid/red_black.cl", "red_black", vectors.cut().options());
  return relax(a, vectors, b, x, rule, [&](Surface& now, Surface& next) {
    for (const cl_int colour : {0, 1}) {
      a.run(vectors, kernel, now, in_place ? now : next, b, colour);
      if (!in_place) std::swap(now, next);
    }
  });
}

}  // namespace lugpu
