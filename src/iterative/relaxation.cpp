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

// Places of a block: so many that the cache holds two blocks of x and of b, and that a launch is
// short for them; all of them for images, which do not change in place.
std::size_t places_of_block(const Grid& grid, const Vectors& vectors) {
  const std::size_t bytes = std::size_t{vectors.cut().on_cpu ? 4u : 8u} << 20;
  const std::size_t places = std::max<std::size_t>(1, grid.size[grid.size[2] > 1 ? 2 : 1]);
  if (vectors.layout().storage == Storage::image) return places;
  const std::size_t all = grid.unknowns() * element_size(vectors.layout().precision);
  return all <= bytes ? places : std::max<std::size_t>(1, bytes / (all / places));
}

}  // namespace

std::vector<ColourPart> parts_of_sweep(std::size_t places, std::size_t places_each) {
  const std::size_t blocks = ceiling(places, places_each);
  std::vector<ColourPart> parts;
  const auto add = [&](int colour, std::size_t first, std::size_t last) {
    parts.push_back({colour, static_cast<int>(first * places_each),
                     static_cast<int>(std::min(last * places_each, places))});
  };
  if (blocks < 3) {
    for (const int colour : {0, 1}) add(colour, 0, blocks);
    return parts;
  }
  add(0, blocks - 1, blocks);
  add(0, 0, 1);
  for (std::size_t block = 1; block < blocks; ++block) {
    if (block + 1 < blocks) add(0, block, block + 1);
    add(1, block - 1, block);
  }
  add(1, blocks - 1, blocks);
  return parts;
}

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
  // Both colours in one pass; on a CPU, where they meet in the cache, two are faster.
  const bool has_planes = a.grid().size[1] > 1 && a.grid().size[2] > 1;
  if (!has_planes && vectors.cut().vector == 0) {
    const KernelId kernel =
        x.kernel("grid/gauss_seidel.cl", "gauss_seidel", vectors.cut().options());
    return relax(a, vectors, b, x, rule, [&](Surface& now, Surface& next) {
      a.run(vectors, kernel, now, b, next);
      std::swap(now, next);
    });
  }
  const int along = a.grid().size[2] > 1 ? 2 : 1;
  const std::vector<ColourPart> parts =
      parts_of_sweep(a.grid().size[along], places_of_block(a.grid(), vectors));
  const KernelId kernel = x.kernel("grid/red_black.cl", "red_black", vectors.cut().options());
  const bool in_place = x.storage() == Storage::buffer;
  return relax(a, vectors, b, x, rule, [&](Surface& now, Surface& next) {
    for (const ColourPart& part : parts) {
      a.run(vectors, kernel, now, in_place ? now : next, b, cl_int{part.colour}, cl_int{part.begin},
            cl_int{part.end});
      if (!in_place) std::swap(now, next);
    }
  });
}

}  // namespace lugpu
