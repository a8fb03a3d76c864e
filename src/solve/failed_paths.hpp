// What `lugpu verify` found wrong on a device, kept from one run of the program to the next: a file
// in $XDG_CACHE_HOME/lugpu, or ~/.cache/lugpu, for each device, driver and set of kernels. Another
// driver or other kernels have not been judged.
#pragma once

#include <string>
#include <vector>

#include "opencl/programs.hpp"

namespace lugpu {

/// path_name()s that `lugpu verify` found wrong on a device.
using FailedPaths = std::vector<std::string>;

/// Those recorded for the device with these kernels. None if nothing is recorded, or if the file is
/// not exactly as write_failed_paths leaves it.
FailedPaths read_failed_paths(const Device& device, const KernelSettings& kernels);

/// What is recorded of one device with one driver and one set of kernels.
struct FailedPathsRecord {
  std::string file;
  std::string platform, device, driver;
  std::string kernels;              ///< their hash, and whether a vendor's are among them
  bool of_embedded_kernels = true;  ///< whether they are those of this program
  FailedPaths paths;
};

/// Every record, by the names of their files; of files that are not exactly as write_failed_paths
/// leaves them, none.
std::vector<FailedPathsRecord> all_failed_paths();

/// Removes a record. Throws Error (failure) if that cannot be done.
void forget(const FailedPathsRecord& record);

/// Records `paths` in the place of what was recorded before. Throws Error (failure) if that cannot
/// be done.
void write_failed_paths(const Device& device, const KernelSettings& kernels,
                        const FailedPaths& paths);

}  // namespace lugpu
