#include "distributed/row_moves.hpp"

#include <map>
#include <utility>

#include "dense/permutation.hpp"

namespace lugpu {

RowMoves row_moves(std::span<const int> ipiv, std::size_t top, std::size_t n) {
  std::map<int, int> holds;  // row i holds what was row holds[i]; rows that are not there stay
  const auto content = [&](int row) -> int& { return holds.try_emplace(row, row).first->second; };
  for (std::size_t k = 0; k < ipiv.size(); ++k) {
    const int row = static_cast<int>(top + k), other = static_cast<int>(top) + ipiv[k];
    require_inside(other, top + k, n);
    std::swap(content(row), content(other));
  }
  RowMoves moves;
  for (const auto& [to, from] : holds) {
    if (from == to) continue;
    moves.from.push_back(from);
    moves.to.push_back(to);
  }
  return moves;
}

}  // namespace lugpu
