// Waves on shallow water: u_tt = laplacian(u) on a rectangle whose walls reflect them (J. Krueger,
// R. Westermann 2003, sections 4 and 6; GPU Gems 2, section 44.4). Lengths are in units of the
// longest side, the waves' speed is 1.
#pragma once

#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "operators/grid_operator.hpp"
#include "simulation/field_solver.hpp"
#include "simulation/monitor.hpp"
#include "simulation/physics.hpp"
#include "simulation/staggered.hpp"

namespace lugpu {

struct WaveScene {
  const char* name;
  const char* description;
  bool rains;      ///< drops at random places
  bool has_stick;  ///< one that is drawn through the water
  bool is_mode;    ///< begins as an eigenmode, whose motion is known
};

std::span<const WaveScene> wave_scenes();

/// With r = (time step / h)^2, h the distance of points, and A the matrix of the grid (Neumann
/// walls), -h^2 times the laplacian:
///   explicit:        u(t+1) = 2 u(t) - u(t-1) - r A u(t), stable for r <= 1/2;
///   Crank-Nicolson:  (I + r/2 A) (u(t+1) + u(t-1)) / 2 = u(t), stable for any r. It keeps
///     |u(t+1) - u(t)|^2 + r/2 (u(t+1) . A u(t+1) + u(t) . A u(t)).
/// Rain and the stick bring energy; there a share of the velocity u(t) - u(t-1) is taken away at
/// each step. All scenes keep the amount of water, the mean of u.
class Wave : public Physics {
 public:
  /// Throws InputError for options that do not fit; Unsupported for what the method or the device
  /// cannot do. context must outlive this.
  Wave(DeviceContext& context, const SimulationOptions& options);

  const std::vector<Phase>& phases() const override { return phases_; }
  std::string method() const override { return method_; }
  double time_step() const override { return time_step_; }
  std::size_t iterations() const override { return solver_ ? solver_->iterations() : 0; }
  const char* left_name() const override { return "residual"; }
  std::vector<double> left() override;
  Drawn drawn() override;

  /// u now and one step ago, on the host; row after row.
  std::vector<double> height();
  std::vector<double> height_before();
  /// Of the scene "mode": its angular frequency times the time step, by the scheme's own
  /// dispersion.
  double phase_of_mode() const;
  /// r
  double courant_squared() const { return r_; }

 private:
  void prepare() override;
  void push_along(const std::array<double, 3>& from, const std::array<double, 3>& to) override;
  void start_mode();
  void scale_velocity(double share);
  void press(const std::array<double, 3>& from, const std::array<double, 3>& to, double depth);
  void disturb();
  void step_explicitly();
  void step_implicitly();
  void look();
  std::size_t points() const { return on_.box().cells[0] * on_.box().cells[1]; }

  DeviceContext& context_;
  const WaveScene& scene_;
  Staggered on_;
  double points_per_length_;
  double time_step_ = 0, r_ = 0, time_ = 0;
  std::string method_;
  bool explicit_ = false;
  Vectors vectors_;
  Surface u_, before_, next_, ones_;
  std::unique_ptr<GridOperator> operator_;  // of the explicit scheme, or I + r/2 A
  std::unique_ptr<FieldSolver> solver_;
  Monitor monitor_;
  std::vector<Phase> phases_;
  std::mt19937_64 random_{1};
  std::size_t steps_ = 0, explicit_left_ = 0;
};

}  // namespace lugpu
