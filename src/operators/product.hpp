// Products with a dense or sparse matrix on the host, in double: what residuals and estimates are
// made of.
#pragma once

#include "lugpu/options.hpp"
#include "matrix/matrix.hpp"
#include "matrix/sparse.hpp"

namespace lugpu {

/// op(A) X. a: any shape; x: as many rows as op(A) has columns.
Matrix multiply(const MatrixView& a, Op op, const Matrix& x);

/// B - A X. a: any number of rows.
Matrix residual(const MatrixView& a, const Matrix& x, Matrix b);

/// |A| |X| + |B|, element by element: the size of what the residual is the difference of.
Matrix residual_sizes(const MatrixView& a, const Matrix& x, const Matrix& b);

/// The same of a sparse matrix, in O(entries) time for each column of X. Only entries are
/// multiplied: NaN and infinity in X spread along them alone.
Matrix multiply(const Sparse& a, Op op, const Matrix& x);
Matrix residual(const Sparse& a, const Matrix& x, Matrix b);
Matrix residual_sizes(const Sparse& a, const Matrix& x, const Matrix& b);

}  // namespace lugpu
