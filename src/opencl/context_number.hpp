// Keeps the kernels of PoCL's contexts apart.
#pragma once

#include <cstddef>
#include <memory>

#include "opencl/device.hpp"

namespace lugpu {

/// PoCL (3.1) counts the launches of a compiled kernel by what it was built from. Where two
/// contexts of a process first launch one at the same time it has the kernel twice, counts one of
/// the two, and ends the process. So each of its contexts builds programs with an option of its
/// own: this number, the least that no other one has while it is there. Null for other platforms.
std::shared_ptr<const std::size_t> context_number(const Device& device);

}  // namespace lugpu
