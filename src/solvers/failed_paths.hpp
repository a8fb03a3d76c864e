// What `lugpu verify` found wrong on a device, kept from one run of the program to the next: a file
// in $XDG_CACHE_HOME/lugpu, or ~/.cache/lugpu, for each device, driver and set of kernels. Another
// driver or other kernels have not been judged.
#pragma once

#include <string>
#include <vector>

#include "opencl/device.hpp"

namespace lugpu {

/// The path_name()s recorded for the device with the embedded kernels, or with those of kernel_dir
/// if it is not empty. None if nothing is recorded, or if the file is not exactly as
/// write_failed_paths leaves it.
std::vector<std::string> read_failed_paths(const Device& device, const std::string& kernel_dir);

/// Records `paths` in the place of what was recorded before. Throws Error (failure) if that cannot
/// be done.
void write_failed_paths(const Device& device, const std::string& kernel_dir,
                        const std::vector<std::string>& paths);

}  // namespace lugpu
