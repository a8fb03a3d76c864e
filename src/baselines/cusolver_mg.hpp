// NVIDIA's cuSOLVERMg: LU with partial pivoting over several NVIDIA GPUs of one host. Building this
// needs nothing of CUDA: libcusolverMg and the CUDA runtime are opened on demand.
#pragma once

#include <memory>
#include <optional>

#include "baselines/baselines.hpp"

namespace lugpu {

/// Throws Unsupported if libcusolverMg or the CUDA runtime is missing, the device and
/// problem.dense.others are not as many different CUDA devices, or the problem does not fit into
/// their memory.
void require_cusolver_mg(const Device& device, const Problem& problem);

/// getrf and getrs on as many CUDA devices as the problem has, the columns of A dealt to them in
/// blocks of 512, B on the first one. There is no lu() and no ipiv: X is what is checked. Throws as
/// require_cusolver_mg(), and Error (failure) if a call fails.
std::unique_ptr<Contender> make_cusolver_mg(DeviceContext& context, const Problem& problem);

/// The libcusolverMg that is opened; absent if there is none.
std::optional<RivalLibrary> cusolver_mg_library();

}  // namespace lugpu
