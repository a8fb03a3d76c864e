// Scaling of a badly scaled system: LAPACK's geequ and laqge, with powers of two as in geequb, so
// that no digit changes.
#pragma once

#include <vector>

#include "dense/solver.hpp"

namespace lugpu {

/// Scales A to R A C, R = diag(r) and C = diag(c), whose rows and columns have largest elements
/// near 1. As constructed: R = C = I.
struct Equilibration {
  std::vector<double> r, c;  ///< n powers of two each; empty where that side needs no scaling
  double rowcnd = 1;         ///< smallest over largest r: rows need scaling below 0.1
  double colcnd = 1;         ///< likewise of c
  double amax = 0;           ///< max |a_ij|

  /// Whether laqge would scale: rows also if amax is near over- or underflow.
  bool helps() const { return !r.empty() || !c.empty(); }
  /// R A C.
  Matrix matrix(Matrix a) const;
  /// R B.
  Matrix right_hand_sides(Matrix b) const;
  /// X = C Y for the solution Y of (R A C) Y = R B.
  Matrix solution(Matrix y) const;
  /// inv(A) = C inv(R A C) R, from the inverse of R A C.
  Matrix inverse(Matrix of_scaled) const;
  /// The same; the Equilibration must outlive it.
  ApplyInverse inverse(ApplyInverse of_scaled) const;
};

/// R = s I, s a power of two, for an n x n matrix whose largest magnitude, amax, is so near the end
/// of the precision's range that pivots have no reciprocals or sums overflow: s moves it away.
/// No scaling for other matrices, nor for those that the precision cannot hold.
Equilibration into_range(std::size_t n, double amax, Precision precision);

/// For the n x n matrix A in a precision. No scaling if a row or column is zero or A is not finite.
Equilibration equilibration(const Matrix& a, Precision precision);

}  // namespace lugpu
