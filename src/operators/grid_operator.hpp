// The matrix of a grid on a device (kernels/grid).
#pragma once

#include <string>
#include <type_traits>

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

  /// Of kernels that include grid/walk.clh, beside those of the cut.
  std::string options() const;
  /// How those are cut that leave no partial sums.
  VectorCut cut(const Vectors& vectors) const;
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
  const auto& c = grid_.coefficients;
  const double diagonal = grid_.shift + 2 * (c[0] + c[1] + c[2]);
  const cl_int4 sizes = {{static_cast<cl_int>(size[0]), static_cast<cl_int>(size[1]),
                          static_cast<cl_int>(size[2]), static_cast<cl_int>(cut.walk)}};
  with_real(kernel.precision, [&](auto real) {
    using Real = decltype(real(0));
    using Real4 = std::conditional_t<sizeof(Real) == sizeof(double), cl_double4, cl_float4>;
    const Real4 coefficients = {{real(c[0]), real(c[1]), real(c[2]), real(diagonal)}};
    context.run("grid", kernel, cut.items(), arguments..., sizes, coefficients, real(1 / diagonal));
  });
}

}  // namespace lugpu
