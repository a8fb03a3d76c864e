// The simulations of the benchmark of problems, and the rivals that take the same steps.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "bench/simulation_run.hpp"

namespace lugpu {

struct SimulatedProblem {
  const char* name;         ///< as on the command line, e.g. "fluid2d"
  const char* description;  ///< one line
  const char* physics;      ///< of simulations()
  int dimensions;
  std::size_t iterations;  ///< the few that the papers do for every linear system
  bool has_rivals;         ///< that of simulated_baselines()
  /// With n cells along each axis.
  SimulationOptions (*options)(std::size_t n);
};

std::span<const SimulatedProblem> simulated_problems();
/// Null if there is no such problem.
const SimulatedProblem* simulated_problem(const std::string& name);

/// Names of system_baselines() that simulate in plain loops of one thread.
const std::vector<std::string>& simulated_baselines();
/// The rival of this name. Throws as make_plain_fluid().
std::unique_ptr<TimeStepper> make_simulated_baseline(const std::string& name,
                                                     const SimulationOptions& options);

}  // namespace lugpu
