#include "operators/stored_operator.hpp"

#include "operators/banded_operator.hpp"
#include "operators/sparse_operator.hpp"

namespace lugpu {

bool has_full_diagonals(const Sparse& a, const SparsityFacts& facts) {
  return 9 * facts.diagonals * a.rows() <= 10 * a.values().size();
}

std::unique_ptr<Operator> stored_operator(DeviceContext& context, const Sparse& a,
                                          const SparsityFacts& facts, Precision precision,
                                          Storage storage, Texel texel) {
  if (has_full_diagonals(a, facts)) {
    return std::make_unique<BandedOperator>(context, a, precision, storage, texel);
  }
  return std::make_unique<SparseOperator>(context, a, precision, storage, texel);
}

}  // namespace lugpu
