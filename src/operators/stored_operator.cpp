#include "operators/stored_operator.hpp"

#include "operators/banded_operator.hpp"
#include "operators/sparse_operator.hpp"

namespace lugpu {

bool suits_diagonals(const Sparse& a, const SparsityFacts& facts, const Device& device,
                     Precision precision) {
  const std::size_t elements = facts.diagonals * a.rows(), entries = a.values().size();
  if (device.type == "cpu") return elements <= 4 * entries;
  const std::size_t bytes = element_size(precision);
  return elements * bytes <= entries * (bytes + sizeof(cl_int));
}

std::unique_ptr<Operator> stored_operator(DeviceContext& context, const Sparse& a,
                                          const SparsityFacts& facts, Precision precision,
                                          Storage storage, Texel texel) {
  if (suits_diagonals(a, facts, context.device(), precision)) {
    return std::make_unique<BandedOperator>(context, a, precision, storage, texel);
  }
  return std::make_unique<SparseOperator>(context, a, precision, storage, texel);
}

}  // namespace lugpu
