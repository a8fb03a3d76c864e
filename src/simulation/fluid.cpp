#include "simulation/fluid.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "operators/grid_operator.hpp"

namespace lugpu {
namespace {

// Of the mouse: what it blends in along its way, and how fast the fluid follows at most.
constexpr double kPushRadius = 0.025, kPushStrength = 0.6, kFastestPush = 3;
// The flow is steady when no velocity changes by more than this in a unit of time.
constexpr double kSteady = 1e-5;

std::array<double, 3> sides(const std::array<std::size_t, 3>& cells) {
  std::array<double, 3> result;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    result[axis] = static_cast<double>(cells[axis]) / cells_per_length(cells);
  }
  return result;
}

Box box_of(const FluidScene& scene, const SimulationOptions& options) {
  return {options.size, scene.bounds, scene.lid * cells_per_length(options.size)};
}

void require_possible(const SimulationOptions& options) {
  if (options.time_step) require_positive("The time step", *options.time_step);
  if (options.reynolds && *options.reynolds != INFINITY) {
    require_positive("Reynolds' number", *options.reynolds);
  }
  if (options.density_ratio) {
    throw InputError("A fluid has one density; the ratio of two is of bubbles.");
  }
  if (!(options.confinement >= 0) || !std::isfinite(options.confinement)) {
    throw InputError("The strength of the confinement must not be negative.");
  }
}

}  // namespace

Fluid::Fluid(DeviceContext& context, const SimulationOptions& options)
    : Physics(options),
      context_(context),
      scene_(find_fluid_scene(options.scene)),
      on_(context, box_of(scene_, options), options.precision),
      cells_per_length_(cells_per_length(options.size)),
      solids_(on_),
      projection_(on_) {
  require_possible(options);
  time_step_ = options.time_step.value_or(scene_.step / cells_per_length_);
  const double reynolds = options.reynolds.value_or(scene_.reynolds);
  diffusion_ = time_step_ / reynolds * cells_per_length_ * cells_per_length_;
  const double stable = 1 / (2.0 * static_cast<double>(on_.dimensions()));
  if (options.explicit_diffusion && diffusion_ > stable) {
    throw InputError("Explicit diffusion is stable up to a time step of " +
                     std::to_string(time_step_ * stable / diffusion_) + " here, and this is " +
                     std::to_string(time_step_) + "; take a smaller step or a larger --reynolds.");
  }
  u_ = on_.velocity();
  moved_ = on_.velocity();
  corrected_ = on_.velocity();
  if (scene_.has_smoke()) {
    smoke_ = on_.field(Place::centres);
    moved_smoke_ = on_.field(Place::centres);
    corrected_smoke_ = on_.field(Place::centres);
  }
  if (!scene_.has_smoke() || options.confinement > 0) {
    const std::size_t fields = on_.dimensions() == 2 ? 1 : 3;
    for (std::size_t i = 0; i < fields; ++i) curl_.push_back(on_.field(Place::centres));
  }
  start();
  prepare();
  make_phases();
}

// The velocity at the faces, and the solids.
void Fluid::start() {
  if (scene_.solids) place_solids();
  if (!scene_.velocity) return;
  const std::array<double, 3> box = sides(on_.box().cells);
  for (std::size_t axis = 0; axis < on_.dimensions(); ++axis) {
    const std::array<std::size_t, 3> size = field_grid(on_.box(), faces(axis), 0, 0).size;
    std::vector<double> values(size[0] * size[1] * size[2]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = static_cast<double>(i % size[0]) + (axis == 0 ? 1 : 0.5);
      const double y = static_cast<double>(i / size[0] % size[1]) + (axis == 1 ? 1 : 0.5);
      const auto at = scene_.velocity(x / cells_per_length_, y / cells_per_length_, box);
      values[i] = at[axis] * cells_per_length_;
    }
    on_.vectors(faces(axis)).upload(values, u_[axis]);
  }
}

// Where they are at the end of the step.
void Fluid::place_solids() {
  std::vector<Solid> solids =
      scene_.solids(static_cast<double>(steps_ + 1) * time_step_, sides(on_.box().cells));
  for (Solid& solid : solids) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      solid.centre[axis] *= cells_per_length_;
      solid.velocity[axis] *= cells_per_length_;
    }
    solid.radius *= cells_per_length_;
  }
  solids_.place(solids);
}

// The fastest method for the pressure, unless the user chose one; the same for diffusion, but for
// solids, which that does not see.
void Fluid::prepare() {
  method_ = options_.method;
  if (method_.empty()) {
    method_ = solids_.empty() ? "fast-diagonal" : "multigrid-cg";
  }
  const StructuredMethod* const method = structured_method(method_);
  if (!method) throw InputError("There is no method \"" + method_ + "\" for a fluid.");
  projection_.prepare(*method, rule_of(options_), solids_.conductivity());
  diffusion_solvers_.clear();
  if (diffusion_ == 0 || options_.explicit_diffusion) return;
  const std::size_t fields = on_.dimensions() + (smoke_ && options_.project_twice ? 1 : 0);
  for (std::size_t i = 0; i < fields; ++i) {
    const Place place = i < on_.dimensions() ? faces(i) : Place::centres;
    diffusion_solvers_.emplace_back(context_, *method, rule_of(options_), on_.precision(),
                                    field_grid(on_.box(), place, diffusion_, 1));
  }
}

