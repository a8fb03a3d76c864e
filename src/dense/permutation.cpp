#include "dense/permutation.hpp"

#include <numeric>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace lugpu {

void require_inside(int place, std::size_t k, std::size_t n) {
  if (place >= static_cast<int>(k) && place < static_cast<int>(n)) return;
  throw Error(ErrorKind::failure,
              "Pivot " + std::to_string(k + 1) + " of " + std::to_string(n) +
                  " was found in row or column " + std::to_string(place + 1LL) +
                  ": the device computes incorrectly; `lugpu verify` says where.");
}

std::vector<int> permutation_of(const std::vector<int>& ipiv, std::size_t n) {
  std::vector<int> p(n);
  std::iota(p.begin(), p.end(), 0);
  for (std::size_t k = 0; k < ipiv.size(); ++k) {
    require_inside(ipiv[k] > 0 ? ipiv[k] - 1 : -1, k, n);
    std::swap(p[k], p[static_cast<std::size_t>(ipiv[k] - 1)]);
  }
  return p;
}

std::vector<int> inverse_permutation(const std::vector<int>& p) {
  std::vector<int> inverse(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    inverse[static_cast<std::size_t>(p[i])] = static_cast<int>(i);
  }
  return inverse;
}

}  // namespace lugpu
