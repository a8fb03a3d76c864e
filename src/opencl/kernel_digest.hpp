// Which kernels a run uses: what was measured or found with some says nothing about others.
#pragma once

#include <string>

namespace lugpu {

/// A digest of the embedded kernels, or of those in kernel_dir if it is not empty.
std::string kernel_digest(const std::string& kernel_dir);

}  // namespace lugpu
