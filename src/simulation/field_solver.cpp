#include "simulation/field_solver.hpp"

#include <cmath>
#include <utility>

namespace lugpu {

FieldSolver::FieldSolver(DeviceContext& context, const StructuredMethod& method,
                         const StoppingRule& rule, Precision precision, Grid grid)
    : rule_(rule), grid_(std::make_unique<Grid>(std::move(grid))) {
  StructuredOptions options;
  options.precision = precision;
  options.rule = rule;
  method.require(*grid_, options);
  solver_ = method.make(context, *grid_, options);
}

std::string FieldSolver::solve(const Surface& b, Surface& x) {
  const Iteration iteration = solver_->solve(b, x);
  iterations_ = iteration.iterations;
  if (iteration.converged) return "";
  const bool as_wanted = rule_.tolerance == 0 && iteration.iterations == rule_.iterations &&
                         (iteration.residuals.empty() || std::isfinite(iteration.residuals.back()));
  return as_wanted ? "" : iteration.reason;
}

}  // namespace lugpu
