#include "formats/png.hpp"

#include "base/error.hpp"

#ifdef LUGPU_PNG
#include <png.h>
#endif

namespace lugpu {

void require_png() {
#ifndef LUGPU_PNG
  throw Unsupported("this program was built without libpng (libpng-dev), which PNG files need");
#endif
}

void write_png([[maybe_unused]] const Picture& picture, [[maybe_unused]] std::FILE* out) {
  require_png();
#ifdef LUGPU_PNG
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = PNG_FORMAT_RGB;
  if (!png_image_write_to_stdio(&image, out, 0, picture.rgb.data(), 0, nullptr)) {
    throw Error(ErrorKind::failure, std::string("Cannot write a PNG file: ") + image.message + ".");
  }
#endif
}

}  // namespace lugpu
