// Matrices on their way between the host and the device, a piece at a time, so that neither side
// needs room for a second copy; and between surfaces and column-major buffers of the device.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "matrix/matrix.hpp"
#include "opencl/surface.hpp"

namespace lugpu {

/// Enqueues work on a piece: `count` columns (or rows) from `first` on, one after the other in the
/// buffer, which the next but one call overwrites.
using TakePiece =
    std::function<void(const cl::Buffer& piece, std::size_t first, std::size_t count)>;

/// Bytes of device memory that the pieces of a rows x columns matrix take, at most.
std::uint64_t piece_bytes(std::size_t rows, std::size_t columns, Precision precision);

/// Sends the columns of `parts`, which stand next to one another and have the same number of rows,
/// in the precision. Every piece but the last begins and ends at whole RGBA texels. Returns when
/// the host's memory is not needed any more. Throws InputError if a value overflows the precision.
void upload_columns(DeviceContext& context, std::span<const MatrixView> parts, Precision precision,
                    const TakePiece& take);

/// Sends the rows of `matrix`, which is by rows. Otherwise as upload_columns.
void upload_rows(DeviceContext& context, const MatrixView& matrix, Precision precision,
                 const TakePiece& take);

/// The columns of `parts` as a column-major device buffer of exactly their elements.
cl::Buffer upload(DeviceContext& context, std::span<const MatrixView> parts, Precision precision);
inline cl::Buffer upload(DeviceContext& context, const MatrixView& matrix, Precision precision) {
  return upload(context, {&matrix, 1}, precision);
}

/// The first elements of a column-major device buffer of `to`'s rows, column after column.
template <typename T>
void download(DeviceContext& context, const cl::Buffer& buffer, Precision precision, View<T> to);
Matrix download(DeviceContext& context, const cl::Buffer& buffer, std::size_t rows,
                std::size_t columns, Precision precision);

/// surface(:, first : first + columns) = the column-major buffer of surface.rows() x columns; first
/// is a multiple of elements_per_texel. Elements of the last texel beyond the columns become zero.
void import_columns(DeviceContext& context, const cl::Buffer& buffer, std::size_t columns,
                    Surface& surface, std::size_t first);

/// surface(first : first + rows, 0 : columns) = the row-major buffer. Elements of the last texel
/// beyond the columns become zero.
void import_rows(DeviceContext& context, const cl::Buffer& buffer, std::size_t rows,
                 std::size_t columns, Surface& surface, std::size_t first);

/// A' as a surface like A, which is a buffer of single elements.
Surface transpose(DeviceContext& context, const Surface& a);

/// The first min(rows, columns) elements of the diagonal of a surface.
std::vector<double> export_diagonal(DeviceContext& context, const Surface& surface);

/// The elements of a surface as a row-major buffer of exactly them.
cl::Buffer export_rows(DeviceContext& context, const Surface& surface);

/// The columns first : first + columns of a surface as a column-major buffer.
cl::Buffer export_columns(DeviceContext& context, const Surface& surface, std::size_t first,
                          std::size_t columns);

}  // namespace lugpu
