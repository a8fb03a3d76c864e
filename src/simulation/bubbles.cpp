#include "simulation/bubbles.hpp"

#include "base/error.hpp"
#include "simulation/bubble_cells.hpp"

namespace lugpu {

std::vector<std::string> bubble_scenes() {
  return {"cells"};
}

std::unique_ptr<Simulation> make_bubbles(DeviceContext& context, const SimulationOptions& options) {
  if (options.scene.empty() || options.scene == "cells") {
    return std::make_unique<BubbleCells>(context, options);
  }
  throw InputError("There is no scene \"" + options.scene + "\" of bubbles.");
}

}  // namespace lugpu
