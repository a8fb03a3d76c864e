#include "simulation/projection.hpp"

namespace lugpu {

Projection::Projection(const Staggered& on)
    : on_(on),
      b_(on.field(Place::centres)),
      q_(on.field(Place::centres)),
      monitor_(on.context(), on.layout(Place::centres)) {}

void Projection::prepare(const StructuredMethod& method, const StoppingRule& rule,
                         const std::vector<double>& conductivity) {
  conductivity_.reset();
  if (!conductivity.empty()) {
    Vectors vectors(on_.context(), on_.layout(Place::centres), 1);
    conductivity_ = vectors.take();
    vectors.upload(conductivity, *conductivity_);
  }
  Grid grid = field_grid(on_.box(), Place::centres, 1, 0);
  grid.conductivity = conductivity;
  solver_ = std::make_unique<FieldSolver>(on_.context(), method, rule, on_.precision(), grid);
}

std::string Projection::project(Velocity& u) {
  const Surface* const conductivity = conductivity_ ? &*conductivity_ : nullptr;
  on_.inflow(u, conductivity, b_);
  monitor_.before(b_);
  const std::string trouble = solver_->solve(b_, q_);
  on_.subtract_gradient(q_, conductivity, u);
  on_.inflow(u, conductivity, b_);
  monitor_.after(b_);
  return trouble;
}

}  // namespace lugpu
