// The checks of every member of a batch, on the host in double.
#pragma once

#include <vector>

#include "lugpu/batch.hpp"

namespace lugpu {

/// solve_ratio() of checks.hpp for each member. a: n x n each, n at most kMostBatchOrder; b, x:
/// n x nrhs each; as many of each. eps: of the precision of X.
template <typename T>
std::vector<double> solve_ratios(const Batch<const T>& a, const Batch<const T>& b,
                                 const Batch<const T>& x, double eps);

}  // namespace lugpu
