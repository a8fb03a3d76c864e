#include "simulation/picture.hpp"

#include <algorithm>

namespace lugpu {

PictureScale PictureScale::of(std::size_t nx, std::size_t ny) {
  constexpr std::size_t kFewest = 256, kMost = 1024;
  const std::size_t side = std::max<std::size_t>({nx, ny, 1});
  const std::size_t magnify = side < kFewest ? ceiling(kFewest, side) : 1;
  const std::size_t reduce = ceiling(side, kMost);
  return {magnify, reduce, ceiling(nx, reduce) * magnify, ceiling(ny, reduce) * magnify};
}

Picture paint(DeviceContext& context, const Drawn& drawn) {
  const auto [nx, ny, nz] = drawn.size;
  const PictureScale scale = PictureScale::of(nx, ny);
  Picture picture{scale.width, scale.height, {}};
  picture.rgb.resize(3 * scale.width * scale.height);
  const cl::Buffer& bytes = context.scratch(picture.rgb.size());
  const double slope = drawn.high > drawn.low ? 1 / (drawn.high - drawn.low) : 0;
  const Surface& solid = drawn.solid ? *drawn.solid : *drawn.field;
  const cl_int sizes[] = {cl_int(nx), cl_int(ny), cl_int(nz)};
  const cl_int diverging = drawn.colours == ColourMap::diverging;
  with_real(drawn.field->precision(), [&](auto real) {
    context.run("paint", drawn.field->kernel("simulation/paint.cl", "paint"),
                {scale.width, scale.height}, *drawn.field, solid, cl_int{drawn.solid != nullptr},
                bytes, sizes[0], sizes[1], sizes[2], cl_int(scale.magnify), cl_int(scale.reduce),
                real(drawn.low), real(slope), diverging);
  });
  context.read_back("picture", bytes, 0, picture.rgb.size(), picture.rgb.data());
  return picture;
}

}  // namespace lugpu
