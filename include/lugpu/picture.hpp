// A picture in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lugpu {

/// Rows from the top, three bytes for each pixel: red, green, blue.
struct Picture {
  std::size_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
};

}  // namespace lugpu
