// Device-resident matrices: images or buffers behind one type, and the ping-pong pair of them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "opencl/context.hpp"
#include "opencl/element.hpp"

namespace lugpu {

/// A rows x columns matrix in device memory; the texel (x, y) holds the element of row y and column
/// x (LU-GPU, section 3.5.1), or with packed texels the elements of several columns (section 6.3).
/// As an image: CL_FLOAT texels for floats; CL_UNSIGNED_INT32 texels for doubles, two CL_R texels
/// for one or one CL_RGBA texel for two. As a buffer: row-major with pitch() elements from row to
/// row.
class Surface {
 public:
  /// Uninitialized. Throws Unsupported if the device cannot hold it (see require_fits).
  Surface(DeviceContext& context, std::size_t rows, std::size_t columns, Precision precision,
          Storage storage, Texel texel = Texel::r);

  /// Elements from row to row of such a surface.
  static std::size_t pitch_of(std::size_t columns, Precision precision, Storage storage);

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  std::size_t pitch() const { return pitch_; }
  Precision precision() const { return precision_; }
  Storage storage() const { return storage_; }
  Texel texel() const { return texel_; }
  /// Elements of a texel.
  std::size_t pack() const { return elements_per_texel(precision_, texel_); }
  /// Texels of a row that hold the columns first : end.
  std::size_t texels(std::size_t first, std::size_t end) const {
    return first < end ? (end - 1) / pack() - first / pack() + 1 : 0;
  }
  const cl::Memory& memory() const { return memory_; }
  /// The same buffer, whose memory does not depend on its texels, with others.
  Surface with_texel(Texel texel) const {
    Surface view = *this;
    view.texel_ = texel;
    return view;
  }
  /// The first rows and columns of the same buffer.
  Surface part(std::size_t rows, std::size_t columns) const {
    Surface view = *this;
    view.rows_ = rows;
    view.columns_ = columns;
    return view;
  }
  /// A kernel that works on surfaces like this one.
  KernelId kernel(const char* file, const char* function, const std::string& options = "") const {
    return {file, function, precision_, storage_, texel_, options};
  }

 private:
  std::size_t rows_, columns_, pitch_;
  Precision precision_;
  Storage storage_;
  Texel texel_;
  cl::Memory memory_;
};

/// Two surfaces that hold the same matrix: a pass reads src and writes dst, then they change roles.
struct PingPong {
  Surface src, dst;
  void swap() { std::swap(src, dst); }
};

/// Every byte of a buffer, its padding too, becomes `byte`.
void fill(DeviceContext& context, Surface& buffer, cl_uchar byte);

/// Throws Unsupported, with the limit exceeded, unless the device can hold `count` surfaces of this
/// kind together with `other_bytes` of buffers, none of which is larger than a surface.
void require_fits(const Device& device, std::size_t rows, std::size_t columns, Precision precision,
                  Storage storage, std::size_t count, std::uint64_t other_bytes,
                  Texel texel = Texel::r);

}  // namespace lugpu
