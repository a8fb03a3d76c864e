// A panel's interchanges as a list of the rows that move.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace lugpu {

/// Row rows[count() + i] becomes what was row rows[i], for i = 0 : count(); all other rows stay.
struct RowMoves {
  std::vector<int> rows;

  std::size_t count() const { return rows.size() / 2; }
};

/// For interchanges of rows top + k and top + ipiv[k], in this order, ipiv 0-based. At most 2
/// ipiv.size() rows move. Throws as require_inside() for a row that is none of the n.
RowMoves row_moves(std::span<const int> ipiv, std::size_t top, std::size_t n);

}  // namespace lugpu
