// What `lugpu verify` found wrong on a device. Another driver or other kernels have not been
// judged.
#pragma once

#include "solve/device_record.hpp"

namespace lugpu {

inline constexpr RecordSubject kFailedPathsRecord = {"wrong by lugpu verify", "failed-paths"};

/// path_name()s that `lugpu verify` found wrong on a device: the lines of its record.
using FailedPaths = std::vector<std::string>;

}  // namespace lugpu
