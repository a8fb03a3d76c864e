// What earlier runs found out about the ways through the kernels on a device.
#pragma once

#include "solve/failed_paths.hpp"
#include "solve/tuning.hpp"

namespace lugpu {

/// What the automatic choice of a method goes by, besides the defaults.
struct PathRecords {
  FailedPaths failed;  ///< of `lugpu verify`
  Tuning tuning;       ///< of `lugpu tune`
};

/// Those of the device with these kernels.
inline PathRecords read_path_records(const Device& device, const KernelSettings& kernels) {
  return {read_record(kFailedPathsRecord, device, kernels), read_tuning(device, kernels)};
}

}  // namespace lugpu
