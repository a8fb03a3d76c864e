// Condition estimation with the factors: LAPACK's lacn2 and gecon.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "dense/factorization.hpp"

namespace lugpu {

/// x(:, c) = M_j x(:, c), or M_j' x(:, c), with j = which[c]; x: n x which.size().
using ApplyOperators = std::function<void(Matrix& x, const std::vector<std::size_t>& which, Op op)>;

/// Estimates of ||M_j||_1 for `count` n x n operators: Hager's method as modified by Higham (ACM
/// TOMS 14, 1988; LAPACK's lacn2). A lower bound, seldom less than a third of the norm; infinite
/// where a product is not finite. All go step by step together, at most 11 products each, so that
/// one triangular solve serves them all.
std::vector<double> estimate_norms_1(std::size_t n, std::size_t count, const ApplyOperators& apply);

/// What a computed inverse of A tells, with N = inv(A) or its transpose as apply_inverse has it.
struct InverseNorms {
  std::vector<double> weighted;  ///< estimates of ||diag(w_j) N||_1
  double defect = 0;   ///< an estimate of ||I - op(A) N||_1: 0 if N is exact; a bound with room for
                       ///< an estimate that is too small by its usual factor
  double stretch = 0;  ///< the least ||op(A) y||_1 / ||y||_1 found
};

/// For op(A), n x n, and the weights w_j, the columns of an n x m matrix. The true inverse obeys
/// ||diag(w_j) op(inv(A))||_1 <= ||diag(w_j) N||_1 / (1 - defect) if defect < 1 (the Neumann series
/// of op(A) N; Higham, Accuracy and Stability, 14.2): so the defect tells whether rounding in the
/// factors, in A itself, or growth has spoilt them.
InverseNorms estimate_inverse_norms(const MatrixView& a, Op op, const Matrix& weights,
                                    const ApplyInverse& apply_inverse);

/// The largest defect with which an inverse is still evidence.
inline constexpr double kLargestDefect = 0.5;

/// The reciprocal condition number of A in the 1-norm, 1 / (||A||_1 ||inv(A)||_1).
struct Condition {
  std::optional<double> rcond;  ///< LAPACK's gecon: seldom more than 3 times too large; absent if
                                ///< the factors cannot support it
  double at_most = 1;           ///< what holds nevertheless: a vector y with such an
                                ///< ||A y||_1 / (||A||_1 ||y||_1) is known
};

/// For A, n x n, by an inverse from factors whose unit round-off is eps: absent if it is below eps,
/// or if the inverse is too far from one of A. 1 for n = 0; 0 if A is zero; absent if A or a
/// product is not finite.
Condition estimate_condition(const MatrixView& a, double eps, const ApplyInverse& apply_inverse);

}  // namespace lugpu
