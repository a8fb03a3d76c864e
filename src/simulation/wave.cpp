#include "simulation/wave.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.hpp"

namespace lugpu {
namespace {

constexpr double kPi = std::numbers::pi;
// In points: how far a wave goes in a step of the implicit scheme.
constexpr double kImplicitStep = 5;
// Of the stable limit, a share for the explicit one.
constexpr double kExplicitShare = 0.9;
// Of drops and the stick: lengths and depths, drops in a unit of time, turns of the stick.
constexpr double kDropRadius = 0.02, kDropDepth = -0.6, kDropsPerTime = 12;
constexpr double kStickRadius = 0.012, kStickDepth = -0.4, kStickTurns = 0.35;
// Steps between looks at the waves of the explicit scheme, and how high no sane wave is.
constexpr std::size_t kStepsUntilLook = 64;
constexpr double kHighest = 1e3;
// Places of scalars.
constexpr int kHighestPlace = 0, kSum = 1;
// The part of the water's velocity that is lost in a unit of time where a scene disturbs it again
// and again, so that its waves do not pile up.
constexpr double kDamping = 0.5;
// The mode has so many half waves along x and y.
constexpr double kHalfWavesX = 2, kHalfWavesY = 3;

Box box_of(const SimulationOptions& options) {
  if (options.size[2] != 1) {
    throw InputError("Waves are on a surface: the grid must have two sizes.", {"grid", "NxM"});
  }
  return {options.size, {Boundary::free_slip, Boundary::free_slip, Boundary::free_slip}, 0};
}

void require_possible(const SimulationOptions& options) {
  if (options.time_step) require_positive("The time step", *options.time_step);
  const bool of_fluids = options.reynolds || options.explicit_diffusion ||
                         options.semi_lagrangian || options.project_twice ||
                         options.confinement != 0 || options.density_ratio;
  if (of_fluids) {
    throw InputError(
        "Waves take no viscosity, advection, confinement or density: those are of fluids.");
  }
}

const WaveScene& find_scene(const std::string& name) {
  std::string known;
  for (const WaveScene& scene : wave_scenes()) {
    if (name.empty() || name == scene.name) return scene;
    known += (known.empty() ? "" : ", ") + std::string(scene.name);
  }
  throw InputError("There is no scene \"" + name + "\" of wave; there are: " + known + ".");
}

}  // namespace

std::span<const WaveScene> wave_scenes() {
  static const WaveScene table[] = {
      {"rain", "rain drops on the water", true, false, false},
      {"stick", "a stick that is drawn through the water", false, true, false},
      {"still", "still water, for the mouse", false, false, false},
      {"mode", "a standing wave, whose motion is known", false, false, true},
  };
  return table;
}

Wave::Wave(DeviceContext& context, const SimulationOptions& options)
    : Physics((require_possible(options), options)),
      context_(context),
      scene_(find_scene(options.scene)),
      on_(context, box_of(options), options.precision),
      points_per_length_(cells_per_length(options.size)),
      vectors_(context, on_.layout(Place::centres), 2),
      u_(on_.field(Place::centres)),
      before_(on_.field(Place::centres)),
      next_(on_.field(Place::centres)),
      ones_(on_.field(Place::centres)),
      monitor_(context, on_.layout(Place::centres)) {
  vectors_.upload(std::vector<double>(points(), 1), ones_);
  prepare();
  if (scene_.is_mode) start_mode();
  phases_ = {{"disturb", [this] { disturb(); }},
             {"step", [this] { explicit_ ? step_explicitly() : step_implicitly(); }}};
}

void Wave::prepare() {
  method_ = options_.method.empty() ? "fast-diagonal" : options_.method;
  explicit_ = method_ == "explicit";
  const double old_step = time_step_;
  const double in_points = explicit_ ? kExplicitShare * std::sqrt(0.5) : kImplicitStep;
  time_step_ = options_.time_step.value_or(in_points / points_per_length_);
  r_ = std::pow(time_step_ * points_per_length_, 2);
  if (old_step > 0 && time_step_ != old_step) scale_velocity(time_step_ / old_step);
  operator_.reset();
  solver_.reset();
  if (explicit_) {
    operator_ = std::make_unique<GridOperator>(field_grid(on_.box(), Place::centres, -r_, 2));
    return;
  }
  const StructuredMethod* const method = structured_method(method_);
  if (!method) throw InputError("There is no method \"" + method_ + "\" for waves.");
  const Grid grid = field_grid(on_.box(), Place::centres, r_ / 2, 1);
  operator_ = std::make_unique<GridOperator>(grid);
  solver_ =
      std::make_unique<FieldSolver>(context_, *method, rule_of(options_), on_.precision(), grid);
}

double Wave::phase_of_mode() const {
  const auto& [nx, ny, nz] = on_.box().cells;
  const double x = std::sin(kHalfWavesX * kPi / 2 / static_cast<double>(nx));
  const double y = std::sin(kHalfWavesY * kPi / 2 / static_cast<double>(ny));
  const double eigenvalue = 4 * (x * x + y * y);
  return std::acos(explicit_ ? 1 - r_ / 2 * eigenvalue : 1 / (1 + r_ / 2 * eigenvalue));
}

// cos(t) times the mode, at t = 0 and one step before it.
void Wave::start_mode() {
  const auto& [nx, ny, nz] = on_.box().cells;
  const double share = std::cos(phase_of_mode());
  std::vector<double> now(nx * ny), earlier(nx * ny);
  for (std::size_t i = 0; i < now.size(); ++i) {
    const double x = (static_cast<double>(i % nx) + 0.5) / static_cast<double>(nx);
    const double y = (static_cast<double>(i / nx) + 0.5) / static_cast<double>(ny);
    now[i] = std::cos(kHalfWavesX * kPi * x) * std::cos(kHalfWavesY * kPi * y);
    earlier[i] = std::isfinite(share) ? share * now[i] : now[i];
  }
  vectors_.upload(now, u_);
  vectors_.upload(earlier, before_);
}

// The water is pressed down along a line without a push: both of its last heights are. It stays as
// much water, so that its level rises.
void Wave::press(const std::array<double, 3>& from, const std::array<double, 3>& to, double depth) {
  const double radius = (scene_.has_stick ? kStickRadius : kDropRadius) * points_per_length_;
  for (Surface* field : {&u_, &before_}) {
    on_.blend(Place::centres, from, to, std::max(radius, 1.0), 0.5, depth, *field);
    vectors_.reduce(Reduction::sum, *field, *field, kSum);
    const Factor mean = {1 / static_cast<double>(points()), kSum};
    vectors_.combine(Operation::subtract, {1}, *field, mean, ones_, next_);
    std::swap(*field, next_);
  }
}

// The last height moves towards the present one: the velocity becomes a share of what it was.
void Wave::scale_velocity(double share) {
  vectors_.combine(Operation::add, {1 - share}, u_, {share}, before_, next_);
  std::swap(before_, next_);
}

void Wave::disturb() {
  const auto width = static_cast<double>(on_.box().cells[0]);
  const auto height = static_cast<double>(on_.box().cells[1]);
  if (scene_.rains) {
    std::poisson_distribution<int> drops(std::min(kDropsPerTime * time_step_, 10.0));
    std::uniform_real_distribution<double> place(0.05, 0.95);
    for (int left = drops(random_) + (steps_ == 0 ? 1 : 0); left > 0; --left) {
      const std::array<double, 3> at = {place(random_) * width, place(random_) * height, 0};
      press(at, at, kDropDepth);
    }
  }
  if (scene_.has_stick) {
    const auto at = [&](double time) {
      const double angle = 2 * kPi * kStickTurns * time;
      return std::array<double, 3>{width * (0.5 + 0.3 * std::cos(angle)),
                                   height * (0.5 + 0.3 * std::sin(angle)), 0};
    };
    press(at(time_), at(time_ + time_step_), kStickDepth);
  }
  if (scene_.rains || scene_.has_stick) scale_velocity(std::exp(-kDamping * time_step_));
  time_ += time_step_;
  ++steps_;
}

void Wave::step_explicitly() {
  operator_->apply(vectors_, u_, Operation::subtract, before_, next_);
  std::swap(before_, u_);
  std::swap(u_, next_);
  ++explicit_left_;
  if (steps_ % kStepsUntilLook == 0) look();
}

// (I + r/2 A) v = u(t) from v = u(t), then u(t+1) = 2 v - u(t-1).
void Wave::step_implicitly() {
  vectors_.combine(Operation::add, {1}, u_, {0}, u_, next_);
  monitor_.before(u_);
  note(solver_->solve(u_, next_));
  Surface scratch = vectors_.take();
  operator_->apply(vectors_, next_, Operation::subtract, u_, scratch);
  monitor_.after(scratch);
  vectors_.combine(Operation::subtract, {2}, next_, {1}, before_, scratch);
  vectors_.give_back(std::exchange(before_, std::exchange(u_, std::move(scratch))));
}

void Wave::look() {
  vectors_.reduce(Reduction::magnitude, u_, u_, kHighestPlace);
  const double highest = vectors_.scalar(kHighestPlace);
  if (highest < kHighest) return;
  note("The waves grow without bound, for the explicit scheme is stable up to a time step of " +
       std::to_string(std::sqrt(0.5) / points_per_length_));
}

std::vector<double> Wave::left() {
  if (!explicit_) return monitor_.take();
  look();
  return std::vector<double>(std::exchange(explicit_left_, 0), 0.0);
}

Drawn Wave::drawn() {
  constexpr double kHeight = 0.15;
  const double range = scene_.is_mode ? 1 : kHeight;
  return {&u_, on_.box().cells, -range, range, ColourMap::diverging};
}

void Wave::push_along(const std::array<double, 3>& from, const std::array<double, 3>& to) {
  press(from, to, kDropDepth);
}

std::vector<double> Wave::height() {
  return on_.download(Place::centres, u_);
}

std::vector<double> Wave::height_before() {
  return on_.download(Place::centres, before_);
}

}  // namespace lugpu
