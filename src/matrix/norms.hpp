// Norms of host matrices. NaN is propagated, where a comparison or std::max would lose it.
#pragma once

#include "matrix/matrix.hpp"
#include "matrix/sparse.hpp"

namespace lugpu {

/// The larger of the two, NaN if one is NaN.
double larger(double a, double b);

/// ||A||_1, the largest column sum of magnitudes; 0 for an empty matrix; NaN if any element is NaN.
double norm_1(const MatrixView& a);
/// ||A||_inf, the largest row sum of magnitudes.
double norm_inf(const MatrixView& a);
/// max |a_ij|.
double norm_max(const MatrixView& a);

/// The same of a sparse matrix, in O(entries + rows + cols) time.
double norm_1(const Sparse& a);
double norm_inf(const Sparse& a);
double norm_max(const Sparse& a);

/// ||a(:, j)||_1 and max |a(:, j)|.
double column_norm_1(const Matrix& a, std::size_t j);
double column_norm_max(const Matrix& a, std::size_t j);

}  // namespace lugpu
