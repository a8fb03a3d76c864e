// Stable fluids in plain loops on one thread of the host, as the CPU side of Amador and Gomes,
// "Linear Solvers for Stable Fluids: GPU vs CPU" (2010): what simulation/fluid.hpp computes for the
// scene "smoke" with semi-Lagrangian advection.
#pragma once

#include <memory>
#include <vector>

#include "baselines/plain_iteration.hpp"
#include "simulation/physics.hpp"

namespace lugpu {

class PlainFluid : public TimeStepper {
 public:
  /// Of all components in the scene's units: one column of values for each field.
  virtual std::vector<std::vector<double>> velocity() const = 0;
  virtual std::vector<double> smoke() const = 0;
};

/// options: of the scene "smoke" with semi_lagrangian and a tolerance of 0; the method's name is
/// not read. Throws InputError for other options, Unsupported if its arrays take more than half of
/// this machine's memory.
std::unique_ptr<PlainFluid> make_plain_fluid(const SimulationOptions& options, PlainMethod method);

}  // namespace lugpu
