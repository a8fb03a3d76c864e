// Residuals in double: two implementations of one function.
#pragma once

#include <cstdint>
#include <functional>

#include "matrix/matrix.hpp"
#include "opencl/context.hpp"

namespace lugpu {

/// B - A X for an n x n matrix A; x and b: n x nrhs. An element is off by at most
/// (n + 1) eps (|A| |X| + |B|).
using Residual = std::function<Matrix(const Matrix& x, const Matrix& b)>;

/// On the host. What `a` views must outlive it.
Residual host_residual(const MatrixView& a);

/// By the device, where A stays as long as this or a copy of it lives; context must outlive it.
/// Throws Unsupported if the device has no doubles or cannot hold A.
Residual device_residual(DeviceContext& context, const MatrixView& a);

/// Bytes that device_residual() takes on the device, at most.
std::uint64_t residual_bytes(std::size_t n, std::size_t nrhs);

}  // namespace lugpu
