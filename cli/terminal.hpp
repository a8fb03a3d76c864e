// Text for people: formatted, wrapped to 80 columns, coloured where that is wanted.
#pragma once

#include <string>

namespace lugpu::cli {

inline constexpr std::size_t kColumns = 80;

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

/// Breaks `text` at blanks so that no line is longer than 80 columns; lines after the first start
/// with `indent` blanks. `column`: where the text starts, on every line that is not indented here.
std::string wrapped(const std::string& text, std::size_t column, std::size_t indent);

enum class Ink { plain, good, bad, dim };

/// Chooses whether paint() colours: "always", "never", or "auto" (a terminal, and no NO_COLOR).
void set_colour(const std::string& when);
std::string paint(Ink ink, const std::string& text);

/// Seconds as people read them, e.g. "12.3 ms".
std::string duration(double seconds);

/// Bytes as people read them, e.g. "4.25 GiB".
std::string byte_size(double bytes);

/// One line on stderr that overwrites itself; nothing where stderr is no terminal. An empty text
/// erases it.
void show_progress(const std::string& text);

}  // namespace lugpu::cli
