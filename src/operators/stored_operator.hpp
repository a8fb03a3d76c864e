// The device format of a sparse matrix.
#pragma once

#include <memory>

#include "matrix/sparse.hpp"
#include "operators/operator.hpp"

namespace lugpu {

/// Whether BandedOperator is faster than SparseOperator. facts: those of a. On CPUs, where
/// gathering elements of x takes most of the time, if at least a quarter of the elements of the
/// diagonals are entries; elsewhere if they take no more bytes than the entries with their columns.
bool suits_diagonals(const Sparse& a, const SparsityFacts& facts, const Device& device,
                     Precision precision);

/// The faster one. Its vectors have the layout VectorLayout::of_length(a.rows(), precision,
/// storage, texel). Throws as they do.
std::unique_ptr<Operator> stored_operator(DeviceContext& context, const Sparse& a,
                                          const SparsityFacts& facts, Precision precision,
                                          Storage storage, Texel texel);

}  // namespace lugpu
