// The kernel files that the build embedded.
#pragma once

#include <string>
#include <vector>

namespace lugpu {

struct KernelSource {
  std::string name;  ///< path in kernels/, e.g. "dense/fused.cl"
  std::string text;  ///< its bytes
};

/// Every file of the folders of kernels/.
const std::vector<KernelSource>& kernel_sources();

}  // namespace lugpu
