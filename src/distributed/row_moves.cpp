#include "distributed/row_moves.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dense/permutation.hpp"

namespace lugpu {

RowMoves row_moves(std::span<const int> ipiv, std::size_t top, std::size_t n) {
  const std::size_t width = ipiv.size(), end = top + width;
  // The rows that are named: those of the block, and those below in ascending order. Row rows[p]
  // holds what was row holds[p].
  std::vector<int> rows(width);
  std::iota(rows.begin(), rows.end(), static_cast<int>(top));
  for (std::size_t k = 0; k < width; ++k) {
    const int other = static_cast<int>(top) + ipiv[k];
    require_inside(other, top + k, n);
    if (other >= static_cast<int>(end)) rows.push_back(other);
  }
  const auto below = rows.begin() + static_cast<std::ptrdiff_t>(width);
  std::sort(below, rows.end());
  rows.erase(std::unique(below, rows.end()), rows.end());
  const auto place_of = [&](int row) {
    const auto found = row < static_cast<int>(end) ? rows.begin() + (row - static_cast<int>(top))
                                                   : std::lower_bound(below, rows.end(), row);
    return static_cast<std::size_t>(found - rows.begin());
  };
  std::vector<int> holds = rows;
  for (std::size_t k = 0; k < width; ++k) {
    std::swap(holds[k], holds[place_of(static_cast<int>(top) + ipiv[k])]);
  }
  std::vector<int> moves, to;
  for (std::size_t p = 0; p < rows.size(); ++p) {
    if (holds[p] == rows[p]) continue;
    moves.push_back(holds[p]);
    to.push_back(rows[p]);
  }
  moves.insert(moves.end(), to.begin(), to.end());
  return {moves};
}

}  // namespace lugpu
