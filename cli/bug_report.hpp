// What a report of a bug needs: `lugpu --version --verbose`.
#pragma once

#include <string>

namespace lugpu::cli {

/// "lugpu 0.1.0".
std::string version_line();

/// That line, and how the program was built, OpenCL with its platforms and devices, the libraries
/// that run, and the variables that change what they do. Without OpenCL it says so.
std::string bug_report();

}  // namespace lugpu::cli
