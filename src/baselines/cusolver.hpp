// NVIDIA's cuSOLVER: LU with partial pivoting or without, on an NVIDIA GPU. Building this needs
// nothing of CUDA: libcusolver and the CUDA runtime are opened on demand.
#pragma once

#include <memory>
#include <optional>

#include "baselines/baselines.hpp"

namespace lugpu {

/// Throws Unsupported if libcusolver or the CUDA runtime is missing, no CUDA device has the name of
/// this device, or the problem does not fit into its memory. Of several CUDA devices of that name
/// the first is used.
void require_cusolver(const Device& device, const Problem& problem);

/// getrf and getrs with A, B and the workspace in device memory; info and ipiv as LAPACK's.
/// problem.dense.pivot: partial, or none (a null ipiv). prepare() tries both interfaces,
/// cusolverDn?getrf and the 64-bit cusolverDnXgetrf, and keeps the faster; until then it is the
/// second. profiled_factor() times by CUDA events. Throws as require_cusolver(), Unsupported if
/// memory for the workspace is missing, and Error (failure) if a call fails.
std::unique_ptr<Contender> make_cusolver(DeviceContext& context, const Problem& problem);

/// The libcusolver that is opened; absent if there is none.
std::optional<RivalLibrary> cusolver_library();

}  // namespace lugpu
