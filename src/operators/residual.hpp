// Residuals in double: two implementations of one function.
#pragma once

#include <functional>

#include "operators/double_matrix.hpp"

namespace lugpu {

/// B - A X for an n x n matrix A; x and b: n x nrhs. An element is off by at most
/// (n + 1) eps (|A| |X| + |B|).
using Residual = std::function<Matrix(const Matrix& x, const Matrix& b)>;

/// On the host. What `a` views must outlive it.
Residual host_residual(const MatrixView& a);

/// By the device; `a` must outlive it.
Residual device_residual(const DoubleMatrix& a);

}  // namespace lugpu
