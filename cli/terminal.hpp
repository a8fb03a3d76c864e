// Text for people: formatted, wrapped to the terminal's width, coloured if wanted; and all output
// to stderr. Control characters are escaped here (printable.hpp) in any text.
#pragma once

#include <string>

namespace lugpu::cli {

inline constexpr std::size_t kColumns = 80;  ///< the most of text

/// COLUMNS, or else the width of stdout's terminal, but at least 40; 80 where neither is known.
std::size_t table_columns();
/// The same, but at most 80: longer lines of text are hard to read.
std::size_t columns();

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);
/// With as many digits as a table shows.
std::string milliseconds(double seconds);

/// Breaks `text` at blanks so that no line is longer than columns(); lines after the first start
/// with `indent` blanks. `column`: where the text starts, on every line that is not indented here.
std::string wrapped(const std::string& text, std::size_t column, std::size_t indent);

/// From now on nothing but errors goes to stderr (-q).
void be_quiet();

/// "lugpu: TEXT", "lugpu: warning: TEXT" and "lugpu: note: TEXT", each a line on stderr.
void print_error(const std::string& text);
/// The first for a text that ends in the log of a compiler, whose lines stay.
void print_error_and_log(const std::string& text);
void print_warning(const std::string& text);
void print_note(const std::string& text);

enum class Ink { plain, good, bad, dim };

/// Chooses whether paint() colours: "always", "never", or "auto" (a terminal, and no NO_COLOR).
void set_colour(const std::string& when);
std::string paint(Ink ink, const std::string& text);

/// Seconds as people read them, e.g. "12.3 ms".
std::string duration(double seconds);

/// Bytes as people read them, e.g. "4.25 GiB".
std::string byte_size(double bytes);

/// One line on stderr that overwrites itself, at most ten times a second: the last text of a tenth
/// of a second is drawn at its end. An empty text erases the line at once. Nothing if stderr is not
/// a terminal, or with -q.
void show_progress(const std::string& text);

}  // namespace lugpu::cli
