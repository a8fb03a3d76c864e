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

/// What is recorded of one device with one driver and one set of kernels.
struct FailedPathsRecord {
  std::string file;
  std::string platform, device, driver;
  std::string kernels;              ///< their hash, and whether a vendor's are among them
  bool of_embedded_kernels = true;  ///< whether they are those of this program
  std::vector<std::string> paths;
};

/// Every record, by the names of their files; of files that are not exactly as write_failed_paths
/// leaves them, none.
std::vector<FailedPathsRecord> all_failed_paths();

/// Removes a record. Throws Error (failure) if that cannot be done.
void forget(const FailedPathsRecord& record);

/// Records `paths` in the place of what was recorded before. Throws Error (failure) if that cannot
/// be done.
void write_failed_paths(const Device& device, const std::string& kernel_dir,
                        const std::vector<std::string>& paths);

}  // namespace lugpu
