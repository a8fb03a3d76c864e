// NumPy's archives of arrays (.npz): zip archives of .npy files, by libzip. Source of the format:
// the documentation of numpy.savez and numpy.savez_compressed.
#pragma once

#include <string_view>
#include <variant>

#include "formats/input_file.hpp"
#include "matrix/matrix.hpp"
#include "matrix/sparse.hpp"

namespace lugpu {

/// The array in a .npz file, stored or compressed: the one that file.member() names, or the only
/// one. It is decompressed twice, first for its size and checksum; only the matrix and a block of
/// the array are in memory. Throws what read_npy throws, and InputError if the archive is damaged,
/// has no array, has none of that name, or has several and no name is given: the sentence lists
/// them.
std::variant<Matrix, Sparse> read_npz(const InputFile& file);

/// Whether a file that begins like this is a zip archive.
bool is_npz(std::string_view beginning);

}  // namespace lugpu
