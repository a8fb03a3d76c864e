// What a report of a bug needs: `lugpu --version --verbose`.
#pragma once

#include <string>

namespace lugpu::cli {

/// "lugpu 0.1.0".
std::string version_line();

/// Prints that line, and how the program was built, the libraries that run, the variables that
/// change what they do, and OpenCL with its platforms and devices. Without OpenCL it says so.
void print_bug_report();

}  // namespace lugpu::cli
