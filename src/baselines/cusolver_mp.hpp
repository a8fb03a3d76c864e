// NVIDIA's cuSOLVERMp: LU with partial pivoting over several NVIDIA GPUs that share an NCCL
// communicator. Building this needs nothing of CUDA: libcusolverMp, libnccl and the CUDA runtime
// are opened on demand.
#pragma once

#include <memory>
#include <optional>

#include "baselines/baselines.hpp"

namespace lugpu {

/// Throws Unsupported if libcusolverMp, libnccl or the CUDA runtime is missing, or as
/// require_dealt_matrices().
void require_cusolver_mp(const Device& device, const Problem& problem);

/// getrf and getrs on as many CUDA devices as the problem has, a thread of this process for each:
/// the columns of A are dealt to them in blocks of 512, as those of B. There is no lu() and no
/// ipiv: X is what is checked. Throws as require_cusolver_mp(), Unsupported before version 0.7, and
/// Error (failure) if a call fails.
std::unique_ptr<Contender> make_cusolver_mp(DeviceContext& context, const Problem& problem);

/// The libcusolverMp that is opened; absent if there is none.
std::optional<RivalLibrary> cusolver_mp_library();

}  // namespace lugpu
