// Colours of the unknowns of a sparse matrix, so that those of one colour can be relaxed together.
// Source: Y. Saad, "Iterative Methods for Sparse Linear Systems", 2nd edition, SIAM, 2003, section
// 3.3.3 (greedy multicoloring).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix/sparse.hpp"

namespace lugpu {

struct Colours {
  std::vector<std::int32_t> order;  ///< the unknowns, colour after colour, each in their order
  std::vector<std::size_t> begins = {0};  ///< where in `order` each colour begins, and the end
};

/// Each unknown in its order gets the first colour that no neighbour has; i and j are neighbours if
/// (i, j) or (j, i) is an entry of the square matrix. So there are at most one more colours than
/// neighbours of an unknown, on a grid with five or seven points two. In O(entries + rows) time and
/// memory. Throws std::bad_alloc.
Colours colours(const Sparse& a);

/// P A P': row and column k are those of unknown order[k]. Throws std::bad_alloc.
Sparse reordered(const Sparse& a, const std::vector<std::int32_t>& order);

}  // namespace lugpu
