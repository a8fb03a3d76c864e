// Interchanges as permutations.
#pragma once

#include <cstddef>
#include <vector>

namespace lugpu {

/// Throws Error (failure) unless k <= place < n: the row or column, 0-based, where a device found
/// pivot k of n.
void require_inside(int place, std::size_t k, std::size_t n);

/// Row interchanges as a permutation of n rows: for ipiv (1-based, applied from first to last, at
/// most n of them) the vector p, 0-based, with (P B)(i, :) = B(p[i], :). Throws as require_inside.
std::vector<int> permutation_of(const std::vector<int>& ipiv, std::size_t n);

/// The inverse permutation.
std::vector<int> inverse_permutation(const std::vector<int>& p);

}  // namespace lugpu
