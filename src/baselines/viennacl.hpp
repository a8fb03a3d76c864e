// ViennaCL's LU on an OpenCL device, without pivoting, the only kind it has. Its headers are looked
// for at configure time.
#pragma once

#include <memory>
#include <optional>

#include "baselines/baselines.hpp"

namespace lugpu {

/// Throws Unsupported if lugpu was built without ViennaCL, or the problem does not fit: into the
/// device, or into the 32 bits that ViennaCL has for the bytes of a matrix.
void require_viennacl(const Device& device, const Problem& problem);

/// lu_factorize and lu_substitute of ViennaCL 1.7.1, column-major, in the context and on the queue
/// of this device: panels of 32 columns on the host, the rest on the device. info, which ViennaCL
/// does not give, is read off U's diagonal. Throws as require_viennacl(), and what ViennaCL throws.
std::unique_ptr<Contender> make_viennacl(DeviceContext& context, const Problem& problem);

/// Its headers' version (those of 1.7.1 say 1.7.0); absent if lugpu was built without.
std::optional<RivalLibrary> viennacl_library();

}  // namespace lugpu
