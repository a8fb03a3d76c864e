#include "opencl/kernel_digest.hpp"

#include <filesystem>

#include "base/digest.hpp"
#include "opencl/kernel_sources.hpp"

namespace lugpu {

std::string kernel_digest(const std::string& kernel_dir) {
  std::string kernels;
  for (const KernelSource& source : kernel_sources()) {
    kernels += kernel_dir.empty() ? source.text
                                  : contents(std::filesystem::path(kernel_dir) / source.name);
  }
  return digest(kernels);
}

}  // namespace lugpu
