// What a surface is made of: the precision of its elements and where they are stored.
#pragma once

#include <cstddef>

namespace lugpu {

enum class Precision { single_precision, double_precision };
enum class Storage { image, buffer };

/// Bytes of one element: 4 or 8.
constexpr std::size_t element_size(Precision precision) {
  return precision == Precision::double_precision ? sizeof(double) : sizeof(float);
}

/// The names on the command line and in records.
constexpr const char* name(Precision precision) {
  return precision == Precision::double_precision ? "double" : "single";
}
constexpr const char* name(Storage storage) {
  return storage == Storage::image ? "image" : "buffer";
}

}  // namespace lugpu
