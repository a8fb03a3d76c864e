// What a drop-in library prints.
#pragma once

#include <string>

namespace lugpu::lapack {

/// "lugpu_lapack"; each library has its own.
extern const char* const kLibrary;

/// One line on stderr, "LIBRARY: TEXT"; a warning or an error begins with that word, anything else
/// is the trace.
void say(const std::string& text);

/// The first time: a warning that the host computes, for this reason.
void warn_once(const std::string& sentence);

}  // namespace lugpu::lapack
