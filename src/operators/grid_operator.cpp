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

void GridOperator::product(Vectors& vectors, const std::string& operation, const Surface& x,
                           const Surface& y, Surface& result) const {
  const VectorCut cut = vectors.cut().spread();
  run(vectors.context(), cut, x.kernel("grid/apply.cl", "apply", cut.options() + operation), x, y,
      result);
}

}  // namespace lugpu
