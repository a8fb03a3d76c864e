// Pictures of the fields that a simulation shows.
#pragma once

#include "lugpu/picture.hpp"
#include "operators/vectors.hpp"
#include "simulation/physics.hpp"

namespace lugpu {

/// How cells become pixels: a cell is magnify x magnify of them, or reduce x reduce cells are one.
struct PictureScale {
  std::size_t magnify, reduce;
  std::size_t width, height;

  /// The longer side has at least 256 and at most 1024 pixels, or little more than 256.
  static PictureScale of(std::size_t nx, std::size_t ny);
};

/// Colours the field on the device and reads the bytes back. A pixel shows the mean of its cells
/// that are not solid, over all z; grey: most of them are solid; magenta: the mean is not finite.
Picture paint(DeviceContext& context, const Drawn& drawn);

}  // namespace lugpu
