#include "matrix/matrix.hpp"

#include "base/parallel.hpp"

namespace lugpu {

Matrix widened(const MatrixView& from) {
  Matrix to(from.rows(), from.cols());
  from.visit([&](const auto& view) {
    in_parallel(to.cols(), to.rows() * sizeof(double), [&](std::size_t j) {
      for (std::size_t i = 0; i < to.rows(); ++i) to(i, j) = view(i, j);
    });
  });
  return to;
}

}  // namespace lugpu
