// The register tiles of the kernels for CPUs.
#pragma once

#include <string>

#include "opencl/device.hpp"

namespace lugpu {

/// ROWS of cpu/tile.clh.
std::size_t cpu_tile_rows(const Device& device, Precision precision);

/// Build options of kernels that include cpu/tile.clh.
std::string cpu_tile_options(const Device& device, Precision precision);

}  // namespace lugpu
