// OpenCL devices: their handles, and what follows from the facts about them.
#pragma once

#include "lugpu/device.hpp"
#include "opencl/element.hpp"
#include "opencl/opencl.hpp"

namespace lugpu {

cl::Device handle_of(const Device& device);

/// The name without the number that tells devices of one kind apart.
std::string kind_of(const Device& device);

/// Elements of a vector register: 2, 4, 8 or 16.
std::size_t vector_width(const Device& device, Precision precision);

/// The same device with only `units` of its compute units. Throws Unsupported if it cannot be
/// partitioned or has fewer.
Device with_compute_units(const Device& device, unsigned units);

}  // namespace lugpu
