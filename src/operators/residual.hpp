// Residuals in double, as a function of X and B.
#pragma once

#include <functional>

#include "matrix/matrix.hpp"

namespace lugpu {

/// B - A X for an n x n matrix A; x and b: n x nrhs. An element is off by at most
/// (n + 1) eps (|A| |X| + |B|).
using Residual = std::function<Matrix(const Matrix& x, const Matrix& b)>;

/// On the host. What `a` views must outlive it.
Residual host_residual(const MatrixView& a);

}  // namespace lugpu
