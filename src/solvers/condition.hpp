// Condition estimation with the factors: LAPACK's lacn2 and gecon.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "solvers/solver.hpp"

namespace lugpu {

/// x(:, c) = M_j x(:, c), or M_j' x(:, c), with j = which[c]; x: n x which.size().
using ApplyOperators = std::function<void(Matrix& x, const std::vector<std::size_t>& which, Op op)>;

/// Estimates of ||M_j||_1 for `count` n x n operators: Hager's method as modified by Higham (ACM
/// TOMS 14, 1988; LAPACK's lacn2). A lower bound, seldom less than a third of the norm; infinite
/// where a product is not finite. All go step by step together, at most 11 products each, so that
/// one triangular solve serves them all.
std::vector<double> estimate_norms_1(std::size_t n, std::size_t count, const ApplyOperators& apply);

/// Reciprocal condition number of A in the 1-norm, 1 / (||A||_1 ||inv(A)||_1), estimated with
/// inv(A) from the factors (LAPACK's gecon): seldom more than 3 times too large. 1 for n = 0; 0 if
/// A or a product is not finite, or A is zero.
double estimate_rcond(const Matrix& a, const ApplyInverse& apply_inverse);

}  // namespace lugpu
