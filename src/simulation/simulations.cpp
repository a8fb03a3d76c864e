#include <string>

#include "base/error.hpp"
#include "simulation/bubbles.hpp"
#include "simulation/fluid.hpp"
#include "simulation/wave.hpp"

namespace lugpu {
namespace {

template <typename Scene>
std::vector<std::string> names(std::span<const Scene> scenes) {
  std::vector<std::string> result;
  for (const Scene& scene : scenes) result.emplace_back(scene.name);
  return result;
}

template <typename Kind>
std::unique_ptr<Physics> make(DeviceContext& context, const SimulationOptions& options) {
  return std::make_unique<Kind>(context, options);
}

}  // namespace

StoppingRule rule_of(const SimulationOptions& options) {
  const bool single = options.precision == Precision::single_precision;
  return {options.tolerance.value_or(single ? 1e-3 : 1e-6), options.iterations};
}

std::vector<ProfilePoint> Physics::profile() {
  throw Unsupported("this simulation has no velocity along centre lines",
                    {"scene", "cavity of fluid"});
}

std::span<const SimulationKind> simulations() {
  static const std::vector<SimulationKind> table = {
      {"wave", "water waves: rain, a stick, a standing wave", names(wave_scenes()), make<Wave>},
      {"fluid", "stable fluids in 2D and 3D: smoke, obstacles, a driven cavity",
       names(fluid_scenes()), make<Fluid>},
      {"bubbles", "bubbles that rise in a liquid; bubbly flow with a dense system for each cell",
       bubble_scenes(), make_bubbles},
  };
  return table;
}

const SimulationKind& find_simulation(const std::string& name) {
  std::string known;
  for (const SimulationKind& kind : simulations()) {
    if (name == kind.name) return kind;
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  throw InputError("There is no simulation \"" + name + "\"; there are: " + known + ".");
}

}  // namespace lugpu
