// Numbers as text, for the formats that are text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lugpu {

/// The double nearest to the decimal number that the whole of `token` spells:
/// [+-] digits [. digits] [e|E|d|D [+-] digits]  (D is Fortran's double precision exponent),
/// or nan, inf, infinity in any case. A magnitude above the largest double gives +-inf, one below
/// the smallest +-0. Nothing if it is not a number.
std::optional<double> parse_number(std::string_view token);

/// The whole number that the whole of `token` spells: [+-] digits. Nothing if it is not one, or
/// does not fit.
std::optional<std::int64_t> parse_whole(std::string_view token);

/// Appends `value` as printf("%.17g") does: 17 significant digits give the same double back.
void append_number(std::string& text, double value);

}  // namespace lugpu
