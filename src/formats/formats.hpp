// Reading and writing matrix files; known_formats() lists the formats.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "formats/input_file.hpp"
#include "formats/mapped_matrix.hpp"
#include "formats/npy.hpp"
#include "matrix/matrix.hpp"
#include "matrix/sparse.hpp"

namespace lugpu {

/// Reads the matrix in `path`; the extension, of any case, chooses the format. Of a file that may
/// hold several matrices, "FILE:NAME" names one. "-" is standard input, in the format of the name
/// `format` (".npy" without its dot). Only the matrix and a block of the file are in memory, but
/// for sparse files 28 bytes an entry and 8 a row and column as well. Every value is finite and the
/// matrix has at least one element. Throws InputError with one sentence that names the file and,
/// for text, the line
/// ("FILE:LINE: ...") when the file cannot be read, is not a regular file, is malformed, truncated,
/// complex, empty, non-finite or not of the `wanted` shape; Unsupported (an InputError) when the
/// dense matrix would take more than half of this machine's memory or more than is available.
/// Nothing is allocated on a header's word alone: only what the bytes in the file bear out, or a
/// dense matrix that fits in memory. Contents that are clearly of another format, or compressed,
/// are named.
Matrix read_matrix(const std::string& path, WantedShape wanted = {},
                   const std::string& format = {});

/// Reads the matrix in `path` as read_matrix does, but leaves it sparse if the file is, as
/// a coordinate file of Matrix Market. A sparse matrix is
/// limited by what its entries take instead of by its shape: Unsupported if reading it, in 28 bytes
/// an entry and 8 a row and column, takes more than half of this machine's memory or more than is
/// available. Sizes that its entries do not bear out are InputErrors: a system of more than 2^25
/// elements, or any matrix of more than 2^25 rows or columns, that has fewer entries than these.
std::variant<Matrix, Sparse> read_dense_or_sparse(const std::string& path, WantedShape wanted = {},
                                                  const std::string& format = {});

/// The matrix in `path`, left in the file: a .npy of floats or doubles as this machine has them,
/// whose elements take at least `bytes` as doubles. Absent for all other files. Throws as
/// read_matrix, but not for what memory allows.
std::optional<MappedMatrix> map_matrix(const std::string& path, WantedShape wanted, double bytes);

/// The matrix of read_dense_or_sparse as read_matrix would have given it. Throws Unsupported as
/// that does.
Matrix made_dense(const std::string& path, const Sparse& a);

/// The matrices in `path` if that is a .npy file with three dimensions, a batch; else absent, also
/// if it cannot be read. Values need not be finite. Throws as read_npy_stack.
std::optional<MatrixStack> read_stack(const std::string& path);

/// Throws InputError if `path` is not a .npy file; call it before the work.
void check_stack_format(const std::string& path);

/// Writes `count` matrices to a .npy file, as write_npy_stack and write_file do.
void write_stack(const std::vector<double>& values, std::size_t count, std::size_t rows,
                 std::size_t columns, const std::string& path);

/// Writes `matrix` to `path` in the format of its extension, with enough digits to read back the
/// same doubles. The file appears whole or not at all (written beside it, then renamed).
/// Throws InputError for an extension of no format that is written, and what write_file throws when
/// the file cannot be written: the matrix is kept elsewhere then.
void write_matrix(const Matrix& matrix, const std::string& path);

/// Throws InputError if `path` has no extension that write_matrix knows; call it before the work.
void check_format(const std::string& path);

/// Whether `path` is FILE or FILE:NAME with an extension that read_matrix knows.
bool is_matrix_path(const std::string& path);

/// The extensions, one for each format, for help texts: ".mtx, .npy, .csv".
std::string readable_extensions();
std::string writable_extensions();

struct FormatFacts {
  std::string extension;     ///< without its dot the format's name
  std::string others;        ///< more extensions, with blanks between them
  std::string contents;      ///< what such a file is
  bool written = false;      ///< or only read
  bool has_members = false;  ///< FILE:NAME names one of its matrices
  std::string needs;         ///< the library that reading needs; empty if none
  bool available = true;     ///< whether this program was built with it
};
std::vector<FormatFacts> known_formats();

}  // namespace lugpu
