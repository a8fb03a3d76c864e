// What the steps of the fused schedule leave to the end: interchanges of L and U, divisions of L.
#pragma once

#include "dense/pivoting.hpp"
#include "opencl/transfer.hpp"

namespace lugpu {

/// surfaces.src: from the n x n matrix that the steps left to L and U, as LAPACK's. The
/// interchanges of `block` steps at a time reach the rows of U and columns of L of these steps.
void finish_lu(DeviceContext& context, const Size& size, const DenseOptions& options,
               PingPong& surfaces, Pivoting& pivoting, std::size_t block);

}  // namespace lugpu
