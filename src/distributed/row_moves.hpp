// A panel's interchanges as a list of the rows that move.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace lugpu {

/// Row to[i] becomes what was row from[i]; all other rows stay.
struct RowMoves {
  std::vector<int> from, to;
};

/// For interchanges of rows top + k and top + ipiv[k], in this order, ipiv 0-based. At most 2
/// ipiv.size() rows move. Throws as require_inside() for a row that is none of the n.
RowMoves row_moves(std::span<const int> ipiv, std::size_t top, std::size_t n);

}  // namespace lugpu
