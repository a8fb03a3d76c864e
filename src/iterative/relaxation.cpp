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

// The points of a colour at the places begin : end along the axis of the walk (grid/walk.clh).
struct Part {
  cl_int colour, begin, end;
};

// A sweep in an order that gives what all red points, then all black ones would, while both colours
// of a block of places meet in the cache: once the red points of a block and of its neighbours are
// done, its black ones are.
std::vector<Part> parts_of_sweep(const Grid& grid, std::size_t places_each) {
  const int along = grid.size[2] > 1 ? 2 : 1;
  const std::size_t places = grid.size[along];
  const std::size_t blocks = ceiling(places, places_each);
  std::vector<Part> parts;
  const auto add = [&](int colour, std::size_t block) {
    parts.push_back({colour, static_cast<cl_int>(block * places_each),
                     static_cast<cl_int>(std::min((block + 1) * places_each, places))});
  };
  if (blocks < 3) {
    for (const cl_int colour : {0, 1}) parts.push_back({colour, 0, static_cast<cl_int>(places)});
    return parts;
  }
  // The first block and the last one may be neighbours.
  add(0, blocks - 1);
  add(0, 0);
  for (std::size_t block = 1; block < blocks; ++block) {
    if (block + 1 < blocks) add(0, block);
    add(1, block - 1);
  }
  add(1, blocks - 1);
  return parts;
}

// Places of a block: so many that a vector's part of it has some 4 MiB, which the cache holds twice
// and for which a launch is short; all of them for images, which do not change in place.
std::size_t places_of_block(const Grid& grid, const VectorLayout& layout) {
  constexpr std::size_t kBytes = std::size_t{1} << 22;
  const std::size_t places = grid.size[grid.size[2] > 1 ? 2 : 1];
  if (layout.storage == Storage::image) return places;
  return std::max<std::size_t>(
      1, kBytes * places / (grid.unknowns() * element_size(layout.precision)));
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
  const std::vector<Part> parts =
      parts_of_sweep(a.grid(), places_of_block(a.grid(), vectors.layout()));
  const KernelId kernel = x.kernel("grid/red_black.cl", "red_black", vectors.cut().options());
  const bool in_place = x.storage() == Storage::buffer;
  return relax(a, vectors, b, x, rule, [&](Surface& now, Surface& next) {
    for (const Part& part : parts) {
      a.run(vectors, kernel, now, in_place ? now : next, b, part.colour, part.begin, part.end);
      if (!in_place) std::swap(now, next);
    }
  });
}

}  // namespace lugpu
