// How operators cut the rows of a sparse matrix into slices (kernels/sparse/slices.clh).
#pragma once

#include <string>
#include <vector>

#include "matrix/sparse.hpp"
#include "operators/vectors.hpp"

namespace lugpu {

/// Slices of rows() neighbouring rows of a square matrix; slot k of a slice holds a number for each
/// of them, k * rows() + the row in its slice.
struct Slices {
  std::size_t pack;   ///< rows of a work-item: those of a texel, or of a vector register on a CPU
  std::size_t lanes;  ///< work-items of a slice: a warp; one where it takes a vector register
  std::size_t count;  ///< all the rows of the vectors, those after the matrix's too
  std::size_t shift;  ///< log2 of the columns of the vectors

  /// layout: VectorLayout::of_length.
  static Slices make(const Device& device, const VectorLayout& layout);

  std::size_t rows() const { return pack * lanes; }
  /// Build options of kernels that include sparse/slices.clh.
  std::string options(const VectorCut& cut) const;
};

/// Throws InputError unless the matrix is square, Unsupported if places in its vectors do not fit
/// into 31 bits.
void require_square(const Sparse& a);

/// Numbers for the slots of slices as a device buffer. Throws InputError if one overflows the
/// precision, Unsupported if the device cannot hold them.
cl::Buffer upload_slots(DeviceContext& context, const std::vector<double>& values,
                        const Slices& slices, Precision precision);

/// Integers for kernels as a device buffer. Throws Unsupported if the device cannot hold them.
cl::Buffer upload_integers(DeviceContext& context, const std::vector<cl_int>& integers);

}  // namespace lugpu
