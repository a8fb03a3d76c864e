#include "opencl/cpu_tile.hpp"

namespace lugpu {

std::string cpu_tile_options(const Device& device, Precision precision) {
  const std::size_t vector = vector_width(device, precision);
  // As many sums as there are registers, minus four: 16 of up to 32 bytes, 32 of 64.
  const std::size_t rows = vector * element_size(precision) == 64 ? 12 : 6;
  return " -DVECTOR=" + std::to_string(vector) + " -DROWS=" + std::to_string(rows);
}

}  // namespace lugpu
