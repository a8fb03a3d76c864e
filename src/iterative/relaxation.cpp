#include "iterative/relaxation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "base/error.hpp"
#include "iterative/jacobi_sweeps.hpp"
#include "iterative/norm.hpp"

namespace lugpu {
namespace {

// A sweep from x to x_new, which it may leave in x and swap, or write and swap.
using Sweep = std::function<void(Surface& x, Surface& x_new)>;
// `count` sweeps; x is up to date after them.
using Sweeps = std::function<void(Surface& x, Surface& x_new, std::size_t count)>;

Sweeps one_by_one(Sweep sweep) {
  return [sweep = std::move(sweep)](Surface& x, Surface& x_new, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) sweep(x, x_new);
  };
}

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
                const StoppingRule& rule, const Sweeps& sweeps) {
  if (rule.blind) {
    Surface scratch = vectors.take();
    sweeps(x, scratch, rule.iterations);
    vectors.give_back(std::move(scratch));
    return {rule.iterations, false, {}, ""};
  }
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
    sweeps(x, other, count);
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

// The red and the black points of a vector on a grid (kernels/grid/colours.clh).
struct Colours {
  Surface red, black;
};

// Vectors on a grid by colours.
class ColouredGrid {
 public:
  ColouredGrid(const Grid& grid, Vectors& vectors)
      : size_(grid.size),
        vectors_(vectors),
        halves_(vectors.companion(half_of(vectors.layout()))) {}

  Vectors& halves() { return halves_; }

  Colours split(const Surface& x) {
    Colours parts{halves_.take(), halves_.take()};
    run(halves_, "split", x, parts.red, parts.black);
    return parts;
  }
  void give_back(Colours parts) {
    halves_.give_back(std::move(parts.red));
    halves_.give_back(std::move(parts.black));
  }
  void merge(const Colours& parts, Surface& x) {
    run(vectors_, "merge", parts.red, parts.black, x);
  }

 private:
  static VectorLayout half_of(VectorLayout layout) {
    layout.columns = ceiling(layout.columns, 2);
    return layout;
  }
  // `target`: those that the kernel writes.
  template <typename... Surfaces>
  void run(const Vectors& target, const char* function, const Surface& first,
           const Surfaces&... more) {
    const VectorCut cut = target.cut().spread();
    const KernelId kernel = first.kernel("grid/colours.cl", function, cut.options());
    vectors_.context().run("colours", kernel, cut.items(), first, more...,
                           static_cast<cl_int>(size_[0]), static_cast<cl_int>(size_[1]),
                           static_cast<cl_int>(size_[1] * size_[2]), static_cast<cl_int>(cut.walk));
  }

  std::array<std::size_t, 3> size_;
  Vectors& vectors_;
  Vectors& halves_;
};

}  // namespace

Iteration jacobi(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                 const StoppingRule& rule) {
  const SweepsCut cut = SweepsCut::make(vectors.context().device(), a.grid(), x);
  return relax(a, vectors, b, x, rule, [&](Surface& now, Surface& scratch, std::size_t count) {
    sweep(a, vectors, b, now, scratch, count, cut);
  });
}

Iteration jacobi(const Operator& a, const Surface& inverse_diagonal, Vectors& vectors,
                 const Surface& b, Surface& x, const StoppingRule& rule) {
  Surface next = vectors.take();
  const Iteration result = relax(a, vectors, b, x, rule, one_by_one([&](Surface& now, Surface& q) {
                                   a.apply(vectors, now, Operation::subtract, b, q);
                                   subtract_product(vectors, inverse_diagonal, q, now, next);
                                 }));
  vectors.give_back(std::move(next));
  return result;
}

void require_two_colours(const Grid& grid) {
  for (int axis = 0; axis < 3; ++axis) {
    if (grid.walls[axis] == Wall::periodic && grid.size[axis] % 2 == 1 &&
        grid.coefficients[axis] != 0) {
      throw InputError("A periodic axis of " + std::to_string(grid.size[axis]) +
                       " points has neighbours of the same colour");
    }
  }
}

Iteration gauss_seidel(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                       const StoppingRule& rule) {
  require_two_colours(a.grid());
  ColouredGrid grid(a.grid(), vectors);
  const VectorCut cut = a.cut(grid.halves());
  const KernelId kernel = x.kernel("grid/red_black.cl", "red_black", cut.options() + a.options());
  Colours right = grid.split(b);
  Colours now = grid.split(x);
  const Iteration result =
      relax(a, vectors, b, x, rule, [&](Surface& whole, Surface&, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
          a.run(vectors.context(), cut, kernel, now.black, right.red, now.red, cl_int{0});
          a.run(vectors.context(), cut, kernel, now.red, right.black, now.black, cl_int{1});
        }
        grid.merge(now, whole);
      });
  grid.give_back(std::move(right));
  grid.give_back(std::move(now));
  return result;
}

Iteration gauss_seidel(const SparseOperator& a, const std::vector<std::size_t>& begins,
                       const Surface& inverse_diagonal, Vectors& vectors, const Surface& b,
                       Surface& x, const StoppingRule& rule) {
  return relax(a, vectors, b, x, rule, one_by_one([&](Surface& now, Surface& scratch) {
                 for (std::size_t c = 0; c + 1 < begins.size(); ++c) {
                   a.relax(vectors, inverse_diagonal, b, begins[c], begins[c + 1], now, scratch);
                 }
               }));
}

Iteration gauss_seidel(const Operator& a, std::span<const Surface> inverse_diagonals,
                       Vectors& vectors, const Surface& b, Surface& x, const StoppingRule& rule) {
  Surface next = vectors.take();
  const Iteration result = relax(a, vectors, b, x, rule, one_by_one([&](Surface& now, Surface& q) {
                                   for (const Surface& inverse : inverse_diagonals) {
                                     a.apply(vectors, now, Operation::subtract, b, q);
                                     subtract_product(vectors, inverse, q, now, next);
                                   }
                                 }));
  vectors.give_back(std::move(next));
  return result;
}

Iteration gauss_seidel(const DenseOperator& a, Vectors& vectors, const Surface& b, Surface& x,
                       const StoppingRule& rule) {
  Surface next = vectors.take();
  const Iteration result = relax(a, vectors, b, x, rule, one_by_one([&](Surface& now, Surface& q) {
                                   a.apply(vectors, now, Operation::subtract, b, q);
                                   a.solve_lower(vectors, q);
                                   vectors.combine(Operation::subtract, {}, now, {}, q, next);
                                   std::swap(now, next);
                                 }));
  vectors.give_back(std::move(next));
  return result;
}

}  // namespace lugpu
