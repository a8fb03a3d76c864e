// A matrix file in memory and what its readers share: errors that name the place, lines, numbers
// that must be finite, and the limits that a matrix must keep before it is allocated.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "error.hpp"

namespace lugpu {

/// A file, read whole.
struct InputFile {
  std::string path;
  std::string bytes;

  /// "PATH:LINE: ", or "PATH: " for line 0 (what has no lines).
  std::string place(std::size_t line) const;
  /// The error "PATH:LINE: SENTENCE".
  InputError error(std::size_t line, const std::string& sentence) const;
};

/// Reads a file whole. Throws InputError if it cannot be read, is empty or is not a regular file: a
/// directory has no bytes, a pipe or a device may have no end. Throws Unsupported if it is larger
/// than half of this machine's memory.
InputFile load_file(const std::string& path);

/// Bytes of a file as a message shows them: in quotes, what does not print as \xHH, cut when long.
std::string shown(std::string_view bytes);

/// Checks the shape that a file claims, before anything is allocated for it.
/// Throws InputError if there is no element; Unsupported if a dimension does not fit LAPACK's int,
/// or if the dense matrix and the file together take more than half of this machine's memory, since
/// solving needs a copy. Once it has passed, rows * cols * 8 does not overflow.
void check_shape(const InputFile& file, std::size_t line, std::size_t rows, std::size_t cols);

/// The number in `token`. Throws InputError if it is none (see parse_number) or is not finite.
double finite_number(const InputFile& file, std::size_t line, std::string_view token);

/// Throws InputError if the file holds a NUL byte, as no text does (but UTF-16 and binary data do).
void require_text(const InputFile& file);

/// The lines of a text, one after the other. A line ends with LF or CR LF; the last one may lack
/// it. A UTF-8 byte order mark at the very beginning is skipped.
class Lines {
 public:
  explicit Lines(std::string_view text);

  /// Goes to the next line; false if there is none.
  bool next();
  /// The line, without its end.
  std::string_view line() const { return line_; }
  /// Its number, from 1; after the last line that one's number.
  std::size_t number() const { return number_; }
  /// How many bytes follow the line.
  std::size_t bytes_left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  std::string_view line_;
  std::size_t number_ = 0;
};

}  // namespace lugpu