void Fluid::make_phases() {
  phases_ = {{"force", [this] { add_forces(); }}};
  const Phase advection = {"advect", [this] { advect_velocity(); }};
  const Phase diffusion = {"diffuse", [this] { diffuse_velocity(); }};
  const Phase projection = {"project", [this] { project(); }};
  if (options_.project_twice) {
    phases_.push_back(diffusion);
    phases_.push_back(projection);
    phases_.push_back(advection);
  } else {
    phases_.push_back(advection);
    if (diffusion_ > 0) phases_.push_back(diffusion);
  }
  phases_.push_back(projection);
  if (smoke_) phases_.push_back({"smoke", [this] { bring_smoke(); }});
}

void Fluid::add_forces() {
  iterations_ = 0;
  ++steps_;
  for (const Push& push : pushes_) {
    const double radius = kPushRadius * cells_per_length_;
    for (std::size_t axis = 0; axis < on_.dimensions(); ++axis) {
      const double fastest = kFastestPush * cells_per_length_;
      const double speed =
          std::clamp((push.to[axis] - push.from[axis]) / time_step_, -fastest, fastest);
      on_.blend(faces(axis), push.from, push.to, radius, kPushStrength, speed, u_[axis]);
    }
    if (smoke_) {
      on_.blend(Place::centres, push.from, push.to, radius, kPushStrength, 1, *smoke_);
    }
  }
  pushes_.clear();
  if (smoke_) {
    const SmokeSource source = smoke_source(on_.box().cells);
    on_.blend(Place::centres, source.at, source.at, source.radius,
              -std::expm1(-kSmokeRate * time_step_), 1, *smoke_);
    on_.rise(*smoke_, scene_.buoyancy * time_step_ * cells_per_length_, u_[1]);
  }
  if (options_.confinement > 0) {
    on_.curl(u_, curl_);
    on_.confine(options_.confinement * time_step_, curl_, u_);
  }
}

void Fluid::advect_velocity() {
  for (std::size_t axis = 0; axis < on_.dimensions(); ++axis) {
    on_.advect(u_, time_step_, trace(), faces(axis), u_[axis], moved_[axis]);
    if (options_.semi_lagrangian) continue;
    on_.correct(u_, time_step_, faces(axis), u_[axis], moved_[axis], corrected_[axis]);
  }
  std::swap(u_, options_.semi_lagrangian ? moved_ : corrected_);
}

// result = the field after a time step of diffusion, by the implicit Euler method, or the explicit
// one. What a wall that moves along itself adds stands on the right-hand side.
void Fluid::diffuse(std::size_t which, Place place, Surface& field, Surface& result) {
  const double from_lid = place == Place::faces_x ? 2 * diffusion_ * on_.box().lid : 0;
  if (options_.explicit_diffusion) {
    const GridOperator step(field_grid(on_.box(), place, -diffusion_, 1));
    step.apply(on_.vectors(place), field, result);
    if (from_lid != 0) on_.add_at_last_wall(place, from_lid, result);
    return;
  }
  on_.vectors(place).combine(Operation::add, {1}, field, {0}, field, result);
  if (from_lid != 0) on_.add_at_last_wall(place, from_lid, field);
  note(diffusion_solvers_[which].solve(field, result));
  iterations_ += diffusion_solvers_[which].iterations();
}

void Fluid::diffuse_velocity() {
  if (diffusion_ == 0) return;
  for (std::size_t axis = 0; axis < on_.dimensions(); ++axis) {
    diffuse(axis, faces(axis), u_[axis], moved_[axis]);
  }
  std::swap(u_, moved_);
}

void Fluid::project() {
  if (scene_.solids_move) {
    place_solids();
    projection_.prepare(*structured_method(method_), rule_of(options_),
                        solids_.conductivity_on_device());
  }
  if (!solids_.empty()) solids_.hold(u_);
  note(projection_.project(u_));
  iterations_ += projection_.iterations();
}

std::vector<double> Fluid::left() {
  std::vector<double> left = projection_.left();
  if (!options_.project_twice) return left;
  for (std::size_t step = 0; step < left.size() / 2; ++step) left[step] = left[2 * step + 1];
  left.resize(left.size() / 2);
  return left;
}

