#include "opencl/surface.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "error.hpp"
#include "matrix/rounded.hpp"

namespace lugpu {
namespace {

// Rows of a buffer start at odd multiples of this many bytes: aligned for vectors, and not a power
// of two apart, where the elements of a column would compete for the same cache lines.
constexpr std::size_t kRowAlignment = 128;

std::size_t pitch_of(std::size_t columns, Precision precision, Storage storage) {
  if (storage == Storage::image) return columns;
  const std::size_t multiple = kRowAlignment / element_size(precision);
  const std::size_t parts = (columns + multiple - 1) / multiple;
  return (parts | 1) * multiple;
}

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

// Why the device has no such surface of any size; empty if it has. Every device with images has
// CL_RGBA ones of both types.
std::string missing_feature(const Device& device, Precision precision, Storage storage,
                            Texel texel) {
  const bool doubles = precision == Precision::double_precision;
  if (doubles && !device.double_precision) {
    return "has no double precision; use --precision single";
  }
  if (storage == Storage::buffer) return "";
  if (!device.images) return "has no images; use --storage buffer";
  if (texel == Texel::rgba) return "";
  if (!(doubles ? device.image_uint32 : device.image_float)) {
    return std::string("cannot write images of ") +
           (doubles ? "CL_R CL_UNSIGNED_INT32" : "CL_R CL_FLOAT") + "; use --storage buffer";
  }
  return "";
}

// Why surfaces of this size do not fit; empty if they do.
std::string missing_room(const Device& device, std::size_t rows, std::size_t columns,
                         Precision precision, Storage storage, std::size_t count,
                         std::uint64_t other_bytes, Texel texel) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(rows) *
                              pitch_of(columns, precision, storage) * element_size(precision);
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

cl::Buffer write(DeviceContext& context, const void* data, std::size_t bytes) {
  cl::Buffer buffer = context.allocate(bytes);
  if (bytes > 0) context.queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, data);
  return buffer;
}

template <typename Real>
void read(DeviceContext& context, const cl::Buffer& buffer, std::vector<Real>& values) {
  if (values.empty()) return;
  context.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, values.size() * sizeof(Real),
                                    values.data());
}

}  // namespace

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
  if (bytes > 0) context.queue().enqueueFillBuffer(memory, byte, 0, bytes);
}

void require_fits(const Device& device, std::size_t rows, std::size_t columns, Precision precision,
                  Storage storage, std::size_t count, std::uint64_t other_bytes, Texel texel) {
  if (const std::string why = missing_feature(device, precision, storage, texel); !why.empty()) {
    throw Unsupported(device.name + " " + why + ".");
  }
  const std::string why =
      missing_room(device, rows, columns, precision, storage, count, other_bytes, texel);
  if (!why.empty()) {
    throw Unsupported("A " + std::to_string(rows) + " x " + std::to_string(columns) + " system (" +
                      name(precision) + ", " + name(storage) + ") does not fit on " + device.name +
                      ": " + why + ".");
  }
}

std::size_t largest_order(const Device& device, Precision precision, Storage storage,
                          std::size_t count) {
  if (!missing_feature(device, precision, storage, Texel::r).empty()) return 0;
  std::size_t fits = 0;
  std::size_t too_large = std::size_t{1} << 24;
  while (too_large - fits > 1) {
    const std::size_t n = (fits + too_large) / 2;
    const std::uint64_t bytes = static_cast<std::uint64_t>(n) * n * element_size(precision);
    const bool ok = missing_room(device, n, n, precision, storage, count, bytes, Texel::r).empty();
    (ok ? fits : too_large) = n;
  }
  return fits;
}

cl::Buffer upload(DeviceContext& context, const Matrix& matrix, Precision precision) {
  const std::size_t bytes = matrix.values().size() * element_size(precision);
  if (precision == Precision::double_precision) {
    return write(context, matrix.values().data(), bytes);
  }
  // Some columns at a time: fresh memory for all of them would cost more than rounding them does.
  constexpr std::size_t kPieceElements = 4 << 20;
  const std::size_t rows = matrix.rows(), columns = matrix.cols();
  const std::size_t most =
      std::max<std::size_t>(kPieceElements / std::max<std::size_t>(rows, 1), 1);
  cl::Buffer buffer = context.allocate(bytes);
  std::vector<float> piece(rows * std::min(most, columns));
  for (std::size_t first = 0; first < columns && rows > 0; first += most) {
    const std::size_t count = std::min(most, columns - first);
    round_columns(matrix, first, count, piece.data());
    context.queue().enqueueWriteBuffer(buffer, CL_TRUE, first * rows * sizeof(float),
                                       count * rows * sizeof(float), piece.data());
  }
  return buffer;
}

Matrix download(DeviceContext& context, const cl::Buffer& buffer, std::size_t rows,
                std::size_t columns, Precision precision) {
  Matrix matrix(rows, columns);
  if (precision == Precision::double_precision) {
    read(context, buffer, matrix.values());
  } else {
    std::vector<float> values(rows * columns);
    read(context, buffer, values);
    std::copy(values.begin(), values.end(), matrix.values().begin());
  }
  return matrix;
}

void import_columns(DeviceContext& context, const cl::Buffer& buffer, std::size_t columns,
                    Surface& surface, std::size_t first) {
  context.run("import", surface.kernel("common/transfer.cl", "import_columns"),
              {surface.texels(0, columns), surface.rows()}, buffer, surface,
              static_cast<cl_int>(surface.rows()), static_cast<cl_int>(columns),
              static_cast<cl_int>(first));
}

Surface transpose(DeviceContext& context, const Surface& a) {
  Surface transposed(context, a.columns(), a.rows(), a.precision(), a.storage(), a.texel());
  context.run("transpose", a.kernel("common/transfer.cl", "transpose"),
              {(a.columns() + 15) / 16 * 16, (a.rows() + 15) / 16 * 16}, a, transposed,
              static_cast<cl_int>(a.rows()), static_cast<cl_int>(a.columns()));
  return transposed;
}

std::vector<double> export_diagonal(DeviceContext& context, const Surface& surface) {
  const std::size_t n = surface.rows();
  const cl::Buffer diagonal = context.allocate(n * element_size(surface.precision()));
  context.run("export", surface.kernel("common/transfer.cl", "export_diagonal"), {n}, surface,
              diagonal, static_cast<cl_int>(n));
  return download(context, diagonal, n, 1, surface.precision()).values();
}

cl::Buffer export_columns(DeviceContext& context, const Surface& surface, std::size_t first,
                          std::size_t columns) {
  cl::Buffer buffer =
      context.allocate(surface.rows() * columns * element_size(surface.precision()));
  context.run("export", surface.kernel("common/transfer.cl", "export_columns"),
              {surface.rows(), columns}, surface, buffer, static_cast<cl_int>(surface.rows()),
              static_cast<cl_int>(columns), static_cast<cl_int>(first));
  return buffer;
}

}  // namespace lugpu
