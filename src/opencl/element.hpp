// What a surface is made of: the precision of its elements and where they are stored.
#pragma once

#include <cstddef>

#include "lugpu/options.hpp"

namespace lugpu {

/// Bytes of one element: 4 or 8.
constexpr std::size_t element_size(Precision precision) {
  return precision == Precision::double_precision ? sizeof(double) : sizeof(float);
}

/// The precision of float or double.
template <typename Real>
inline constexpr Precision kPrecision = sizeof(Real) == sizeof(double)
                                            ? Precision::double_precision
                                            : Precision::single_precision;

/// Unit round-off: 2^-53 or 2^-24.
constexpr double epsilon(Precision precision) {
  return precision == Precision::double_precision ? 0x1p-53 : 0x1p-24;
}

/// Elements of one texel.
constexpr std::size_t elements_per_texel(Precision precision, Texel texel) {
  return texel == Texel::r ? 1 : 16 / element_size(precision);
}

/// The names on the command line and in records.
constexpr const char* name(Precision precision) {
  return precision == Precision::double_precision ? "double" : "single";
}
constexpr const char* name(Storage storage) {
  return storage == Storage::image ? "image" : "buffer";
}
constexpr const char* name(Texel texel) {
  return texel == Texel::r ? "r" : "rgba";
}

}  // namespace lugpu
