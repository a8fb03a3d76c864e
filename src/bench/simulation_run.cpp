#include "bench/simulation_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clock.hpp"
#include "bench/statistics.hpp"
#include "bench/sweep.hpp"
#include "bench/wording.hpp"

namespace lugpu {
namespace {

// A batch of steps takes at least so long, unless it would be more than so many.
constexpr double kBatchSeconds = 0.02;
constexpr std::size_t kMostOfBatch = 1024;
// Steps before the phases are timed, and while they are.
constexpr int kWarmUp = 3, kTimed = 8;
// Steps between looks at whether a scene is over, and the most it may take.
constexpr std::size_t kUntilLook = 500, kMostSteps = 1000000;
// The values of `left` in a record.
constexpr std::size_t kMostLeft = 1000;

// Enqueued work, if there is a device.
void finish(DeviceContext* context) {
  if (context) context->queue().finish();
}

void time_phases(DeviceContext& context, Physics& simulation, SimulationRun& run) {
  for (const Phase& phase : simulation.phases()) run.phases.push_back({phase.name, 0});
  for (int step = 0; step < kWarmUp; ++step) simulation.step();
  context.queue().finish();
  for (int step = 0; step < kTimed; ++step) {
    for (std::size_t i = 0; i < simulation.phases().size(); ++i) {
      const Clock::time_point start = Clock::now();
      simulation.phases()[i].run();
      context.queue().finish();
      run.phases[i].seconds += seconds_since(start) / kTimed;
    }
  }
}

void fail(SimulationRun& run, const std::string& reason) {
  run.status = RunStatus::failed;
  run.reason = reason;
}

// Runs at most so many steps, up to one that goes wrong, and returns whether all is well.
bool run_batch(DeviceContext* context, TimeStepper& simulation, std::size_t steps,
               SimulationRun& run) {
  const Clock::time_point start = Clock::now();
  double iterations = 0;
  std::size_t done = 0;
  while (done < steps && simulation.trouble().empty()) {
    simulation.step();
    iterations += static_cast<double>(simulation.iterations());
    ++done;
  }
  finish(context);
  const double all = static_cast<double>(run.steps + done), these = static_cast<double>(done);
  run.times_s.push_back(seconds_since(start) / these);
  run.solver_iterations += (iterations - these * run.solver_iterations) / all;
  run.steps += done;
  const std::vector<double> left = simulation.left();
  run.left.insert(run.left.end(), left.begin(), left.end());
  if (!simulation.trouble().empty()) fail(run, simulation.trouble());
  const bool finite =
      std::all_of(left.begin(), left.end(), [](double value) { return std::isfinite(value); });
  if (run.status == RunStatus::ok && !finite) fail(run, "The numbers are not finite any more");
  return run.status == RunStatus::ok;
}

}  // namespace

double SimulationRun::median_left() const {
  std::vector<double> values = left;
  for (double& value : values) {
    if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
  }
  return median(values);
}

double SimulationRun::largest_left() const {
  double largest = 0;
  for (const double value : left) largest = value <= largest ? largest : value;
  return largest;
}

double SimulationRun::frames_per_s() const {
  return times_s.empty() ? 0 : 1 / median(times_s);
}

SimulationRun run_simulation(DeviceContext& context, const SimulationCase& what,
                             const RunLength& length, const Drawing& drawing) {
  SimulationRun run;
  run.what = what;
  run.device = context.device().name;
  const SimulationKind& kind = find_simulation(what.physics);
  time_phases(context, *kind.make(context, what.options), run);
  const std::unique_ptr<Physics> simulation = kind.make(context, what.options);
  run.method = simulation->method();
  run.time_step = simulation->time_step();
  run.left_name = simulation->left_name();
  const bool until_over = !length.steps && simulation->ends();
  const std::size_t end = until_over ? kMostSteps : length.steps.value_or(length.usual_steps);
  std::size_t batch = 1;
  bool goes_on = true;
  drawing(*simulation, 0, false);
  while (goes_on) {
    std::size_t steps = std::min(batch, end - run.steps);
    if (length.every > 0) steps = std::min(steps, length.every - run.steps % length.every);
    if (until_over) steps = std::min(steps, kUntilLook - run.steps % kUntilLook);
    goes_on = run_batch(&context, *simulation, steps, run) && run.steps < end;
    const double took = run.times_s.back() * static_cast<double>(steps);
    if (took < kBatchSeconds) batch = std::min(2 * batch, kMostOfBatch);
    if (until_over && run.steps % kUntilLook == 0) goes_on = goes_on && !simulation->is_over();
    const bool wanted = length.every > 0 && run.steps % length.every == 0;
    if (wanted || !goes_on) drawing(*simulation, run.steps, !goes_on);
  }
  return run;
}

SimulationRun measure_simulation(DeviceContext* context, const SimulationCase& what,
                                 const StepperMaker& make, const Effort& effort) {
  SimulationRun run;
  run.what = what;
  run.method = what.options.method;
  if (context) run.device = context->device().name;
  attempt_into(run, effort, [&] {
    const Clock::time_point start = Clock::now();
    if (context) context->deadline().set(effort.timeout_s);
    constexpr std::size_t kFewIterations = 2;
    make(std::min(kFewIterations, what.options.iterations))->step();
    finish(context);
    const std::unique_ptr<TimeStepper> simulation = make(what.options.iterations);
    finish(context);
    run.time_step = simulation->time_step();
    run.left_name = simulation->left_name();
    std::size_t batch = 1;
    Samples samples(effort);
    const OtherLoad other_load;
    bool goes_on = true;
    while (goes_on) {
      goes_on = run_batch(context, *simulation, batch, run);
      const double took = run.times_s.back() * static_cast<double>(batch);
      samples.add(run.times_s.back(), took);
      run.times_s = samples.kept();
      goes_on = goes_on && !samples.enough() && seconds_since(start) < effort.timeout_s / 2;
      if (took < kBatchSeconds) batch = std::min(2 * batch, kMostOfBatch);
    }
    run.other_load = other_load.share();
  });
  if (context) context->deadline().set(INFINITY);
  return run;
}

std::span<const char* const> simulation_fields() {
  static constexpr const char* kFields[] = {
      "problem", "scene",        "grid",      "implementation", "routine",
      "device",  "device_index", "precision", "tolerance",      "iterations"};
  return kFields;
}

bool same_simulation(const nlohmann::json& a, const nlohmann::json& b) {
  return std::ranges::all_of(simulation_fields(), [&](const char* key) {
    return a.value(key, nlohmann::json()) == b.value(key, nlohmann::json());
  });
}

nlohmann::json to_json(const SimulationRun& run) {
  const SimulationOptions& options = run.what.options;
  nlohmann::json json = {
      {"problem", run.what.problem.empty() ? run.what.physics : run.what.problem},
      {"implementation", run.what.implementation},
      {"routine", run.method},
      {"precision", name(options.precision)},
      {"device", run.device.empty() ? nlohmann::json() : nlohmann::json(run.device)},
      {"scene", options.scene},
      {"grid", options.size},
      {"tolerance", rule_of(options).tolerance},
      {"steps", run.steps},
      {"time_step", run.time_step},
      {"times_s", run.times_s},
      {"frames_per_s", run.frames_per_s()},
      {"solver_iterations", run.solver_iterations},
      {"status", name(run.status)}};
  if (!run.device.empty()) json["device_index"] = run.what.device_index;
  for (const PhaseTime& phase : run.phases) json["phases_s"][phase.name] = phase.seconds;
  if (options.tolerance == 0) json["iterations"] = options.iterations;
  if (run.other_load) json["other_load"] = *run.other_load;
  if (!run.reason.empty()) json["reason"] = run.reason;
  if (run.left.empty()) return json;
  const std::size_t thinned = (run.left.size() - 1) / kMostLeft + 1;
  std::vector<double> by_step;
  for (std::size_t i = 0; i < run.left.size(); i += thinned) by_step.push_back(run.left[i]);
  json["left"] = {{"of", run.left_name},         {"first", run.left.front()},
                  {"median", run.median_left()}, {"largest", run.largest_left()},
                  {"last", run.left.back()},     {"by_step", by_step}};
  return json;
}

}  // namespace lugpu
