// The matrix of a grid with a conductivity on a device (kernels/grid/conductivity.cl).
#pragma once

#include "matrix/grid.hpp"
#include "operators/operator.hpp"

namespace lugpu {

/// Throws InputError unless every unknown has a conductivity, finite and at least 0, or none has.
void require_conductivity(const Grid& grid);

/// The matrix of a grid times a vector on a device, of which the conductivity, 1 where the grid has
/// none, is stored; its vectors have a row for each (y, z), as those of GridOperator.
class ConductivityOperator : public Operator {
 public:
  /// Throws as require_conductivity(), InputError if a conductivity overflows the precision,
  /// Unsupported if the device has no such vectors. context must outlive this.
  ConductivityOperator(DeviceContext& context, const Grid& grid, Precision precision,
                       Storage storage, Texel texel);
  /// The same with a conductivity that is on the device: nx columns, a row for each (y, z). That of
  /// the grid is not used.
  ConductivityOperator(const Grid& grid, Surface conductivity);

  const VectorLayout& layout() const { return layout_; }

  /// result = factors / the diagonal of A, element by element; 0 where that is 0. zeros: a vector
  /// of zeros.
  void divide_by_diagonal(Vectors& vectors, const Surface& zeros, const Surface& factors,
                          Surface& result) const {
    product(vectors, " -DDIAGONAL", zeros, factors, result);
  }

 private:
  void product(Vectors& vectors, const std::string& operation, const Surface& x, const Surface& y,
               Surface& result) const override;

  std::array<std::size_t, 3> size_;
  std::array<Wall, 3> walls_;
  std::array<double, 4> coefficients_;  // and the shift
  VectorLayout layout_;
  Surface conductivity_;
};

}  // namespace lugpu
