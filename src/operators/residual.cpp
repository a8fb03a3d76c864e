#include "operators/residual.hpp"

#include "operators/product.hpp"

namespace lugpu {

Residual host_residual(const MatrixView& a) {
  return [a](const Matrix& x, const Matrix& b) { return residual(a, x, b); };
}

}  // namespace lugpu
