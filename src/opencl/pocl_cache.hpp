// A folder for PoCL's compiled kernels: without one that it can write it has no device.
#pragma once

#include <string>

namespace lugpu {

struct PoclCache {
  std::string folder;   ///< what POCL_CACHE_DIR was set to here; empty if it was left as it is
  std::string problem;  ///< what PoCL cannot write and why there is nothing else; empty if it can
};

/// PoCL writes to POCL_CACHE_DIR, or else below XDG_CACHE_HOME, HOME/.cache or /tmp, the first that
/// is set. Where that cannot be written and POCL_CACHE_DIR has no value, gives it one: the folder
/// lugpu-cache-UID of the temporary folder, which is this user's alone. Does so once for a process,
/// and changes its environment: to be called before OpenCL starts.
const PoclCache& prepare_pocl_cache();

}  // namespace lugpu
