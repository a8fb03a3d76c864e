// Texts and numbers as a page shows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lugpu::report {

/// Any text as characters of HTML and XML, also within quotes: control characters and bytes that
/// are not UTF-8 as printable() writes them, and & < > " ' as references.
std::string escaped(std::string_view text);

/// The shortest decimal number that reads as the same double.
std::string exact_text(double value);

/// Three significant digits or more, and whole numbers below 10¹⁰ exactly: 0.00123, 1.23, 12.3,
/// 12345, 1.2·10⁻⁶.
std::string number_text(double value);

/// E.g. "92.4 ms", "38.5 µs".
std::string seconds_text(double seconds);

/// With a prefix of the SI, e.g. "4.2 TB/s".
std::string si_text(double value, const std::string& unit);

/// A ratio of speeds, e.g. "0.85", "12.3".
std::string ratio_text(double ratio);

/// 10 to a power, e.g. "10⁻⁶".
std::string power_of_ten(int exponent);

/// The texts that are not empty, with another one between them.
std::string joined(const std::vector<std::string>& parts, const char* between);

/// <data> with the exact value for programs, and a text for people.
std::string data(double value, const std::string& text);

}  // namespace lugpu::report
