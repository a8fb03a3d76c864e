#include "simulation/field_solver.hpp"

#include <utility>

namespace lugpu {

FieldSolver::FieldSolver(DeviceContext& context, const StructuredMethod& method,
                         const StoppingRule& rule, Precision precision, Grid grid)
    : grid_(std::make_unique<Grid>(std::move(grid))) {
  StructuredOptions options;
  options.precision = precision;
  options.rule = rule;
  options.rule.blind = rule.tolerance == 0;
  method.require(*grid_, options);
  solver_ = method.make(context, *grid_, options);
}

std::string FieldSolver::solve(const Surface& b, Surface& x) {
  const Iteration iteration = solver_->solve(b, x);
  iterations_ = iteration.iterations;
  return iteration.converged ? "" : iteration.reason;
}

}  // namespace lugpu
