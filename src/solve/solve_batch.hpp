// A X = B for every member of a batch: upload, factor, solve, check, judge.
#pragma once

#include "dense/batch_lu.hpp"

namespace lugpu {

/// What factors a batch like a, n x n each, by the fastest path. Throws InputError for another
/// shape, and as BatchLu::require_room.
template <typename T>
BatchLu batch_lu_for(DeviceContext& context, const Batch<const T>& a, Pivot pivot);

/// NaN in all elements of the members whose info is not 0.
template <typename T>
void mark_singular(const std::vector<int>& info, const Batch<T>& x);

/// See lugpu/batch.hpp.
template <typename T>
BatchSolution<T> solve_batch(DeviceContext& context, const Batch<const T>& a,
                             const Batch<const T>& b, const BatchOptions& options);

}  // namespace lugpu
