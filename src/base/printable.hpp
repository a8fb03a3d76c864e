// Text from outside (arguments, names of files and devices, logs) as a terminal may show it.
#pragma once

#include <string>
#include <string_view>

namespace lugpu {

/// The text in UTF-8 without anything that moves the cursor, colours or ends a line: control
/// characters (U+0000 to U+001F, U+007F to U+009F) and bytes that are not UTF-8 are written as
/// \xHH, \n, \r or \t. The rest stays as it is.
std::string printable(std::string_view text);

/// The same, line by line: the line feeds stay.
std::string printable_lines(std::string_view text);

}  // namespace lugpu
