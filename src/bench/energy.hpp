// What devices themselves count of the energy that they use.
#pragma once

#include <functional>
#include <string>

#include "lugpu/device.hpp"

namespace lugpu {

/// Joules since some time; ever growing. Empty where nothing can be read.
using EnergyCounter = std::function<double()>;

/// That of all processors together, cores and caches, from Linux's RAPL files in this folder
/// (powercap: intel-rapl:*/energy_uj, which AMD's processors have too; only root may read them, by
/// default).
EnergyCounter processor_energy(const std::string& folder = "/sys/class/powercap");

/// That of a GPU's board, memory included, from NVIDIA's management library (NVML), which is opened
/// at run time and finds the device by its place on the bus.
EnergyCounter gpu_energy(const Device& device);

/// Of the device, or of the host (null) and of OpenCL on its processors.
EnergyCounter energy_of(const Device* device);

}  // namespace lugpu
