// Stable fluids in two and three dimensions: the incompressible Navier-Stokes equations
//   u_t = -(u . grad) u + 1/Re laplacian(u) - grad p + f,  div u = 0,
// and smoke that the flow brings along (J. Stam, "Stable Fluids", SIGGRAPH 1999), on a staggered
// grid. A step adds forces, advects the velocity by itself, diffuses it and projects it on those
// without divergence; then it advects the smoke. It is of first order in time, and with
// MacCormack's advection of second order in space.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulation/fluid_scenes.hpp"
#include "simulation/physics.hpp"
#include "simulation/projection.hpp"

namespace lugpu {

class Fluid : public Physics {
 public:
  /// Throws InputError for options that do not fit; Unsupported for what the method or the device
  /// cannot do. context must outlive this.
  Fluid(DeviceContext& context, const SimulationOptions& options);

  const std::vector<Phase>& phases() const override { return phases_; }
  std::string method() const override { return method_; }
  double time_step() const override { return time_step_; }
  std::size_t iterations() const override { return iterations_; }
  const char* left_name() const override { return "divergence"; }
  /// Of the last projection of a step.
  std::vector<double> left() override;
  Drawn drawn() override;
  bool ends() const override { return scene_.until_steady; }
  bool is_over() override;
  std::vector<ProfilePoint> profile() override;

  /// Of all components in the scene's units, on the host: one column of values for each field.
  std::vector<std::vector<double>> velocity();
  std::vector<double> smoke();
  void set_smoke(const std::vector<double>& values);

 private:
  struct Push {
    std::array<double, 3> from, to;  // in cells
  };

  void make_phases();
  void prepare() override;
  void push_along(const std::array<double, 3>& from, const std::array<double, 3>& to) override;
  void place_solids();
  void start();
  void add_forces();
  void advect_velocity();
  void diffuse_velocity();
  void diffuse(std::size_t which, Place place, Surface& field, Surface& result);
  void project();
  void bring_smoke();
  Staggered::Trace trace() const {
    return options_.semi_lagrangian ? Staggered::Trace::euler : Staggered::Trace::midpoint;
  }

  DeviceContext& context_;
  const FluidScene& scene_;
  Staggered on_;
  double cells_per_length_, time_step_;
  double diffusion_;  // time step / Re in cells
  std::string method_;
  Velocity u_, moved_, corrected_;
  std::optional<Surface> smoke_, moved_smoke_, corrected_smoke_;
  std::vector<Surface> curl_;
  Solids solids_;
  Projection projection_;
  std::vector<FieldSolver> diffusion_solvers_;  // of the components, then of smoke
  std::vector<Phase> phases_;
  std::vector<Push> pushes_;
  std::vector<std::vector<double>> velocity_before_;  // of is_over()
  std::size_t steps_ = 0, steps_before_ = 0, iterations_ = 0;
};

}  // namespace lugpu
