// The simulations of bubbles: the scenes, and which physics each has.
#pragma once

#include "simulation/physics.hpp"

namespace lugpu {

std::vector<std::string> bubble_scenes();

/// Throws InputError that lists the scenes if there is no such one, and as BubbleCells and
/// TwoPhase.
std::unique_ptr<Physics> make_bubbles(DeviceContext& context, const SimulationOptions& options);

}  // namespace lugpu
