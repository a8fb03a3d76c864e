// Numbers in rows: comma-separated values (.csv), tab-separated ones (.tsv), and plain text with
// blanks between them (.txt). Source of the format: RFC 4180, with the liberties that
// spreadsheets and numpy.savetxt take.
#pragma once

#include <cstdio>
#include <string_view>

#include "formats/input_file.hpp"
#include "matrix/matrix.hpp"

namespace lugpu {

/// The matrix in a text with one row a line, all rows of the same length.
/// The first row decides what separates the values: semicolons if it has any, or else commas, or
/// else tabs, or else runs of blanks. Blank lines, text after a '#', and a first row that has only
/// names (no field is empty, is a number, or begins like one) are skipped. Fields may stand in
/// double quotes, lines end with LF or CR LF, a byte order mark may come first. Throws InputError
/// with file and line for a row that is longer or shorter than the first one (row names without a
/// name above them), an empty field, a field that is not a finite number (numbers with a decimal
/// comma), or no row at all.
/// The file is read twice, first for the shape and then for the values; only the matrix and a block
/// of the file are in memory, so a field may have at most Text::kBlock characters.
Matrix read_csv(const InputFile& file);

/// Whether a file that begins like this plainly is one: its first line has several numbers with
/// commas, semicolons or tabs between them.
bool is_csv(std::string_view beginning);

/// Writes one row a line with 17 digits, and commas, tabs or blanks between them.
/// A failure to write is left in the error indicator of `out`.
void write_csv(const Matrix& matrix, std::FILE* out);
void write_tsv(const Matrix& matrix, std::FILE* out);
void write_txt(const Matrix& matrix, std::FILE* out);

}  // namespace lugpu
