// The scenes of the simulation of fluids.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "simulation/solids.hpp"

namespace lugpu {

/// Lengths are in units of the longest side, velocities in those of the scene's typical speed.
struct FluidScene {
  const char* name;
  const char* description;
  std::array<Boundary, 3> bounds;
  double lid;         ///< speed of the last wall across y
  double reynolds;    ///< unless the user chooses
  double step;        ///< time step in cells at speed 1
  double buoyancy;    ///< acceleration of smoke of density 1
  bool until_steady;  ///< runs until nothing changes any more
  /// At a point; null: at rest.
  std::array<double, 3> (*velocity)(double x, double y, const std::array<double, 3>& sides);
  /// Where the solids are at a time; null: none.
  std::vector<Solid> (*solids)(double time, const std::array<double, 3>& sides);
  bool solids_move;

  bool has_smoke() const { return buoyancy > 0; }
};

std::span<const FluidScene> fluid_scenes();

/// Smoke becomes 1 in its source at this rate, in units of 1 / time.
inline constexpr double kSmokeRate = 20;
/// Lengths in cells: exp(-(distance / radius)^2) of the rate is had at a distance.
struct SmokeSource {
  std::array<double, 3> at;
  double radius;
};
SmokeSource smoke_source(const std::array<std::size_t, 3>& cells);

/// The first one for an empty name. Throws InputError that lists them if there is no such scene.
const FluidScene& find_fluid_scene(const std::string& name);

}  // namespace lugpu
