// NumPy's array file (.npy). Source of the format: NEP 1, "A Simple File Format for NumPy Arrays",
// and the documentation of numpy.lib.format (versions 1.0, 2.0 and 3.0).
#pragma once

#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/input_file.hpp"
#include "formats/mapped_matrix.hpp"
#include "matrix/matrix.hpp"

namespace lugpu {

/// The matrix in a .npy file: an m x n array, or one of length n as n x 1.
/// Reads versions 1.0, 2.0 and 3.0, C and Fortran order, either byte order, and the types f2, f4,
/// f8, i1 to i8, u1 to u8 and b1 (as 0 or 1). A 64-bit integer that no double holds is rounded to
/// the nearest, as NumPy's astype(float64) does. Does not check that the values are finite. Throws
/// InputError for other types (complex, structured, objects, text), other numbers of dimensions, a
/// malformed header, and more or less data than the shape asks for, all before anything is
/// allocated. Only the matrix and a block of the file are in memory.
Matrix read_npy(const InputFile& file);

/// The same, left in the file; absent if its elements are not as this machine has floats or doubles
/// in memory. Does not ask how much memory there is.
std::optional<MappedMatrix> map_npy(const InputFile& file);

/// Matrices of one shape, one below the other.
struct MatrixStack {
  Matrix rows;  ///< (count * m) x n: member i has the rows i * m to i * m + m - 1
  std::size_t count;
};

/// How many dimensions the array has; throws as read_npy() for a malformed header.
std::size_t npy_dimensions(const InputFile& file);

/// The matrices of a three-dimensional array, count x m x n in C order. Otherwise as read_npy().
MatrixStack read_npy_stack(const InputFile& file);

/// Whether a file that begins like this is one.
bool is_npy(std::string_view beginning);

/// Writes version 1.0 in Fortran order, 8-byte floats, shape (rows, cols).
/// A failure to write is left in the error indicator of `out`.
void write_npy(const Matrix& matrix, std::FILE* out);

/// The same for `count` matrices, rows x columns each, column after column, one after the other: an
/// array of shape (count, rows, columns) in C order.
void write_npy_stack(const std::vector<double>& values, std::size_t count, std::size_t rows,
                     std::size_t columns, std::FILE* out);

}  // namespace lugpu
