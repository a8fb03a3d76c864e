#include "simulation/bubbles.hpp"

#include "base/error.hpp"
#include "simulation/bubble_cells.hpp"
#include "simulation/two_phase.hpp"

namespace lugpu {
namespace {

constexpr const char* kCells = "cells";

}  // namespace

std::vector<std::string> bubble_scenes() {
  std::vector<std::string> names;
  for (const BubbleScene& scene : two_phase_scenes()) names.emplace_back(scene.name);
  names.emplace_back(kCells);
  return names;
}

std::unique_ptr<Physics> make_bubbles(DeviceContext& context, const SimulationOptions& options) {
  if (options.scene == kCells) return std::make_unique<BubbleCells>(context, options);
  for (const BubbleScene& scene : two_phase_scenes()) {
    if (!options.scene.empty() && options.scene != scene.name) continue;
    return std::make_unique<TwoPhase>(context, options, scene);
  }
  std::string known;
  for (const std::string& name : bubble_scenes()) known += (known.empty() ? "" : ", ") + name;
  throw InputError("There is no scene \"" + options.scene + "\" of bubbles; there are: " + known +
                   ".");
}

}  // namespace lugpu
