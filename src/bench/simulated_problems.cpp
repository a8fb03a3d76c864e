#include "bench/simulated_problems.hpp"

#include <algorithm>
#include <iterator>

#include "baselines/plain_fluid.hpp"

namespace lugpu {
namespace {

// As in Stam's "Real-Time Fluid Dynamics for Games", which Amador and Gomes time: five linear
// systems a step in 2D, six in 3D.
SimulationOptions fluid(std::array<std::size_t, 3> size) {
  SimulationOptions options;
  options.size = size;
  options.scene = "smoke";
  options.reynolds = 1000;
  options.project_twice = true;
  options.semi_lagrangian = true;
  return options;
}

SimulationOptions rain(std::size_t n) {
  SimulationOptions options;
  options.size = {n, n, 1};
  options.scene = "rain";
  return options;
}

}  // namespace

std::span<const SimulatedProblem> simulated_problems() {
  static const SimulatedProblem table[] = {
      {"fluid2d", "stable fluids, five linear systems a step", "fluid", 2, 10, true,
       [](std::size_t n) {
         return fluid({n, n, 1});
       }},
      {"fluid3d", "stable fluids, six linear systems a step", "fluid", 3, 4, true,
       [](std::size_t n) {
         return fluid({n, n, n});
       }},
      {"wave2d", "rain on water, one linear system a step", "wave", 2, 5, false, rain},
  };
  return table;
}

const SimulatedProblem* simulated_problem(const std::string& name) {
  const std::span<const SimulatedProblem> table = simulated_problems();
  const auto found = std::find_if(table.begin(), table.end(), [&](const SimulatedProblem& problem) {
    return name == problem.name;
  });
  return found == table.end() ? nullptr : &*found;
}

const std::vector<std::string>& simulated_baselines() {
  // In the order of PlainMethod.
  static const std::vector<std::string> names = {"plain-jacobi", "plain-gauss-seidel", "plain-cg"};
  return names;
}

std::unique_ptr<TimeStepper> make_simulated_baseline(const std::string& name,
                                                     const SimulationOptions& options) {
  const std::vector<std::string>& names = simulated_baselines();
  const auto found = std::find(names.begin(), names.end(), name);
  return make_plain_fluid(options, static_cast<PlainMethod>(std::distance(names.begin(), found)));
}

}  // namespace lugpu
