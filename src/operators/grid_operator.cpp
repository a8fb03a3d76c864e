#include "operators/grid_operator.hpp"

#include "base/error.hpp"

namespace lugpu {

GridOperator::GridOperator(const Grid& grid) : grid_(grid) {
  if (!grid.conductivity.empty()) {
    throw InputError("A grid with a conductivity needs multigrid or a stored matrix.");
  }
}

VectorLayout GridOperator::layout(Precision precision, Storage storage, Texel texel) const {
  return {grid_.size[1] * grid_.size[2], grid_.size[0], precision, storage, texel};
}

std::string GridOperator::options() const {
  std::string options = grid_.size[2] > 1 ? " -DPLANES" : "";
  for (int axis = 0; axis < 3; ++axis) {
    // On an axis of one point, what is at the other end is what is beside the wall.
    const bool is_point = grid_.size[axis] == 1 && grid_.walls[axis] == Wall::periodic;
    const Wall wall = is_point ? Wall::neumann : grid_.walls[axis];
    options += std::string(" -DWALL_") + "XYZ"[axis] + "=" + std::to_string(static_cast<int>(wall));
  }
  return options;
}

VectorCut GridOperator::cut(const Vectors& vectors) const {
  constexpr std::size_t kPlanes = 4;  // of a work-item
  return vectors.cut().spread(grid_.size[2] > 1 ? kPlanes : 1);
}

void GridOperator::product(Vectors& vectors, const std::string& operation, const Surface& x,
                           const Surface& y, Surface& result) const {
  const VectorCut at = cut(vectors);
  const KernelId kernel = x.kernel("grid/apply.cl", "apply", at.options() + options() + operation);
  run(vectors.context(), at, kernel, x, y, result);
}

}  // namespace lugpu
