#include "operators/conductivity_operator.hpp"

#include <cmath>
#include <type_traits>
#include <utility>

#include "base/error.hpp"

namespace lugpu {
namespace {

Surface stored_conductivity(DeviceContext& context, const VectorLayout& layout, const Grid& grid) {
  require_conductivity(grid);
  Vectors vectors(context, layout, 1);
  Surface conductivity = vectors.take();
  vectors.upload(
      grid.conductivity.empty() ? std::vector<double>(grid.unknowns(), 1.0) : grid.conductivity,
      conductivity);
  return conductivity;
}

}  // namespace

void require_conductivity(const Grid& grid) {
  const std::vector<double>& k = grid.conductivity;
  if (!k.empty() && k.size() != grid.unknowns()) {
    throw InputError("The grid has " + std::to_string(grid.unknowns()) + " unknowns and " +
                     std::to_string(k.size()) + " conductivities.");
  }
  for (const double value : k) {
    if (value >= 0 && std::isfinite(value)) continue;
    throw InputError("A conductivity is " + std::to_string(value) +
                     "; it must be finite and at least 0.");
  }
}

ConductivityOperator::ConductivityOperator(DeviceContext& context, const Grid& grid,
                                           Precision precision, Storage storage, Texel texel)
    : size_(grid.size),
      walls_(grid.walls),
      coefficients_({grid.coefficients[0], grid.coefficients[1], grid.coefficients[2], grid.shift}),
      layout_{grid.size[1] * grid.size[2], grid.size[0], precision, storage, texel},
      conductivity_(stored_conductivity(context, layout_, grid)) {}

ConductivityOperator::ConductivityOperator(const Grid& grid, Surface conductivity)
    : size_(grid.size),
      walls_(grid.walls),
      coefficients_({grid.coefficients[0], grid.coefficients[1], grid.coefficients[2], grid.shift}),
      layout_{grid.size[1] * grid.size[2], grid.size[0], conductivity.precision(),
              conductivity.storage(), conductivity.texel()},
      conductivity_(std::move(conductivity)) {}

void ConductivityOperator::product(Vectors& vectors, const std::string& operation, const Surface& x,
                                   const Surface& y, Surface& result) const {
  const VectorCut cut = vectors.cut().spread();
  const cl_int4 sizes = {{static_cast<cl_int>(size_[0]), static_cast<cl_int>(size_[1]),
                          static_cast<cl_int>(size_[2]), 0}};
  const cl_int4 walls = {{static_cast<cl_int>(walls_[0]), static_cast<cl_int>(walls_[1]),
                          static_cast<cl_int>(walls_[2]), 0}};
  with_real(layout_.precision, [&](auto real) {
    using Real4 = std::conditional_t<sizeof(real(0)) == sizeof(double), cl_double4, cl_float4>;
    const auto& c = coefficients_;
    const Real4 coefficients = {{real(c[0]), real(c[1]), real(c[2]), real(c[3])}};
    vectors.context().run(
        "grid", x.kernel("grid/conductivity.cl", "apply", cut.options() + operation), cut.items(),
        x, y, result, conductivity_, sizes, walls, coefficients, static_cast<cl_int>(cut.walk));
  });
}

}  // namespace lugpu
