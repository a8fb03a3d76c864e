#include "simulation/projection.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <utility>

namespace lugpu {

Projection::Projection(const Staggered& on)
    : on_(on),
      vectors_(on.context(), on.layout(Place::centres), 1),
      b_(on.field(Place::centres)),
      q_(on.field(Place::centres)),
      more_(on.field(Place::centres)),
      monitor_(on.context(), on.layout(Place::centres)) {}

// What a single projection can be asked for: as much of the divergence is left by the rounding of
// q, multiplied by the condition of A.
StoppingRule Projection::within_reach() const {
  const double reach = on_.precision() == Precision::single_precision ? 1e-3 : 1e-6;
  const bool blind = rule_.tolerance == 0;
  return {blind ? 0 : std::max(rule_.tolerance, reach), rule_.iterations, blind};
}

void Projection::prepare(const StructuredMethod& method, const StoppingRule& rule,
                         const std::vector<double>& conductivity) {
  rule_ = rule;
  varying_.reset();
  conductivity_.reset();
  if (!conductivity.empty()) {
    conductivity_ = vectors_.take();
    vectors_.upload(conductivity, *conductivity_);
  }
  Grid grid = field_grid(on_.box(), Place::centres, 1, 0);
  grid.conductivity = conductivity;
  solver_ = std::make_unique<FieldSolver>(on_.context(), method, within_reach(), on_.precision(),
                                          std::move(grid));
}

void Projection::prepare(const StructuredMethod& method, const StoppingRule& rule,
                         const Surface& conductivity) {
  const Grid grid = field_grid(on_.box(), Place::centres, 1, 0);
  if (!method.make_varying) {
    prepare(method, rule, vectors_.download(conductivity, grid.unknowns()));
    return;
  }
  rule_ = rule;
  if (!varying_ || varying_method_ != &method || varying_rule_ != rule) {
    varying_ = method.make_varying(on_.context(), grid,
                                   {on_.precision(), Storage::buffer, within_reach()});
    solver_.reset();
    varying_method_ = &method;
    varying_rule_ = rule;
  }
  varying_->set_conductivity(conductivity);
  conductivity_ = conductivity;
}

// A x = b_ from x. Returns what went wrong.
std::string Projection::solve(Surface& x) {
  if (!varying_) {
    const std::string trouble = solver_->solve(b_, x);
    iterations_ += solver_->iterations();
    return trouble;
  }
  const Iteration iteration = varying_->solve(b_, x);
  iterations_ += iteration.iterations;
  return iteration.converged ? "" : iteration.reason;
}

// q += more, and u -= its gradient, for A more = the divergence that is left.
std::string Projection::add_correction(Velocity& u) {
  const Surface* const conductivity = conductivity_ ? &*conductivity_ : nullptr;
  vectors_.combine(Operation::add, {0}, b_, {0}, b_, more_);
  const std::string trouble = solve(more_);
  on_.subtract_gradient(more_, conductivity, u);
  Surface sum = vectors_.take();
  vectors_.combine(Operation::add, {}, q_, {}, more_, sum);
  vectors_.give_back(std::exchange(q_, std::move(sum)));
  on_.inflow(u, conductivity, b_);
  monitor_.after(b_);
  return trouble;
}

std::string Projection::project(Velocity& u) {
  const Surface* const conductivity = conductivity_ ? &*conductivity_ : nullptr;
  const bool blind = rule_.tolerance == 0;
  iterations_ = 0;
  on_.inflow(u, conductivity, b_);
  monitor_.before(b_);
  std::string trouble;
  if (blind) trouble = solve(q_);
  on_.subtract_gradient(q_, conductivity, u);
  on_.inflow(u, conductivity, b_);
  monitor_.after(b_);
  if (blind) return trouble;
  double left = monitor_.last();
  bool falls = std::isfinite(left);
  while (left > rule_.tolerance && falls && trouble.empty()) {
    const double before = left;
    trouble = add_correction(u);
    left = monitor_.last();
    falls = left <= before / 2;
  }
  if (left <= rule_.tolerance) return "";
  if (!std::isfinite(left)) return "The velocity is not finite";
  if (!trouble.empty()) return trouble;
  std::ostringstream words;
  words << "Of the divergence " << std::setprecision(2) << left << " is left, the rounding of a "
        << "velocity in " << name(on_.precision()) << " precision";
  return words.str();
}

}  // namespace lugpu
