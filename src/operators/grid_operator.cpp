#include "operators/grid_operator.hpp"

namespace lugpu {

VectorLayout GridOperator::layout(Precision precision, Storage storage, Texel texel) const {
  return {grid_.size[1] * grid_.size[2], grid_.size[0], precision, storage, texel};
}

void GridOperator::apply(Vectors& vectors, const Surface& x, Surface& result) const {
  run(vectors, x.kernel("grid/apply.cl", "apply", vectors.cut().options()), x, x, result);
}

void GridOperator::apply(Vectors& vectors, const Surface& x, Operation operation, const Surface& y,
                         Surface& result) const {
  run(vectors, x.kernel("grid/apply.cl", "apply", vectors.cut().options() + option(operation)), x,
      y, result);
}

}  // namespace lugpu
