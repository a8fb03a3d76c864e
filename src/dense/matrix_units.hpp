// What NVIDIA's GPUs can do.
#pragma once

#include "opencl/context.hpp"

namespace lugpu {

/// Compute capability of an NVIDIA GPU, 10 major + minor; 0 for other devices.
int compute_capability(const Device& device);

/// Whether kernels may use NVIDIA's instructions for warps: from 8.0 on, and if the context's
/// settings allow a vendor's kernels.
bool has_warp_instructions(const DeviceContext& context);

/// Whether a device has the matrix units that the kernels of nvidia/ use: those for tf32 are there
/// from 8.0 on, the shapes of doubles used here from 9.0.
bool has_matrix_units(const Device& device, Precision precision);

/// Whether the instructions wgmma are there: compute capability 9 alone has them.
bool has_wgmma(const Device& device);

}  // namespace lugpu
