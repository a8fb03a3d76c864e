// Simulations in Python.
#pragma once

#include <pybind11/pybind11.h>

namespace lugpu::python {

/// Adds simulation_scenes(), SimulationOptions and Simulation to the module.
void add_simulation(pybind11::module_& module);

}  // namespace lugpu::python
