// The checks from A, X and B, as tests have them.
#pragma once

#include "accuracy/checks.hpp"
#include "accuracy/equilibrate.hpp"
#include "bench/factor_checks.hpp"
#include "dense/permutation.hpp"
#include "operators/product.hpp"

namespace lugpu {

inline double solve_ratio(const Matrix& a, const Matrix& x, const Matrix& b, double epsilon) {
  return solve_ratio(norm_1(a), x, residual(a, x, b), epsilon);
}

inline double hpl_residual(const Matrix& a, const Matrix& x, const Matrix& b, double epsilon) {
  return hpl_residual(norm_inf(a), x, b, residual(a, x, b), epsilon);
}

inline double inverse_ratio(const Matrix& a, const Matrix& inverse, double epsilon) {
  return inverse_ratio(a, inverse, host_residual(a), epsilon);
}

inline double pivot_growth(const Matrix& a, const Matrix& lu) {
  return relative(largest_of_u(lu.view(), 0), norm_max(a));
}

inline Scaling equilibration(const Matrix& a, Precision precision) {
  return equilibration(a, norm_max(a), precision);
}

inline std::vector<int> permutation_of(const std::vector<int>& ipiv) {
  return permutation_of(ipiv, ipiv.size());
}

}  // namespace lugpu
