#include "report/markup.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/printable.hpp"

namespace lugpu::report {
namespace {

// With so many digits behind the point.
std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

// Without zeros at the end behind the point.
std::string without_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Three digits of a number from 1 to 1000.
std::string three_digits(double value) {
  return fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string exact_text(double value) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string power_of_ten(int exponent) {
  constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) text += kDigits[digit - '0'];
  return text;
}

std::string number_text(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size < 1e10 && value == std::round(value)) return fixed(value, 0);
  if (size >= 1e-3 && size < 1e7) {
    if (size >= 99.95) return fixed(value, size >= 999.5 ? 0 : 1);
    if (size >= 0.9995) return without_zeros(fixed(value, size < 9.995 ? 2 : 1));
    return without_zeros(fixed(value, 2 - static_cast<int>(std::floor(std::log10(size)))));
  }
  int exponent = static_cast<int>(std::floor(std::log10(size)));
  double mantissa = value / std::pow(10.0, exponent);
  if (std::abs(mantissa) >= 9.95) mantissa /= 10, ++exponent;
  const std::string text = without_zeros(fixed(mantissa, 1));
  return (text == "1" ? "" : text + "·") + power_of_ten(exponent);
}

std::string seconds_text(double seconds) {
  if (seconds >= 0.9995) return number_text(seconds) + " s";
  if (seconds >= 0.9995e-3) return three_digits(seconds * 1e3) + " ms";
  if (seconds >= 0.9995e-6) return three_digits(seconds * 1e6) + " µs";
  return number_text(seconds * 1e9) + " ns";
}

std::string si_text(double value, const std::string& unit) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < std::size(kPrefixes)) value /= 1000, ++prefix;
  return number_text(value) + ' ' + kPrefixes[prefix] + unit;
}

std::string ratio_text(double ratio) {
  return ratio >= 0.01 && ratio < 1000 ? fixed(ratio, ratio < 9.995   ? 2
                                                      : ratio < 99.95 ? 1
                                                                      : 0)
                                       : number_text(ratio);
}

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : between) + part;
  }
  return text;
}

std::string data(double value, const std::string& text) {
  return "<data value=\"" + exact_text(value) + "\">" + escaped(text) + "</data>";
}

}  // namespace lugpu::report
