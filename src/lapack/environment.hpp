// What the environment asks of a drop-in library.
#pragma once

#include <optional>

namespace lugpu::lapack {

/// LUGPU_LAPACK_MIN_N; absent if that is not set, or, with a warning, if it is no order.
std::optional<int> asked_order();

/// From this order on the device computes: LUGPU_LAPACK_MIN_N, or else where a GPU saves more time
/// than transfers of the matrix take (docs/drop-in.md).
int least_order();

/// Whether each call prints a line: LUGPU_LAPACK_TRACE=1.
bool traced();

}  // namespace lugpu::lapack
