// What this library prints.
#pragma once

#include <string>

namespace lugpu::lapack {

/// One line on stderr, "lugpu_lapack: TEXT"; a warning or an error begins with that word, anything
/// else is the trace.
void say(const std::string& text);

}  // namespace lugpu::lapack
