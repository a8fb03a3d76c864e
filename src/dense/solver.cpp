#include "dense/solver.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "matrix/norms.hpp"

namespace lugpu {

void Solver::apply_inverse(Matrix&, Op) {
  throw Unsupported("This method keeps no factors to solve with again.");
}

ApplyInverse inverse_by(Solver& solver, const Matrix& a) {
  constexpr int kLeast = -100;  // above the numbers that have fewer digits, in single precision too
  const double size = norm_max(a);
  const int target = std::isfinite(size) && size > 0 ? std::max(std::ilogb(size), kLeast) : 0;
  return [&solver, target](Matrix& x, Op op) {
    std::vector<int> shifts(x.cols(), 0);
    const auto scale = [&](std::size_t j, int shift) {
      for (std::size_t i = 0; i < x.rows(); ++i) x(i, j) = std::ldexp(x(i, j), shift);
    };
    for (std::size_t j = 0; j < x.cols(); ++j) {
      const double norm = column_norm_max(x, j);
      if (std::isfinite(norm) && norm > 0) shifts[j] = target - std::ilogb(norm);
      scale(j, shifts[j]);
    }
    solver.apply_inverse(x, op);
    for (std::size_t j = 0; j < x.cols(); ++j) scale(j, -shifts[j]);
  };
}

void require_inside(int place, std::size_t k, std::size_t n) {
  if (place >= static_cast<int>(k) && place < static_cast<int>(n)) return;
  throw Error(Exit::failure, "Pivot " + std::to_string(k + 1) + " of " + std::to_string(n) +
                                 " was found in row or column " + std::to_string(place + 1LL) +
                                 ": the device computes incorrectly; `lugpu verify` says where.");
}

std::vector<int> permutation_of(const std::vector<int>& ipiv) {
  std::vector<int> p(ipiv.size());
  std::iota(p.begin(), p.end(), 0);
  for (std::size_t k = 0; k < ipiv.size(); ++k) {
    require_inside(ipiv[k] > 0 ? ipiv[k] - 1 : -1, k, ipiv.size());
    std::swap(p[k], p[ipiv[k] - 1]);
  }
  return p;
}

std::vector<int> inverse_permutation(const std::vector<int>& p) {
  std::vector<int> inverse(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) inverse[p[i]] = static_cast<int>(i);
  return inverse;
}

void permute_rows(Matrix& x, const std::vector<int>& p) {
  std::vector<double> column(x.rows());
  for (std::size_t j = 0; j < x.cols(); ++j) {
    for (std::size_t i = 0; i < x.rows(); ++i) column[i] = x(p[i], j);
    std::copy(column.begin(), column.end(), x.column(j));
  }
}

}  // namespace lugpu
