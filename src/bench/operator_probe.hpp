// Times of the operations on vectors and of the steps of iterative methods, as the tables of
// "Linear Algebra Operators for GPU Implementation of Numerical Algorithms" and of GPU Gems 2,
// chapter 44, have them.
#pragma once

#include <cstddef>
#include <vector>

#include "opencl/context.hpp"

namespace lugpu {

/// One operation on vectors of n x n elements, or on the grid of n x n points.
struct OperatorTime {
  const char* name;             ///< e.g. "dot"
  double bytes;                 ///< loads and stores, each element once
  std::vector<double> times_s;  ///< wall-clock seconds of one operation, of every run
};

/// Times every operation `runs` times after a warm-up, many launches at once where they are short:
/// sums and reductions of vectors, the 5-point Laplacian times a vector, a sweep of Jacobi's and of
/// the Gauss-Seidel method, from n = 16 on a step of the conjugate gradients; up to n = 64 the
/// product of a vector with a full matrix of order n^2 and with one of ten diagonals. Throws
/// Unsupported as surfaces do.
std::vector<OperatorTime> time_operators(DeviceContext& context, std::size_t n, Precision precision,
                                         Storage storage, int runs);

}  // namespace lugpu
