// Scaling of a badly scaled system: LAPACK's geequ and laqge, with powers of two as in geequb, so
// that no digit changes.
#pragma once

#include "dense/factorization.hpp"
#include "lugpu/solve.hpp"

namespace lugpu {

/// For the n x n matrix A in a precision, whose rows and columns then have largest elements near 1.
/// No scaling if laqge would not scale (rows are scaled also if amax is near over- or underflow),
/// if a row or column is zero or A is not finite. amax: max |a_ij|.
Scaling equilibration(const MatrixView& a, double amax, Precision precision);

/// Whether factors in single precision would lose digits of A without this scaling, which
/// equilibration() advised, because rows or columns are beyond its range; with half_products beyond
/// that of half precision.
bool is_needed(const Scaling& advice, bool half_products);

/// R = s I, s a power of two, for an n x n matrix whose largest magnitude, amax, is so near the end
/// of the precision's range that pivots have no reciprocals or sums overflow: s moves it away.
/// No scaling for other matrices, nor for those that the precision cannot hold.
Scaling into_range(std::size_t n, double amax, Precision precision);

/// R A C.
Matrix scaled_matrix(const Scaling& scaling, const MatrixView& a);
/// R B.
Matrix scaled_right_hand_sides(const Scaling& scaling, const MatrixView& b);
/// Y becomes X = C Y for the solution Y of (R A C) Y = R B.
template <typename T>
void unscale_solution(const Scaling& scaling, View<T> y);
/// The inverse of R A C becomes inv(A) = C inv(R A C) R.
void unscale_inverse(const Scaling& scaling, Matrix& inverse);
/// The same; the scaling must outlive it.
ApplyInverse unscaled_inverse(const Scaling& scaling, ApplyInverse of_scaled);

}  // namespace lugpu
