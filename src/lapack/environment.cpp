#include "lapack/environment.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include "lapack/say.hpp"

namespace lugpu::lapack {

std::optional<int> asked_order() {
  static const std::optional<int> asked = []() -> std::optional<int> {
    const char* text = std::getenv("LUGPU_LAPACK_MIN_N");
    if (!text || !*text) return std::nullopt;
    int value = 0;
    const char* end = text + std::strlen(text);
    const auto [rest, error] = std::from_chars(text, end, value);
    if (error == std::errc() && rest == end && value >= 0) return value;
    say("warning: LUGPU_LAPACK_MIN_N=" + std::string(text) +
        " is not an order (0, 1, 2, ...); it is ignored.");
    return std::nullopt;
  }();
  return asked;
}

int least_order() {
  return asked_order().value_or(512);
}

bool traced() {
  static const bool on = [] {
    const char* text = std::getenv("LUGPU_LAPACK_TRACE");
    return text && std::string(text) == "1";
  }();
  return on;
}

}  // namespace lugpu::lapack
