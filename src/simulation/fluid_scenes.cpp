#include "simulation/fluid_scenes.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.hpp"

namespace lugpu {
namespace {

using Point = std::array<double, 3>;
constexpr double kPi = std::numbers::pi;
constexpr double kNoViscosity = std::numeric_limits<double>::infinity();

// G. I. Taylor, A. E. Green 1937, in two dimensions: an exact solution that decays by
// exp(-(kx^2 + ky^2) t / Re).
Point vortices(double x, double y, const Point& sides) {
  const double kx = 2 * kPi / sides[0], ky = 2 * kPi / sides[1];
  return {std::sin(kx * x) * std::cos(ky * y), -kx / ky * std::cos(kx * x) * std::sin(ky * y), 0};
}

std::vector<Solid> ball(double, const Point& sides) {
  return {{{sides[0] / 2, 0.55 * sides[1], sides[2] / 2}, 0.1 * sides[0], {}}};
}

// From one side to the other and back.
std::vector<Solid> moving_ball(double time, const Point& sides) {
  constexpr double kFrequency = 2;
  const double reach = sides[0] / 4, angle = kFrequency * time;
  return {{{sides[0] / 2 + reach * std::sin(angle), 0.55 * sides[1], sides[2] / 2},
           0.1 * sides[0],
           {reach * kFrequency * std::cos(angle), 0, 0}}};
}

constexpr std::array kWalls = {Boundary::no_slip, Boundary::no_slip, Boundary::no_slip};
constexpr std::array kPeriodic = {Boundary::periodic, Boundary::periodic, Boundary::periodic};

}  // namespace

std::span<const FluidScene> fluid_scenes() {
  static const FluidScene table[] = {
      {"smoke", "smoke that rises in a closed box", kWalls, 0, kNoViscosity, 2, 2, false, nullptr,
       nullptr, false},
      {"obstacle", "smoke that rises around a ball", kWalls, 0, kNoViscosity, 2, 2, false, nullptr,
       ball, false},
      {"moving", "smoke that a moving ball stirs", kWalls, 0, kNoViscosity, 2, 2, false, nullptr,
       moving_ball, true},
      {"cavity", "a box whose lid moves, until the flow is steady", kWalls, 1, 100, 0.25, 0, true,
       nullptr, nullptr, false},
      {"vortices", "Taylor's and Green's vortices, which decay", kPeriodic, 0, 100, 0.5, 0, false,
       vortices, nullptr, false},
  };
  return table;
}

SmokeSource smoke_source(const std::array<std::size_t, 3>& cells) {
  constexpr double kRadius = 0.05, kHeight = 0.12;
  SmokeSource source = {{}, kRadius * cells_per_length(cells)};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    source.at[axis] = (axis == 1 ? kHeight : 0.5) * static_cast<double>(cells[axis]);
  }
  return source;
}

const FluidScene& find_fluid_scene(const std::string& name) {
  std::string known;
  for (const FluidScene& scene : fluid_scenes()) {
    if (name.empty() || name == scene.name) return scene;
    known += (known.empty() ? "" : ", ") + std::string(scene.name);
  }
  throw InputError("There is no scene \"" + name + "\" of fluid; there are: " + known + ".");
}

}  // namespace lugpu
