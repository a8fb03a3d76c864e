#include "opencl/cpu_tile.hpp"

namespace lugpu {

std::size_t cpu_tile_rows(const Device& device, Precision precision) {
  // As many sums as there are registers, minus four: 16 of up to 32 bytes, 32 of 64.
  return vector_width(device, precision) * element_size(precision) == 64 ? 12 : 6;
}

std::string cpu_tile_options(const Device& device, Precision precision) {
  return " -DVECTOR=" + std::to_string(vector_width(device, precision)) +
         " -DROWS=" + std::to_string(cpu_tile_rows(device, precision));
}

}  // namespace lugpu
