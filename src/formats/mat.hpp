// MATLAB's files (.mat). Source of the format: The MathWorks, "MAT-File Format", for versions 5 and
// 7; mat73.hpp has 7.3.
#pragma once

#include <string_view>
#include <variant>

#include "formats/input_file.hpp"
#include "matrix/matrix.hpp"
#include "matrix/sparse.hpp"

namespace lugpu {

/// The real matrix in a .mat file: the one that file.member() names, or the only one. Sparse ones
/// stay sparse. Integers and logical values become doubles, 64-bit ones rounded to the nearest.
/// Variables of other kinds (text, structs, cells) are passed over. Does not check that the values
/// are finite. Compressed variables are decompressed twice, first for their size and checksum; only
/// the matrix and a block of the file are in memory, but for sparse ones also 16 bytes an entry.
/// Throws InputError if the file is none of MATLAB's (versions before 5 have no mark of their own
/// and count as such), is damaged or ends too early, has no matrix, has none of that name or
/// several and no name is given (the sentence lists them), or if the matrix is complex or has more
/// than two dimensions; Unsupported as check_shape, check_available and check_sparse do. Nothing is
/// allocated that the bytes in the file do not bear out.
std::variant<Matrix, Sparse> read_mat(const InputFile& file);

/// Whether a file that begins like this is one.
bool is_mat(std::string_view beginning);

}  // namespace lugpu
