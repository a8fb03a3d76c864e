// MATLAB's files (.mat): versions 5 and 7, and 7.3 where libmatio has HDF5; by libmatio. Source of
// the formats: The MathWorks, "MAT-File Format".
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
/// are finite. libmatio believes what a file says of itself, so it works in a process of its own,
/// with limits on its memory and time, and leaves the matrix in a temporary file: the two together
/// take twice the memory of the matrix.
/// Throws InputError if the file is none of MATLAB's (versions before 5 have no mark of their own
/// and count as such), is damaged, has no matrix, has none of that name or several and no name is
/// given (the sentence lists them), or if the matrix is complex or has more than two dimensions;
/// Unsupported as check_shape, check_available and check_sparse do.
std::variant<Matrix, Sparse> read_mat(const InputFile& file);

/// Whether a file that begins like this is one.
bool is_mat(std::string_view beginning);

}  // namespace lugpu
