#include <algorithm>
#include <cmath>
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

void require_positive(const char* what, double value) {
  if (value > 0 && std::isfinite(value)) return;
  throw InputError(std::string(what) + " must be positive, not " + std::to_string(value) + ".");
}

void Physics::note(const std::string& trouble) {
  if (trouble_.empty()) trouble_ = trouble;
}

void Physics::push(double from_x, double from_y, double to_x, double to_y) {
  const auto place = [&](double x, double y) {
    std::array<double, 3> shares = {x, y, 0.5};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double share = std::isfinite(shares[axis]) ? std::clamp(shares[axis], 0.0, 1.0) : 0.5;
      shares[axis] = share * static_cast<double>(options_.size[axis]);
    }
    return shares;
  };
  push_along(place(from_x, from_y), place(to_x, to_y));
}

void Physics::change(const std::string& method, const StoppingRule& rule) {
  const SimulationOptions before = options_;
  options_.method = method;
  options_.tolerance = rule.tolerance;
  options_.iterations = rule.iterations;
  try {
    prepare();
  } catch (...) {
    options_ = before;
    prepare();
    throw;
  }
  trouble_.clear();
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
