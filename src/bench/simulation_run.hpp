// A simulation that is run for some steps and timed, and its record (docs/lugpu.schema.json).
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "bench/result.hpp"
#include "simulation/physics.hpp"

namespace lugpu {

struct SimulationCase {
  std::string physics;  ///< of simulations()
  SimulationOptions options;
  int device_index = -1;                 ///< -1: on the host
  std::string problem = "";              ///< of simulated_problems(); empty: of none
  std::string implementation = "lugpu";  ///< or "plain", a rival
};

/// Seconds a step, waited for.
struct PhaseTime {
  std::string name;
  double seconds;
};

struct SimulationRun {
  SimulationCase what;
  std::string device;  ///< empty on the host
  std::string method;  ///< of the linear systems, also where the simulation chose it
  std::size_t steps = 0;
  double time_step = 0;
  std::vector<double> times_s;  ///< seconds a step, of batches of steps
  std::vector<PhaseTime> phases;
  double solver_iterations = 0;  ///< steps of the linear solver, mean of a time step
  std::string left_name;
  std::vector<double> left;          ///< of every time step
  std::optional<double> other_load;  ///< OtherLoad::share() while steps were timed for a benchmark
  RunStatus status = RunStatus::ok;
  std::string reason;  ///< one sentence; empty for ok

  double frames_per_s() const;
  /// Of `left`, which is not empty; what is no number counts as infinite, and stays the largest.
  double median_left() const;
  double largest_left() const;
};

/// How long a simulation runs.
struct RunLength {
  std::optional<std::size_t> steps;  ///< absent: until the scene is over, or
  std::size_t usual_steps = 1;       ///< for a scene without an end, so many
  std::size_t every = 0;             ///< steps from picture to picture; 0: none but the last
};

/// What is called before the first step, after every so many, and after the last one.
using Drawing = std::function<void(Physics& simulation, std::size_t step, bool last)>;

/// Runs it on the device from its start. `drawing` is called apart from the time. The kernels are
/// built and the phases timed in another run of a few steps before it. Ends early, with the status
/// failed, where a step goes wrong.
SimulationRun run_simulation(DeviceContext& context, const SimulationCase& what,
                             const RunLength& length, const Drawing& drawing);

/// Makes a simulation at its start; iterations: at most so many for every linear system.
using StepperMaker = std::function<std::unique_ptr<TimeStepper>(std::size_t iterations)>;

/// Builds the kernels by a step of few iterations, then takes as many steps as the effort says, in
/// batches that are timed. context: the device; null on the host. What is thrown becomes the
/// status, as in attempt(). A case that has used half of effort.timeout_s takes no more steps, and
/// one that has used all of it ends: `skipped` if it has no time yet.
SimulationRun measure_simulation(DeviceContext* context, const SimulationCase& what,
                                 const StepperMaker& make, const Effort& effort);

nlohmann::json to_json(const SimulationRun& run);

/// The fields of a record that tell its case from others.
std::span<const char* const> simulation_fields();

/// Whether two records are of the same case.
bool same_simulation(const nlohmann::json& a, const nlohmann::json& b);

}  // namespace lugpu
