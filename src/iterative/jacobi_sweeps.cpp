#include "iterative/jacobi_sweeps.hpp"

#include <algorithm>
#include <utility>

namespace lugpu {
namespace {

// Planes along the last axis with neighbours, and the rows of each.
struct Planes {
  std::size_t count, rows;

  explicit Planes(const Grid& grid)
      : count(grid.size[2] > 1 ? grid.size[2] : grid.size[1]),
        rows(grid.size[2] > 1 ? grid.size[1] : 1) {}
};

std::size_t row_bytes(const Surface& x) {
  return x.pitch() * element_size(x.precision());
}

void sweep_once(const GridOperator& a, Vectors& vectors, const Surface& b, const Surface& x,
                const Surface& x_new) {
  const VectorCut cut = a.cut(vectors);
  const KernelId kernel = x.kernel("grid/jacobi.cl", "jacobi", cut.options() + a.options());
  a.run(vectors.context(), cut, kernel, x, b, x_new);
}

void sweep_together(const GridOperator& a, Vectors& vectors, const Surface& b, const Surface& x,
                    const Surface& x_new, std::size_t sweeps, std::size_t share) {
  const Planes planes(a.grid());
  VectorCut cut = vectors.cut();
  cut.group_x = cut.group_y = cut.groups_y = 1;
  cut.groups_x = ceiling(planes.count, share);
  const KernelId kernel =
      x.kernel("cpu/jacobi_sweeps.cl", "jacobi_sweeps", cut.options() + a.options());
  const std::size_t rows = 1 + (sweeps - 1) * (2 * planes.rows + 1);  // of a work-item's room
  const std::size_t bytes = cut.groups_x * rows * row_bytes(b);
  cl::Buffer room = vectors.take_room(bytes);
  a.run(vectors.context(), cut, kernel, x, b, x_new, room, static_cast<cl_int>(sweeps),
        static_cast<cl_int>(share));
  vectors.give_back_room(std::move(room), bytes);
}

}  // namespace

SweepsCut SweepsCut::make(const Device& device, const Grid& grid, const Surface& x) {
  const Planes planes(grid);
  if (device.type != "cpu" || x.storage() != Storage::buffer || grid.unknowns() == 0) {
    return {std::max<std::size_t>(1, planes.count), 1};
  }
  // A thread gets two shares, for one may be disturbed. Each of s sweeps computes s - 1 planes
  // twice on average, and needs 3 planes in the caches: of x or a ring, and of b. As many as fit
  // into a second-level cache of 1 MiB beside the rest are best; where not even 2 do, a few in the
  // third level still save memory's time.
  constexpr std::size_t kMost = 8, kOverlap = 8, kFewer = 4;
  constexpr std::size_t kSecondLevel = 768 << 10, kThirdLevel = 4 << 20;
  const std::size_t share = ceiling(planes.count, 2 * std::size_t{device.compute_units});
  const std::size_t each = 3 * planes.rows * row_bytes(x);
  const std::size_t near = kSecondLevel / each;
  const std::size_t fit = near >= 2 ? near : std::min(kFewer, kThirdLevel / each);
  return {share, std::max<std::size_t>(1, std::min({kMost, 1 + share / kOverlap, fit}))};
}

void sweep(const GridOperator& a, Vectors& vectors, const Surface& b, Surface& x, Surface& scratch,
           std::size_t count, const SweepsCut& cut) {
  for (std::size_t launches = ceiling(count, cut.sweeps); launches > 0; --launches) {
    const std::size_t now = ceiling(count, launches);
    if (now == 1) {
      sweep_once(a, vectors, b, x, scratch);
    } else {
      sweep_together(a, vectors, b, x, scratch, now, cut.share);
    }
    std::swap(x, scratch);
    count -= now;
  }
}

}  // namespace lugpu
