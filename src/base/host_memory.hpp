// This machine's memory.
#pragma once

#include <cstdint>

namespace lugpu {

/// Bytes of physical memory.
std::uint64_t host_memory();

}  // namespace lugpu
