// Matrix Market exchange format (.mtx). Source of the format: R. F. Boisvert, R. Pozo, K. A.
// Remington, "The Matrix Market Exchange Formats: Initial Design", NISTIR 5935, 1996, and
// https://math.nist.gov/MatrixMarket/formats.html.
#pragma once

#include <cstdio>
#include <string_view>
#include <variant>

#include "formats/input_file.hpp"
#include "matrix/matrix.hpp"
#include "matrix/sparse.hpp"

namespace lugpu {

/// The rows x cols matrix in a Matrix Market file, expanded to a full dense matrix.
/// Reads array and coordinate files; real, integer and (coordinate only) pattern values, where
/// every entry of a pattern is 1; general, symmetric, skew-symmetric and hermitian, which for real
/// values is symmetric. Entries given twice are added. Beyond the standard: LF or CR LF, blank
/// lines and comments after the banner, a byte order mark, a leading '+', and D exponents. Throws
/// InputError with file and line for anything else, above all: complex values, objects other than
/// matrices, one value or entry too few or too many, extra text on a line, an index out of range
/// (files that count from 0), an entry above the diagonal of a file that stores only the lower
/// triangle (a file with both halves would count them twice), a non-zero diagonal of a
/// skew-symmetric matrix, a fraction in an integer file, a value that is not finite.
/// It also throws, before anything is allocated, for what the size line alone shows to be useless:
/// more values or entries than the file has room for, another shape than wanted, and a large system
/// (more than 2^25 elements) with fewer entries than rows. Only the matrix and a block of the file
/// are in memory, so a line may have at most Text::kBlock characters.
Matrix read_matrix_market(const InputFile& file);

/// The same, except that a coordinate file stays sparse: it is refused if its entries take too much
/// memory (check_sparse), not if rows * cols elements do. Each of its entries is one, a zero too;
/// symmetric and skew-symmetric ones off the diagonal are two. A matrix with fewer entries than
/// rows or columns is refused if it has more than 2^25 of these, whether it is a system or not.
std::variant<Matrix, Sparse> read_matrix_market_as_stored(const InputFile& file);

/// Whether a file that begins like this is one.
bool is_matrix_market(std::string_view beginning);

/// Writes an array real general file: one value a line, column after column, 17 digits.
/// A failure to write is left in the error indicator of `out`.
void write_matrix_market(const Matrix& matrix, std::FILE* out);

}  // namespace lugpu
