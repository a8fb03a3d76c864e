#include <string>

#include "base/error.hpp"
#include "simulation/simulation.hpp"

namespace lugpu {

std::span<const SimulationKind> simulations() {
  static const std::vector<SimulationKind> table = {};
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