void Fluid::bring_smoke() {
  if (options_.project_twice && diffusion_ > 0) {
    diffuse(on_.dimensions(), Place::centres, *smoke_, *moved_smoke_);
    std::swap(smoke_, moved_smoke_);
  }
  on_.advect(u_, time_step_, trace(), Place::centres, *smoke_, *moved_smoke_);
  if (options_.semi_lagrangian) {
    std::swap(smoke_, moved_smoke_);
  } else {
    on_.correct(u_, time_step_, Place::centres, *smoke_, *moved_smoke_, *corrected_smoke_);
    std::swap(smoke_, corrected_smoke_);
  }
  if (!solids_.empty()) solids_.hold(*smoke_);
}

Drawn Fluid::drawn() {
  const Surface* const solid = solids_.empty() ? nullptr : &solids_.number();
  if (smoke_) {
    const double depth = static_cast<double>(on_.box().cells[2]);
    const double of_source = 2 * smoke_source(on_.box().cells).radius;
    const double densest = on_.dimensions() == 2 ? 1 : std::min(of_source / depth, 1.0);
    return {&*smoke_, on_.box().cells, 0, densest, ColourMap::sequential, solid};
  }
  on_.curl(u_, curl_);
  const double range = 10 * cells_per_length_ / static_cast<double>(on_.box().cells[0]);
  return {&curl_.back(), on_.box().cells, -range, range, ColourMap::diverging, solid};
}

void Fluid::push_along(const std::array<double, 3>& from, const std::array<double, 3>& to) {
  pushes_.push_back({from, to});
}

std::vector<std::vector<double>> Fluid::velocity() {
  std::vector<std::vector<double>> result;
  for (std::size_t axis = 0; axis < on_.dimensions(); ++axis) {
    result.push_back(on_.download(faces(axis), u_[axis]));
    for (double& value : result.back()) value /= cells_per_length_;
  }
  return result;
}

std::vector<double> Fluid::smoke() {
  return smoke_ ? on_.download(Place::centres, *smoke_) : std::vector<double>();
}

void Fluid::set_smoke(const std::vector<double>& values) {
  on_.vectors(Place::centres).upload(values, *smoke_);
}

bool Fluid::is_over() {
  std::vector<std::vector<double>> now = velocity();
  double change = 0;
  for (std::size_t axis = 0; axis < velocity_before_.size(); ++axis) {
    for (std::size_t i = 0; i < now[axis].size(); ++i) {
      change = std::max(change, std::abs(now[axis][i] - velocity_before_[axis][i]));
    }
  }
  const double time = static_cast<double>(steps_ - steps_before_) * time_step_;
  const bool known = !velocity_before_.empty() && time > 0;
  velocity_before_ = std::move(now);
  steps_before_ = steps_;
  return known && change <= kSteady * time;
}

std::vector<ProfilePoint> Fluid::profile() {
  if (on_.dimensions() != 2) {
    throw Unsupported("centre lines are of flows in 2D", {"grid", "NxM"});
  }
  const auto& [nx, ny, nz] = on_.box().cells;
  const std::vector<std::vector<double>> fields = velocity();
  // At a place in cells: linear between the values, with those of walls at the walls.
  const auto at = [&](std::size_t axis, double x, double y) {
    const std::array<std::size_t, 3> size = field_grid(on_.box(), faces(axis), 0, 0).size;
    const double gx = x - (axis == 0 ? 1 : 0.5), gy = y - (axis == 1 ? 1 : 0.5);
    const double low_x = std::floor(gx), low_y = std::floor(gy);
    const auto value = [&](double i, double j) {
      if (i < 0 || i >= static_cast<double>(size[0]) || j < 0 ||
          j >= static_cast<double>(size[1])) {
        return 0.0;
      }
      return fields[axis][static_cast<std::size_t>(i) + size[0] * static_cast<std::size_t>(j)];
    };
    const double fx = gx - low_x, fy = gy - low_y;
    return (1 - fy) * ((1 - fx) * value(low_x, low_y) + fx * value(low_x + 1, low_y)) +
           fy * ((1 - fx) * value(low_x, low_y + 1) + fx * value(low_x + 1, low_y + 1));
  };
  const double width = static_cast<double>(nx), height = static_cast<double>(ny);
  std::vector<ProfilePoint> points;
  const auto add = [&](double x, double y) {
    const bool at_wall = x == 0 || y == 0 || x == width || y == height;
    const double wall = y == height ? scene_.lid : 0;
    points.push_back({x / cells_per_length_, y / cells_per_length_, at_wall ? wall : at(0, x, y),
                      at_wall ? 0 : at(1, x, y)});
  };
  add(width / 2, 0);
  for (std::size_t j = 0; j < ny; ++j) add(width / 2, static_cast<double>(j) + 0.5);
  add(width / 2, height);
  add(0, height / 2);
  for (std::size_t i = 0; i < nx; ++i) add(static_cast<double>(i) + 0.5, height / 2);
  add(width, height / 2);
  return points;
}

}  // namespace lugpu
