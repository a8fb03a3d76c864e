#include "solvers/solver.hpp"

#include <numeric>

namespace lugpu {

std::vector<int> permutation_of(const std::vector<int>& ipiv) {
  std::vector<int> p(ipiv.size());
  std::iota(p.begin(), p.end(), 0);
  for (std::size_t k = 0; k < ipiv.size(); ++k) std::swap(p[k], p[ipiv[k] - 1]);
  return p;
}

std::vector<int> inverse_permutation(const std::vector<int>& p) {
  std::vector<int> inverse(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) inverse[p[i]] = static_cast<int>(i);
  return inverse;
}

}  // namespace lugpu
