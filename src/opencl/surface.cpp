#include "opencl/surface.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace lugpu {
namespace {

// Rows of a buffer start at odd multiples of this many bytes: aligned for vectors, and not a power
// of two apart, where the elements of a column would compete for the same cache lines.
constexpr std::size_t kRowAlignment = 128;

// Texels of an image row.
std::size_t image_width(std::size_t columns, Precision precision, Texel texel) {
  const std::size_t pack = elements_per_texel(precision, texel);
  if (pack > 1) return (columns + pack - 1) / pack;
  return columns * element_size(precision) / sizeof(cl_uint);
}

std::string gib(std::uint64_t bytes) {
  const std::string digits = std::to_string(static_cast<double>(bytes) / (1u << 30));
  return digits.substr(0, digits.find('.') + 3) + " GiB";
}

cl::Memory make_image(DeviceContext& context, std::size_t rows, std::size_t columns,
                      Precision precision, Texel texel) {
  const cl_channel_order order = texel == Texel::rgba ? CL_RGBA : CL_R;
  const cl_channel_type type =
      precision == Precision::double_precision ? CL_UNSIGNED_INT32 : CL_FLOAT;
  // Images have at least one texel.
  const std::size_t width = std::max<std::size_t>(image_width(columns, precision, texel), 1);
  return cl::Image2D(context.handle(), CL_MEM_READ_WRITE, cl::ImageFormat(order, type), width,
                     std::max<std::size_t>(rows, 1));
}

struct Missing {
  std::string feature;
  Remedy remedy;
};

// Why the device has no such surface of any size; absent if it has. Every device with images has
// CL_RGBA ones of both types.
std::optional<Missing> missing_feature(const Device& device, Precision precision, Storage storage,
                                       Texel texel) {
  const bool doubles = precision == Precision::double_precision;
  if (doubles && !device.double_precision) {
    return Missing{"has no double precision", {"precision", "single"}};
  }
  if (storage == Storage::buffer) return std::nullopt;
  if (!device.images) return Missing{"has no images", {"storage", "buffer"}};
  if (texel == Texel::rgba || (doubles ? device.image_uint32 : device.image_float)) {
    return std::nullopt;
  }
  return Missing{std::string("cannot write images of ") +
                     (doubles ? "CL_R CL_UNSIGNED_INT32" : "CL_R CL_FLOAT"),
                 {"storage", "buffer"}};
}

// Why surfaces of this size do not fit; empty if they do.
std::string missing_room(const Device& device, std::size_t rows, std::size_t columns,
                         Precision precision, Storage storage, std::size_t count,
                         std::uint64_t other_bytes, Texel texel) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(rows) *
                              Surface::pitch_of(columns, precision, storage) *
                              element_size(precision);
  if (storage == Storage::image) {
    const std::uint64_t width = image_width(columns, precision, texel);
    if (width > device.image_max_width || rows > device.image_max_height) {
      return "an image of " + std::to_string(width) + " x " + std::to_string(rows) +
             " texels is larger than its largest, " + std::to_string(device.image_max_width) +
             " x " + std::to_string(device.image_max_height);
    }
  }
  // Beyond 2^24 rows or columns the sizes below could overflow.
  constexpr std::size_t kLargestDimension = std::size_t{1} << 24;
  if (rows > kLargestDimension || columns > kLargestDimension) {
    return "more than " + std::to_string(kLargestDimension) + " rows or columns";
  }
  if (bytes > device.max_allocation) {
    return "a matrix of " + gib(bytes) + " is larger than its largest allocation, " +
           gib(device.max_allocation);
  }
  if (count * bytes + other_bytes > device.global_memory) {
    return "the " + gib(count * bytes + other_bytes) + " needed are more than its memory, " +
           gib(device.global_memory);
  }
  return "";
}

}  // namespace

std::size_t Surface::pitch_of(std::size_t columns, Precision precision, Storage storage) {
  if (storage == Storage::image) return columns;
  const std::size_t multiple = kRowAlignment / element_size(precision);
  const std::size_t parts = (columns + multiple - 1) / multiple;
  return (parts | 1) * multiple;
}

Surface::Surface(DeviceContext& context, std::size_t rows, std::size_t columns, Precision precision,
                 Storage storage, Texel texel)
    : rows_(rows),
      columns_(columns),
      pitch_(pitch_of(columns, precision, storage)),
      precision_(precision),
      storage_(storage),
      texel_(texel) {
  require_fits(context.device(), rows, columns, precision, storage, 1, 0, texel);
  memory_ = storage == Storage::image
                ? make_image(context, rows, columns, precision, texel)
                : cl::Memory(context.allocate(rows * pitch_ * element_size(precision)));
}

void fill(DeviceContext& context, Surface& buffer, cl_uchar byte) {
  const std::size_t bytes = buffer.rows() * buffer.pitch() * element_size(buffer.precision());
  const cl::Buffer memory(buffer.memory()(), true);
  context.fill(memory, byte, bytes);
}

void require_fits(const Device& device, std::size_t rows, std::size_t columns, Precision precision,
                  Storage storage, std::size_t count, std::uint64_t other_bytes, Texel texel) {
  if (const auto missing = missing_feature(device, precision, storage, texel)) {
    throw Unsupported(device.name + " " + missing->feature, missing->remedy);
  }
  const std::string why =
      missing_room(device, rows, columns, precision, storage, count, other_bytes, texel);
  if (!why.empty()) {
    throw Unsupported("A " + std::to_string(rows) + " x " + std::to_string(columns) + " system (" +
                      name(precision) + ", " + name(storage) + ") does not fit on " + device.name +
                      ": " + why + ".");
  }
}

}  // namespace lugpu
