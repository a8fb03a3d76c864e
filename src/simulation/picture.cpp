#include "simulation/picture.hpp"

#include <algorithm>

#include "operators/vectors.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kSmallest = 256, kLargest = 1024;

// Every pixel as `factor` x `factor` of them.
Picture magnified(const Picture& pixels, std::size_t factor) {
  if (factor == 1) return pixels;
  Picture result{pixels.width * factor, pixels.height * factor, {}};
  result.rgb.resize(3 * result.width * result.height);
  for (std::size_t y = 0; y < result.height; ++y) {
    for (std::size_t x = 0; x < result.width; ++x) {
      const std::size_t from = 3 * (y / factor * pixels.width + x / factor);
      std::copy_n(&pixels.rgb[from], 3, &result.rgb[3 * (y * result.width + x)]);
    }
  }
  return result;
}

}  // namespace

Picture paint(DeviceContext& context, const Drawn& drawn) {
  const auto& [nx, ny, nz] = drawn.size;
  const std::size_t longest = std::max(nx, ny), side = ceiling(longest, kLargest);
  Picture pixels{ceiling(nx, side), ceiling(ny, side), {}};
  pixels.rgb.resize(3 * pixels.width * pixels.height);
  const cl::Buffer rgb = context.allocate(pixels.rgb.size());
  const Surface& field = *drawn.field;
  const cl_int4 sizes = {
      {static_cast<cl_int>(nx), static_cast<cl_int>(ny), static_cast<cl_int>(nz), 0}};
  KernelId kernel = field.kernel("simulation/paint.cl", "paint",
                                 drawn.colours == ColourMap::diverging ? " -DDIVERGING" : "");
  kernel.texel = Texel::r;
  with_real(field.precision(), [&](auto real) {
    context.run("paint", kernel, {pixels.width, pixels.height}, field,
                drawn.solid ? *drawn.solid : field, cl_int{drawn.solid != nullptr}, sizes,
                static_cast<cl_int>(side), real(drawn.low), real(drawn.high), rgb,
                static_cast<cl_int>(pixels.width), static_cast<cl_int>(pixels.height));
  });
  context.read_back("picture", rgb, 0, pixels.rgb.size(), pixels.rgb.data());
  return magnified(pixels, longest < kSmallest ? kSmallest / longest : 1);
}

}  // namespace lugpu
