// Matrix Market files compressed by gzip (.mtx.gz), by zlib. Source of the format: RFC 1952.
#pragma once

#include <string_view>
#include <variant>

#include "formats/input_file.hpp"
#include "matrix/matrix.hpp"
#include "matrix/sparse.hpp"

namespace lugpu {

/// What read_matrix_market makes of the text in a .mtx.gz file, which is decompressed twice, first
/// for its size and checksum: only the matrix and a block of the text are in memory. Lines are
/// those of the text. Throws what that throws, and InputError if the file is not compressed by
/// gzip, is damaged or ends too early, or if its text goes beyond largest_input().
Matrix read_gzipped_matrix_market(const InputFile& file);

/// The same for read_matrix_market_as_stored.
std::variant<Matrix, Sparse> read_gzipped_matrix_market_as_stored(const InputFile& file);

/// Whether a file that begins like this is compressed by gzip.
bool is_gzip(std::string_view beginning);

}  // namespace lugpu
