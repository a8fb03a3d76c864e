#include "simulation/projection.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace lugpu {
namespace {

// What a single projection can be asked for: as much of the divergence is left by the rounding of
// q, multiplied by the condition of A.
StoppingRule within_reach(const StoppingRule& rule, Precision precision) {
  const double reach = precision == Precision::single_precision ? 1e-3 : 1e-6;
  return {rule.tolerance > 0 ? std::max(rule.tolerance, reach) : 0, rule.iterations};
}

}  // namespace

Projection::Projection(const Staggered& on)
    : on_(on),
      b_(on.field(Place::centres)),
      q_(on.field(Place::centres)),
      more_(on.field(Place::centres)),
      monitor_(on.context(), on.layout(Place::centres)) {}

void Projection::prepare(const StructuredMethod& method, const StoppingRule& rule,
                         const std::vector<double>& conductivity) {
  conductivity_.reset();
  if (!conductivity.empty()) {
    Vectors vectors(on_.context(), on_.layout(Place::centres), 1);
    conductivity_ = vectors.take();
    vectors.upload(conductivity, *conductivity_);
  }
  rule_ = rule;
  Grid grid = field_grid(on_.box(), Place::centres, 1, 0);
  grid.conductivity = conductivity;
  solver_ = std::make_unique<FieldSolver>(
      on_.context(), method, within_reach(rule, on_.precision()), on_.precision(), grid);
}

// q += more, and u -= its gradient, for A more = the divergence that is left.
std::string Projection::add_correction(Velocity& u) {
  const Surface* const conductivity = conductivity_ ? &*conductivity_ : nullptr;
  Vectors vectors(on_.context(), on_.layout(Place::centres), 1);
  vectors.combine(Operation::add, {0}, b_, {0}, b_, more_);
  std::string trouble = solver_->solve(b_, more_);
  iterations_ += solver_->iterations();
  on_.subtract_gradient(more_, conductivity, u);
  Surface sum = vectors.take();
  vectors.combine(Operation::add, {}, q_, {}, more_, sum);
  std::swap(q_, sum);
  on_.inflow(u, conductivity, b_);
  monitor_.after(b_);
  return trouble;
}

std::string Projection::project(Velocity& u) {
  const Surface* const conductivity = conductivity_ ? &*conductivity_ : nullptr;
  iterations_ = 0;
  on_.inflow(u, conductivity, b_);
  monitor_.before(b_);
  on_.subtract_gradient(q_, conductivity, u);
  on_.inflow(u, conductivity, b_);
  std::string trouble = add_correction(u);
  if (rule_.tolerance == 0 || !trouble.empty()) return trouble;
  double left = monitor_.last();
  while (left > rule_.tolerance) {
    const double before = left;
    trouble = add_correction(u);
    left = monitor_.last();
    if (!trouble.empty() || left > before / 2) break;
  }
  if (left <= rule_.tolerance) return "";
  if (!trouble.empty()) return trouble;
  std::ostringstream words;
  words << "Of the divergence " << std::setprecision(2) << left << " is left, the rounding of a "
        << "velocity in " << name(on_.precision()) << " precision";
  return words.str();
}

}  // namespace lugpu
