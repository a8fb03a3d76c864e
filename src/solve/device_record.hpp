// What one run of the program found out about a device, kept for later ones: a text file in
// $XDG_CACHE_HOME/lugpu, or ~/.cache/lugpu, for each subject, device, driver and set of kernels.
#pragma once

#include <string>
#include <vector>

#include "opencl/programs.hpp"

namespace lugpu {

/// What records are about.
struct RecordSubject {
  const char* title;      ///< the first line of a file, e.g. "wrong by lugpu verify"
  const char* file_name;  ///< how the names of files begin, e.g. "failed-paths"
};

/// The lines recorded for the device with these kernels. None if nothing is recorded, or if the
/// file is not exactly as write_record() leaves it.
std::vector<std::string> read_record(const RecordSubject& subject, const Device& device,
                                     const KernelSettings& kernels);

/// Records `lines` in the place of what was recorded before; none: nothing is. Throws Error
/// (failure) if that cannot be done.
void write_record(const RecordSubject& subject, const Device& device, const KernelSettings& kernels,
                  const std::vector<std::string>& lines);

/// What is recorded of one device with one driver and one set of kernels.
struct DeviceRecord {
  std::string file;
  std::string platform, device, driver;
  std::string kernels;              ///< their hash, and whether a vendor's are among them
  bool of_embedded_kernels = true;  ///< whether they are those of this program
  std::vector<std::string> lines;
};

/// Every record of a subject, by the names of their files; of files that are not exactly as
/// write_record() leaves them, none.
std::vector<DeviceRecord> all_records(const RecordSubject& subject);

/// Removes a record. Throws Error (failure) if that cannot be done.
void forget(const DeviceRecord& record);

}  // namespace lugpu
