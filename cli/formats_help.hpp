// What `lugpu help formats` prints.
#pragma once

#include <string>

namespace lugpu::cli {

/// The word after `help` that is no subcommand.
constexpr const char* kFormatsTopic = "formats";

/// The formats of matrix files: which extensions, what they hold, read or written, and by which
/// optional libraries that this program has or lacks.
std::string formats_help();

}  // namespace lugpu::cli
