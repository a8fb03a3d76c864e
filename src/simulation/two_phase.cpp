#include "simulation/two_phase.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.hpp"

namespace lugpu {
namespace {

// The surface hardly moves in a step, and each step towards a distance disturbs its curvature.
constexpr std::size_t kStepsToRedistance = 10;
constexpr double kRadiusOfPush = 0.05, kPushStrength = 0.6, kFastestPush = 1;

Box box_of(const SimulationOptions& options) {
  if (options.size[2] != 1) throw InputError("Bubbles rise in two dimensions.");
  return {options.size, {Boundary::no_slip, Boundary::no_slip, Boundary::no_slip}};
}

double density_ratio(const SimulationOptions& options) {
  constexpr double kWaterAndAir = 1000;
  return options.density_ratio.value_or(kWaterAndAir);
}

// Waves of surface tension go no further than a cell, nor does what gravity moves.
double suggested_step(const BubbleScene& scene, double density_ratio, double cells_per_length) {
  const double h = 1 / cells_per_length;
  const double density = 1 + 1 / density_ratio;
  double step = std::sqrt(density * h * h * h / (4 * std::numbers::pi * scene.tension)) / 2;
  if (scene.gravity > 0) step = std::min(step, h / 2 / std::sqrt(scene.gravity));
  return step;
}

}  // namespace

std::span<const BubbleScene> two_phase_scenes() {
  static const std::vector<BubbleScene> table = {
      {"rise", {{0.5, 0.25, 0.125}}, 0.005, 1, 0.002},
      {"static", {{0.5, 0.5, 0.25}}, 1, 0, 0.0645},
      {"bubbles",
       {{0.3, 0.15, 0.08}, {0.62, 0.2, 0.1}, {0.45, 0.42, 0.07}, {0.75, 0.48, 0.06}},
       0.005,
       1,
       0.002},
  };
  return table;
}

TwoPhase::TwoPhase(DeviceContext& context, const SimulationOptions& options,
                   const BubbleScene& scene)
    : Physics(options),
      context_(context),
      scene_(scene),
      on_(context, box_of(options), options.precision),
      cells_per_length_(cells_per_length(options.size)),
      viscosity_(options.reynolds ? 1 / *options.reynolds : scene.viscosity),
      time_step_(options.time_step.value_or(
          suggested_step(scene, density_ratio(options), cells_per_length_))),
      vectors_(context, on_.layout(Place::centres), 3),
      u_(on_.velocity()),
      moved_(on_.velocity()),
      corrected_(on_.velocity()),
      phi_(on_.field(Place::centres)),
      moved_phi_(on_.field(Place::centres)),
      corrected_phi_(on_.field(Place::centres)),
      k_(on_.field(Place::centres)),
      h_(on_.field(Place::centres)),
      kappa_(on_.field(Place::centres)),
      b_(on_.field(Place::centres)),
      projection_(on_) {
  require_positive("The ratio of densities", density_ratio(options));
  const bool of_fluids = options.explicit_diffusion || options.semi_lagrangian ||
                         options.project_twice || options.confinement != 0;
  if (of_fluids) {
    throw InputError("Bubbles take neither explicit diffusion nor confinement, and one advection.");
  }
  if (options.reynolds && *options.reynolds != INFINITY) {
    require_positive("Reynolds' number", *options.reynolds);
  }
  require_positive("The time step", time_step_);
  start();
  prepare();
  phases_ = {{"advect", [this] { advect(); }},
             {"diffuse", [this] { diffuse(); }},
             {"force", [this] { add_forces(); }},
             {"project", [this] { project(); }},
             {"surface", [this] { bring_surface(); }}};
}

// The distance from the nearest bubble.
void TwoPhase::start() {
  const std::size_t nx = on_.box().cells[0], ny = on_.box().cells[1];
  const double width = static_cast<double>(nx);
  std::vector<double> phi(nx * ny);
  for (std::size_t i = 0; i < phi.size(); ++i) {
    const double x = static_cast<double>(i % nx) + 0.5, y = static_cast<double>(i / nx) + 0.5;
    double distance = 2 * cells_per_length_;
    for (const Disc& disc : scene_.bubbles) {
      const double from_centre = std::hypot(x - disc.x * width, y - disc.y * width);
      distance = std::min(distance, from_centre - disc.radius * width);
    }
    phi[i] = distance / cells_per_length_;
  }
  set_level_set(phi);
}

void TwoPhase::set_level_set(const std::vector<double>& values) {
  std::vector<double> in_cells = values;
  for (double& value : in_cells) value *= cells_per_length_;
  vectors_.upload(in_cells, phi_);
  run("surface", "measure", Place::centres, phi_, b_, h_);
  vectors_.reduce(Reduction::sum, b_, b_, 2);
  find_phases();
}

void TwoPhase::prepare() {
  const std::string name = options_.method.empty() ? "multigrid-cg" : options_.method;
  const StructuredMethod* const method = structured_method(name);
  if (!method) throw InputError("There is no method \"" + name + "\" for bubbles.");
  Grid grid = field_grid(on_.box(), Place::centres, 1, 0);
  grid.conductivity.assign(grid.unknowns(), 1);
  method->require(grid, {options_.precision, Storage::buffer, rule_of(options_)});
  method_ = method;
  diffusion_.clear();
  const double diffusion = viscosity_ * time_step_ * cells_per_length_ * cells_per_length_;
  if (diffusion == 0) return;
  for (std::size_t axis = 0; axis < on_.dimensions(); ++axis) {
    diffusion_.emplace_back(context_, *structured_method("fast-diagonal"), rule_of(options_),
                            on_.precision(), field_grid(on_.box(), faces(axis), diffusion, 1));
  }
}

template <typename... Arguments>
void TwoPhase::run(const char* phase, const char* function, Place place,
                   const Arguments&... arguments) {
  const VectorLayout at = on_.layout(place);
  context_.run(phase, phi_.kernel("simulation/two_phase.cl", function), {at.columns, at.rows},
               arguments..., static_cast<cl_int>(at.columns), static_cast<cl_int>(at.rows));
}

void TwoPhase::advect() {
  iterations_ = 0;
  for (std::size_t axis = 0; axis < on_.dimensions(); ++axis) {
    on_.advect(u_, time_step_, Staggered::Trace::midpoint, faces(axis), u_[axis], moved_[axis]);
    on_.correct(u_, time_step_, faces(axis), u_[axis], moved_[axis], corrected_[axis]);
  }
  std::swap(u_, corrected_);
}

void TwoPhase::diffuse() {
  if (diffusion_.empty()) return;
  for (std::size_t axis = 0; axis < on_.dimensions(); ++axis) {
    note(diffusion_[axis].solve(u_[axis], moved_[axis]));
  }
  std::swap(u_, moved_);
}

void TwoPhase::find_phases() {
  with_real(on_.precision(), [&](auto real) {
    run("phases", "phases_of", Place::centres, phi_, k_, h_, kappa_,
        real(1 / density_ratio(options_)));
  });
  if (!held_curvature_) return;
  const std::vector<double> held(b_.rows() * b_.columns(), *held_curvature_ / cells_per_length_);
  vectors_.upload(held, kappa_);
}

void TwoPhase::add_forces() {
  find_phases();
  const double tension = scene_.tension * std::pow(cells_per_length_, 3) * time_step_;
  const double gravity = scene_.gravity * cells_per_length_ * time_step_;
  with_real(on_.precision(), [&](auto real) {
    run("force", "add_forces", Place::faces_x, u_[0], k_, h_, kappa_, real(tension), real(0),
        cl_int{0});
    run("force", "add_forces", Place::faces_y, u_[1], k_, h_, kappa_, real(tension), real(gravity),
        cl_int{1});
  });
}

void TwoPhase::project() {
  projection_.prepare(*method_, rule_of(options_), k_);
  note(projection_.project(u_));
  iterations_ = projection_.iterations();
}

void TwoPhase::bring_surface() {
  on_.advect(u_, time_step_, Staggered::Trace::midpoint, Place::centres, phi_, moved_phi_);
  on_.correct(u_, time_step_, Place::centres, phi_, moved_phi_, corrected_phi_);
  std::swap(phi_, corrected_phi_);
  if (++steps_ % kStepsToRedistance == 0) {
    run("surface", "redistance", Place::centres, phi_, moved_phi_);
    std::swap(phi_, moved_phi_);
  }
  keep_volume();
}

void TwoPhase::keep_volume() {
  run("surface", "measure", Place::centres, phi_, b_, h_);
  vectors_.reduce(Reduction::sum, b_, b_, 0);
  vectors_.reduce(Reduction::sum, h_, h_, 1);
  run("surface", "keep_volume", Place::centres, phi_, vectors_.scalars());
}

Drawn TwoPhase::drawn() {
  find_phases();
  return {&h_, on_.box().cells, 0, 1, ColourMap::sequential};
}

void TwoPhase::push_along(const std::array<double, 3>& from, const std::array<double, 3>& to) {
  for (std::size_t axis = 0; axis < on_.dimensions(); ++axis) {
    const double fastest = kFastestPush * cells_per_length_;
    const double speed = std::clamp((to[axis] - from[axis]) / time_step_, -fastest, fastest);
    on_.blend(faces(axis), from, to, kRadiusOfPush * cells_per_length_, kPushStrength, speed,
              u_[axis]);
  }
}

std::vector<double> TwoPhase::on_host(Place place, const Surface& field, double factor) {
  std::vector<double> values = on_.download(place, field);
  for (double& value : values) value *= factor;
  return values;
}

std::vector<double> TwoPhase::pressure() {
  return on_host(Place::centres, projection_.pressure(),
                 1 / (time_step_ * cells_per_length_ * cells_per_length_));
}

std::vector<double> TwoPhase::curvature() {
  find_phases();
  return on_host(Place::centres, kappa_, cells_per_length_);
}

std::vector<double> TwoPhase::level_set() {
  return on_host(Place::centres, phi_, 1 / cells_per_length_);
}

std::vector<std::vector<double>> TwoPhase::velocity() {
  return {on_host(Place::faces_x, u_[0], 1 / cells_per_length_),
          on_host(Place::faces_y, u_[1], 1 / cells_per_length_)};
}

}  // namespace lugpu
