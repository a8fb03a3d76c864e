// MATLAB's files of version 7.3, which are HDF5, by libmatio.
#pragma once

#include <variant>

#include "formats/input_file.hpp"
#include "matrix/matrix.hpp"
#include "matrix/sparse.hpp"

namespace lugpu {

/// What read_mat says, for a file of version 7.3. libmatio and HDF5 believe what a file says of
/// itself, so they work in a process of its own, with limits on its memory and time, and leave the
/// matrix in a temporary file: the process takes the memory of the matrix once more. Throws
/// Unsupported if this program was built without libmatio.
std::variant<Matrix, Sparse> read_mat73(const InputFile& file);

}  // namespace lugpu
