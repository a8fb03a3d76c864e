// Kernels that a device must show to be right before they are used.
#pragma once

#include <functional>
#include <string>

#include "opencl/context.hpp"

namespace lugpu {

/// Whether a test system comes out right on the context's device: asked once in a process for each
/// device, folder of kernels and `kernels`, a name for those that are tried. An error of the device
/// or its compiler is a no: there are other kernels.
bool proven(const DeviceContext& context, const std::string& kernels,
            const std::function<bool()>& comes_out_right);

}  // namespace lugpu
