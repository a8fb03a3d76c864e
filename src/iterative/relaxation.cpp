#include "iterative/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/error.hpp"
#include "iterative/norm.hpp"

namespace lugpu {
namespace {

// A sweep from x to x_new, which it may leave in x and swap, or write and swap.
using Sweep = std::function<void(Surface& x, Surface& x_new)>;

// Residuals that have grown by this factor do not come back.
constexpr double kDivergence = 1e10;

// ||b - A x||_2, with `scratch` for A x - b.
double residual(const Operator& a, Vectors& vectors, const Surface& b, const Surface& x,
                Surface& scratch) {
  a.apply(vectors, x, Operation::subtract, b, scratch);
  return norm(vectors, scratch);
}

// Why sweeps end without converging; empty if they go on.
std::string reason_to_end(const Iteration& result, const StoppingRule& rule) {
  const double last = result.residuals.back();
  if (!std::isfinite(last)) return "The residual is not finite: the sweeps diverge";
  if (last > kDivergence * result.residuals.front()) {
    return "The residual has grown by a factor of 1e10: the sweeps diverge";
  }
  if (result.iterations < rule.iterations) return "";
  return "The residual is not below the tolerance after " + std::to_string(result.iterations) +
         " sweeps";
}

Iteration relax(const Operator& a, Vectors& vectors, const Surface& b, Surface& x,
                const StoppingRule& rule, const Sweep& sweep) {
  const double norm_b = norm(vectors, b);
  if (norm_b == 0) {
    vectors.combine(Operation::multiply, {0}, b, {0}, b, x);
    return {0, true, {0.0}, ""};
  }
  Surface other = vectors.take();
  Iteration result;
  while (true) {
    vectors.context().checkpoint();
    result.residuals.push_back(residual(a, vectors, b, x, other) / norm_b);
    result.converged = result.residuals.back() <= rule.tolerance;
    if (result.converged) break;
    result.reason = reason_to_end(result, rule);
    if (!result.reason.empty()) break;
    const std::size_t count =
        std::min(steps_until_look(result.iterations), rule.iterations - result.iterations);
    for (std::size_t i = 0; i < count; ++i) sweep(x, other);
    result.iterations += count;
  }
  vectors.give_back(std::move(other));
  return result;
}

// x -= d q, element by element. x_new: not used where x is a buffer.
void subtract_product(Vectors& vectors, const Surface& d, const Surface& q, Surface& x,
                      Surface& x_new) {
  const bool in_place = x.storage() == Storage::buffer;
  const VectorLayout& layout = vectors.layout();
  vectors.context().run("sweep", x.kernel("iterative/jacobi.cl", "jacobi", vectors.cut().options()),
                        vectors.cut().items(), x, in_place ? x : x_new, d, q,
                        static_cast<cl_int>(layout.rows), static_cast<cl_int>(layout.columns),
                        static_cast<cl_int>(vectors.cut().walk));
  if (!in_place) std::swap(x, x_new);
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

Iteration jacobi(const Operator& a, const Surface& inverse_diagonal, Vectors& vectors,
                 const Surface& b, Surface& x, const StoppingRule& rule) {
  Surface next = vectors.take();
  const Iteration result = relax(a, vectors, b, x, rule, [&](Surface& now, Surface& q) {
    a.apply(vectors, now, Operation::subtract, b, q);
    subtract_product(vectors, inverse_diagonal, q, now, next);
  });
  vectors.give_back(std::move(next));
  return result;
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

Iteration gauss_seidel(const SparseOperator& a, const std::vector<std::size_t>& begins,
                       const Surface& inverse_diagonal, Vectors& vectors, const Surface& b,
                       Surface& x, const StoppingRule& rule) {
  return relax(a, vectors, b, x, rule, [&](Surface& now, Surface& scratch) {
    for (std::size_t c = 0; c + 1 < begins.size(); ++c) {
      a.relax(vectors, inverse_diagonal, b, begins[c], begins[c + 1], now, scratch);
    }
  });
}

Iteration gauss_seidel(const DenseOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                       const StoppingRule& rule) {
  Surface next = vectors.take();
  const Iteration result = relax(a, vectors, b, x, rule, [&](Surface& now, Surface& q) {
    a.apply(vectors, now, Operation::subtract, b, q);
    a.solve_lower(vectors, q);
    vectors.combine(Operation::subtract, {}, now, {}, q, next);
    std::swap(now, next);
  });
  vectors.give_back(std::move(next));
  return result;
}

}  // namespace lugpu
