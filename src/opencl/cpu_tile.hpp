// The register tiles of the kernels for CPUs.
#pragma once

#include <string>

#include "opencl/device.hpp"

namespace lugpu {

/// Build options of kernels that include cpu/tile.clh.
std::string cpu_tile_options(const Device& device, Precision precision);

}  // namespace lugpu
