#include "base/printable.hpp"

#include <cstddef>
#include <cstdio>

namespace lugpu {
namespace {

constexpr unsigned kDelete = 0x7F, kFirstBeyondControls = 0xA0;

unsigned byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
}

// Bytes of the character that the text begins with if it may be printed, or else 0. Well-formed
// UTF-8 is that of table 3-7 of the Unicode standard.
std::size_t printable_length(std::string_view text) {
  const unsigned first = byte_at(text, 0), second = byte_at(text, 1);
  if (first < 0x80) return first >= ' ' && first != kDelete ? 1 : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  const unsigned least = first == 0xC2   ? kFirstBeyondControls
                         : first == 0xE0 ? 0xA0
                         : first == 0xF0 ? 0x90
                                         : 0x80;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (first < 0xC2 || first > 0xF4 || second < least || second > most) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte_at(text, i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

std::string escaped(char c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  char text[8];
  std::snprintf(text, sizeof text, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    if (length == 0) {
      result += escaped(text.front());
      text.remove_prefix(1);
    } else {
      result += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return result;
}

std::string printable_lines(std::string_view text) {
  std::string result;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    result += printable(text.substr(0, end)) + '\n';
    text.remove_prefix(end + 1);
  }
  return result + printable(text);
}

}  // namespace lugpu
