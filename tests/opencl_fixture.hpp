// What the tests on a device share: one context for the process, every precision and storage as a
// test parameter, and host matrices on their way to and from surfaces.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "matrices.hpp"
#include "matrix/generate.hpp"
#include "opencl/context.hpp"
#include "opencl/transfer.hpp"
#include "ratios.hpp"

namespace lugpu {

/// The default device, started once.
inline DeviceContext& shared_context() {
  static DeviceContext context(choose_device());
  return context;
}

struct SurfaceKind {
  Precision precision;
  Storage storage;
  Texel texel = Texel::r;
};

/// As in test names: "single_image", "double_buffer_rgba".
inline std::string name(const SurfaceKind& kind) {
  return std::string(name(kind.precision)) + "_" + name(kind.storage) +
         (kind.texel == Texel::rgba ? "_rgba" : "");
}

/// testing::PrintToStringParamName takes the test names from here.
inline void PrintTo(const SurfaceKind& kind, std::ostream* out) {
  *out << name(kind);
}

inline std::vector<SurfaceKind> kinds_with(Texel texel) {
  return {{Precision::single_precision, Storage::buffer, texel},
          {Precision::double_precision, Storage::buffer, texel},
          {Precision::single_precision, Storage::image, texel},
          {Precision::double_precision, Storage::image, texel}};
}

inline std::vector<SurfaceKind> all_kinds() {
  std::vector<SurfaceKind> kinds = kinds_with(Texel::r);
  const std::vector<SurfaceKind> packed = kinds_with(Texel::rgba);
  kinds.insert(kinds.end(), packed.begin(), packed.end());
  return kinds;
}

/// Four of all kinds, in which every two of precision, storage and texel meet in all ways: for
/// tests that compile many kernels, which takes most of their time.
inline std::vector<SurfaceKind> pairwise_kinds() {
  return {{Precision::double_precision, Storage::buffer, Texel::r},
          {Precision::single_precision, Storage::image, Texel::r},
          {Precision::single_precision, Storage::buffer, Texel::rgba},
          {Precision::double_precision, Storage::image, Texel::rgba}};
}

/// What the driver lacks for this kind; empty if nothing. The driver is asked, not lugpu's Device,
/// so that a wrong answer there fails tests instead of skipping them.
inline std::string missing_on(const cl::Device& device, const SurfaceKind& kind) {
  const bool doubles = kind.precision == Precision::double_precision;
  if (doubles && device.getInfo<CL_DEVICE_DOUBLE_FP_CONFIG>() == 0) return "no double precision";
  if (kind.storage == Storage::buffer) return "";
  if (device.getInfo<CL_DEVICE_IMAGE_SUPPORT>() != CL_TRUE) return "no images";
  const cl::ImageFormat needed(kind.texel == Texel::rgba ? CL_RGBA : CL_R,
                               doubles ? CL_UNSIGNED_INT32 : CL_FLOAT);
  std::vector<cl::ImageFormat> formats;
  cl::Context(device).getSupportedImageFormats(CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, &formats);
  const bool found = std::any_of(formats.begin(), formats.end(), [&](const cl::ImageFormat& f) {
    return f.image_channel_order == needed.image_channel_order &&
           f.image_channel_data_type == needed.image_channel_data_type;
  });
  return found ? "" : "no images with such texels";
}

/// A test for every kind of surface, skipped where the device has no such surface.
class SurfaceKindTest : public testing::TestWithParam<SurfaceKind> {
 protected:
  void SetUp() override {
    const std::string missing = missing_on(handle_of(context.device()), GetParam());
    if (!missing.empty()) GTEST_SKIP() << context.device().name << ": " << missing;
  }

  DeviceContext& context = shared_context();
  const Precision precision = GetParam().precision;
  const Storage storage = GetParam().storage;
  const Texel texel = GetParam().texel;
};

inline Matrix rounded_to(Precision precision, Matrix a) {
  if (precision == Precision::single_precision) {
    for (double& value : a.values()) value = static_cast<float>(value);
  }
  return a;
}

/// Random values that the precision holds exactly.
inline Matrix random_in(Precision precision, std::size_t rows, std::size_t columns,
                        std::uint64_t seed) {
  return rounded_to(precision, random_matrix(rows, columns, seed));
}

/// A different value for each element, far from those of random_matrix.
inline Matrix poison(std::size_t rows, std::size_t columns) {
  Matrix a(rows, columns);
  std::iota(a.values().begin(), a.values().end(), 1000.0);
  return a;
}

/// surface = values
inline void fill(DeviceContext& context, Surface& surface, const Matrix& values) {
  import_columns(context, upload(context, values, surface.precision()), values.cols(), surface, 0);
}

inline Surface surface_of(DeviceContext& context, const SurfaceKind& kind, const Matrix& values) {
  Surface surface(context, values.rows(), values.cols(), kind.precision, kind.storage, kind.texel);
  fill(context, surface, values);
  return surface;
}

inline Matrix contents(DeviceContext& context, const Surface& surface) {
  const cl::Buffer columns = export_columns(context, surface, 0, surface.columns());
  return download(context, columns, surface.rows(), surface.columns(), surface.precision());
}

/// As kernels take sizes and indices.
inline cl_int as_int(std::size_t value) {
  return static_cast<cl_int>(value);
}

/// A buffer of exactly these values, at least one.
template <typename T>
cl::Buffer buffer_of(DeviceContext& context, const std::vector<T>& values) {
  cl::Buffer written = context.allocate(values.size() * sizeof(T));
  context.queue().enqueueWriteBuffer(written, CL_TRUE, 0, values.size() * sizeof(T), values.data());
  return written;
}

/// The first `count` values of a buffer.
template <typename T>
std::vector<T> values_of(DeviceContext& context, const cl::Buffer& buffer, std::size_t count) {
  std::vector<T> values(count);
  context.read_back("test", buffer, 0, count * sizeof(T), values.data());
  return values;
}

/// The same bits, so that -0 is not 0; only a NaN may have others, as conversions change them.
inline bool same_bits(double x, double y) {
  return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y) ||
         (std::isnan(x) && std::isnan(y));
}

/// Bitwise equality of every element; or, with `relative` > 0, agreement up to that.
inline testing::AssertionResult equal(const Matrix& actual, const Matrix& expected,
                                      double relative = 0) {
  if (actual.rows() != expected.rows() || actual.cols() != expected.cols()) {
    return testing::AssertionFailure() << "the shape is " << actual.rows() << " x " << actual.cols()
                                       << ", not " << expected.rows() << " x " << expected.cols();
  }
  for (std::size_t j = 0; j < expected.cols(); ++j) {
    for (std::size_t i = 0; i < expected.rows(); ++i) {
      const double is = actual(i, j), should = expected(i, j);
      if (same_bits(is, should)) continue;
      if (relative > 0 && std::abs(is - should) <= relative * std::abs(should)) continue;
      return testing::AssertionFailure()
             << "element (" << i << ", " << j << ") of " << expected.rows() << " x "
             << expected.cols() << " is " << testing::PrintToString(is) << ", not "
             << testing::PrintToString(should);
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace lugpu
