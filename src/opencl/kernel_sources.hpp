// The kernel files that the build embedded.
#pragma once

#include <string>
#include <vector>

namespace lugpu {

struct KernelSource {
  std::string name;  ///< file name in kernels/, e.g. "fused.cl"
  std::string text;  ///< its bytes
};

/// Every file of kernels/.
const std::vector<KernelSource>& kernel_sources();

}  // namespace lugpu
