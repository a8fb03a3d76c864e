#include "formats/number_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace lugpu {
namespace {

// from_chars refuses a leading '+'.
std::string_view without_plus(std::string_view token) {
  const bool plus = token.size() > 1 && token[0] == '+' && token[1] != '+' && token[1] != '-';
  return plus ? token.substr(1) : token;
}

// from_chars does not tell an overflow from an underflow. `token` is what it called out of range,
// so its decimal exponent is beyond +300 or below -300 and its sign decides.
double beyond_range(std::string_view token) {
  const std::size_t mark = std::min(token.find_first_of("eE"), token.size());
  const std::string_view mantissa = token.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  double exponent =
      static_cast<double>(point) - static_cast<double>(mantissa.find_first_of("123456789"));
  if (mark < token.size()) {
    const std::string_view digits = token.substr(mark + 1);
    const double huge = digits.front() == '-' ? -1e18 : 1e18;
    const std::optional<std::int64_t> whole = parse_whole(digits);
    exponent += whole ? static_cast<double>(*whole) : huge;
  }
  const double magnitude = exponent > 0.0 ? std::numeric_limits<double>::infinity() : 0.0;
  return token.front() == '-' ? -magnitude : magnitude;
}

}  // namespace

std::optional<double> parse_number(std::string_view token) {
  const std::string_view number = without_plus(token);
  const char* const end = number.data() + number.size();
  double value = 0.0;
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  if (error == std::errc::invalid_argument) return std::nullopt;
  if (stop == end) return error == std::errc::result_out_of_range ? beyond_range(number) : value;
  if (*stop != 'd' && *stop != 'D') return std::nullopt;
  std::string with_e(number);
  with_e[static_cast<std::size_t>(stop - number.data())] = 'e';
  return parse_number(with_e);
}

std::optional<std::int64_t> parse_whole(std::string_view token) {
  const std::string_view number = without_plus(token);
  const char* const end = number.data() + number.size();
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

void append_number(std::string& text, double value) {
  std::array<char, 32> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                    std::chars_format::general, 17);
  text.append(digits.data(), result.ptr);
}

}  // namespace lugpu
