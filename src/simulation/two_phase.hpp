// Bubbles of gas in a liquid in two dimensions:
//   u_t = -(u . grad) u + nu laplacian(u) - (grad p + sigma kappa grad H) / density - g,
//   div u = 0,  phi_t + u . grad phi = 0,
// on a staggered grid. The surface is where the level set phi is 0, H is 1 in the liquid; the
// density is 1 in the liquid and 1 / ratio in the gas, and smooth between. Surface tension is a
// force of volume (J. U. Brackbill, D. B. Kothe, C. Zemach, J. Comput. Phys. 100, 1992) with the
// pressure's own difference and density at faces, so that both balance (M. M. Francois and others,
// J. Comput. Phys. 213, 2006). The kinematic viscosity nu is the same in both.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulation/field_solver.hpp"
#include "simulation/physics.hpp"
#include "simulation/projection.hpp"
#include "simulation/staggered.hpp"

namespace lugpu {

/// A circle of gas.
struct Disc {
  double x, y, radius;  ///< in widths of the box, from its lower left corner
};

struct BubbleScene {
  const char* name;
  std::vector<Disc> bubbles;
  double tension, gravity, viscosity;  ///< of a liquid of density 1
};

std::span<const BubbleScene> two_phase_scenes();

class TwoPhase : public Physics {
 public:
  /// options.method: one of structured_methods() that can have a conductivity. Those without
  /// make_varying() are prepared anew at each step, with densities that are read back. Throws
  /// InputError for options that do not fit; Unsupported for what the method or the device cannot
  /// do. context must outlive this.
  TwoPhase(DeviceContext& context, const SimulationOptions& options, const BubbleScene& scene);

  const std::vector<Phase>& phases() const override { return phases_; }
  std::string method() const override { return method_->name; }
  double time_step() const override { return time_step_; }
  std::size_t iterations() const override { return iterations_; }
  const char* left_name() const override { return "divergence"; }
  std::vector<double> left() override { return projection_.left(); }
  Drawn drawn() override;

  /// A curvature to use everywhere in place of the computed one.
  void hold_curvature(double curvature) { held_curvature_ = curvature; }
  /// On the host, in the scene's units: of every cell the pressure, the curvature and the level
  /// set; of the faces the velocities.
  std::vector<double> pressure();
  std::vector<double> curvature();
  std::vector<double> level_set();
  void set_level_set(const std::vector<double>& values);
  std::vector<std::vector<double>> velocity();

 private:
  void start();
  void prepare() override;
  void push_along(const std::array<double, 3>& from, const std::array<double, 3>& to) override;
  void advect();
  void diffuse();
  void find_phases();
  void add_forces();
  void project();
  void bring_surface();
  void keep_volume();
  template <typename... Arguments>
  void run(const char* phase, const char* function, Place place, const Arguments&... arguments);
  std::vector<double> on_host(Place place, const Surface& field, double factor);

  DeviceContext& context_;
  const BubbleScene scene_;
  Staggered on_;
  double cells_per_length_, viscosity_, time_step_;
  const StructuredMethod* method_ = nullptr;
  Vectors vectors_;  // at centres
  Velocity u_, moved_, corrected_;
  Surface phi_, moved_phi_, corrected_phi_, k_, h_, kappa_, b_;
  std::vector<FieldSolver> diffusion_;
  Projection projection_;
  std::optional<double> held_curvature_;
  std::vector<Phase> phases_;
  std::size_t steps_ = 0, iterations_ = 0;
};

}  // namespace lugpu
