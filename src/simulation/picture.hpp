// Pictures of what a simulation shows.
#pragma once

#include "matrix/picture.hpp"
#include "simulation/simulation.hpp"

namespace lugpu {

/// Drawn on the device; only the pixels are read back. Grids of less than 256 cells a side are
/// magnified by a whole factor, those of more than 1024 reduced by one.
Picture paint(DeviceContext& context, const Drawn& drawn);

}  // namespace lugpu
