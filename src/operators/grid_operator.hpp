// The matrix of a grid on a device (kernels/grid).
#pragma once

#include "matrix/grid.hpp"
#include "operators/operator.hpp"

namespace lugpu {

/// The matrix of a grid without a conductivity times a vector on a device; its vectors have a row
/// for each (y, z).
class GridOperator : public Operator {
 public:
  /// Throws InputError for a grid with a conductivity, which ConductivityOperator takes.
  explicit GridOperator(const Grid& grid);

  const Grid& grid() const { return grid_; }
  VectorLayout layout(Precision precision, Storage storage, Texel texel) const;

  /// Runs a kernel that has GRID as its last parameters (grid/walk.clh), over all elements.
  template <typename... Arguments>
  void run(DeviceContext& context, const VectorCut& cut, const KernelId& kernel,
           const Arguments&... arguments) const;

 private:
  void product(Vectors& vectors, const std::string& operation, const Surface& x, const Surface& y,
               Surface& result) const override;

  Grid grid_;
};

template <typename... Arguments>
void GridOperator::run(DeviceContext& context, const VectorCut& cut, const KernelId& kernel,
                       const Arguments&... arguments) const {
  if (grid_.unknowns() == 0) return;
  const auto& size = grid_.size;
  const auto& walls = grid_.walls;
  const auto& c = grid_.coefficients;
  const cl_int4 sizes = {{static_cast<cl_int>(size[0]), static_cast<cl_int>(size[1]),
                          static_cast<cl_int>(size[2]), 0}};
  const cl_int4 at_walls = {{static_cast<cl_int>(walls[0]), static_cast<cl_int>(walls[1]),
                             static_cast<cl_int>(walls[2]), 0}};
  if (kernel.precision == Precision::double_precision) {
    const cl_double4 coefficients = {{c[0], c[1], c[2], grid_.shift}};
    context.run("grid", kernel, cut.items(), arguments..., sizes, at_walls, coefficients);
  } else {
    const cl_float4 coefficients = {{static_cast<cl_float>(c[0]), static_cast<cl_float>(c[1]),
                                     static_cast<cl_float>(c[2]),
                                     static_cast<cl_float>(grid_.shift)}};
    context.run("grid", kernel, cut.items(), arguments..., sizes, at_walls, coefficients);
  }
}

}  // namespace lugpu
