// The live view of a simulation, by SDL2 where it was present when this was built.
#pragma once

#include <optional>
#include <string>

#include "options.hpp"
#include "simulation/physics.hpp"

namespace lugpu::cli {

/// Throws Unsupported if SDL2 was absent when this was built.
void require_window();

/// Opens a window, then the device that the options name, and shows `physics` step by step until
/// the user closes it, or for so many steps. The mouse pushes; "h" prints the keys on stdout.
/// Throws as require_window() and the simulation, and Error (failure) if there is no display.
void show_window(const Options& options, const std::string& physics, const SimulationOptions& what,
                 std::optional<std::size_t> steps);

}  // namespace lugpu::cli
