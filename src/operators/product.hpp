// Products with a dense matrix on the host, in double: what residuals and estimates are made of.
#pragma once

#include "lugpu/options.hpp"
#include "matrix/matrix.hpp"

namespace lugpu {

/// op(A) X. a: any shape; x: as many rows as op(A) has columns.
Matrix multiply(const MatrixView& a, Op op, const Matrix& x);

/// B - A X. a: any number of rows.
Matrix residual(const MatrixView& a, const Matrix& x, Matrix b);

/// |A| |X| + |B|, element by element: the size of what the residual is the difference of.
Matrix residual_sizes(const MatrixView& a, const Matrix& x, const Matrix& b);

}  // namespace lugpu
