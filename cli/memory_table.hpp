// The table that `lugpu bench --dry-run` prints: what every case takes of the memory.
#pragma once

#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "table.hpp"

namespace lugpu::cli {

/// One row per case, and how much those take that are measured in turn. devices: those of the
/// cases. over_cores: as in columns_of_cases(). host_bytes: what the host has for it.
std::string memory_table(const std::vector<Case>& cases, const std::vector<Device>& devices,
                         const Effort& effort, double host_bytes, bool over_cores, Format format);

}  // namespace lugpu::cli
