// The device format of a sparse matrix.
#pragma once

#include <memory>

#include "matrix/sparse.hpp"
#include "operators/operator.hpp"

namespace lugpu {

/// Whether whole diagonals take less time than slices: if at most a tenth of their elements are not
/// entries. facts: those of a.
bool has_full_diagonals(const Sparse& a, const SparsityFacts& facts);

/// BandedOperator or SparseOperator, whichever is faster. Its vectors have the layout
/// VectorLayout::of_length(a.rows(), precision, storage, texel). Throws as they do.
std::unique_ptr<Operator> stored_operator(DeviceContext& context, const Sparse& a,
                                          const SparsityFacts& facts, Precision precision,
                                          Storage storage, Texel texel);

}  // namespace lugpu
