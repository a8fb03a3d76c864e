// Pictures as PNG files, by libpng where it was present when this was built.
#pragma once

#include <cstdio>

#include "lugpu/picture.hpp"

namespace lugpu {

/// Throws Unsupported if libpng was absent when this was built.
void require_png();

/// A failure to write is left in the error indicator of `out`. Throws as require_png(), and Error
/// (failure) if libpng fails.
void write_png(const Picture& picture, std::FILE* out);

}  // namespace lugpu
