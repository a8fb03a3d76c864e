// The projection of a velocity on those without divergence (A. J. Chorin, "Numerical Solution of
// the Navier-Stokes Equations", Mathematics of Computation 22, 1968).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulation/field_solver.hpp"
#include "simulation/monitor.hpp"
#include "simulation/staggered.hpp"

namespace lugpu {

class Projection {
 public:
  /// on must outlive this.
  explicit Projection(const Staggered& on);

  /// How the pressure is found from now on. conductivity: of every cell, 1 / density, 0 for solid
  /// ones; empty: 1 everywhere. Throws as FieldSolver.
  void prepare(const StructuredMethod& method, const StoppingRule& rule,
               const std::vector<double>& conductivity);
  /// The same with a conductivity that is on the device and may change in every step. Methods with
  /// make_varying() take it from there; others are prepared anew by way of the host.
  void prepare(const StructuredMethod& method, const StoppingRule& rule,
               const Surface& conductivity);

  /// u -= conductivity gradient of q with A q = the negative divergence. q starts as the last one.
  /// With a tolerance its gradient is subtracted first, the system is solved for what is missing,
  /// and u is projected again as long as more of the divergence is left, for q in its precision
  /// cannot take away all of it at once. Returns what went wrong, a sentence without its
  /// full stop; empty: nothing.
  std::string project(Velocity& u);

  /// q, the pressure times the time step over the density of conductivity 1, in cells.
  const Surface& pressure() const { return q_; }
  /// Steps of the method in the last project().
  std::size_t iterations() const { return iterations_; }
  /// ||div u|| after each projection over that before it (Monitor).
  std::vector<double> left() { return monitor_.take(); }

 private:
  StoppingRule within_reach() const;
  std::string solve(Surface& x);
  std::string add_correction(Velocity& u);

  const Staggered& on_;
  StoppingRule rule_;
  Vectors vectors_;
  Surface b_, q_, more_;
  std::optional<Surface> conductivity_;
  std::unique_ptr<VaryingSolver> varying_;  // of varying_method_, with varying_rule_; or null
  const StructuredMethod* varying_method_ = nullptr;
  StoppingRule varying_rule_;
  std::unique_ptr<FieldSolver> solver_;  // of all others
  Monitor monitor_;
  std::size_t iterations_ = 0;
};

}  // namespace lugpu
