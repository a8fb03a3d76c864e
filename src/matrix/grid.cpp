#include "matrix/grid.hpp"

namespace lugpu {

std::size_t beside(std::size_t at, std::size_t count, int step, Wall wall) {
  const bool inside = step > 0 ? at + 1 < count : at > 0;
  if (inside) return step > 0 ? at + 1 : at - 1;
  if (wall == Wall::periodic) return step > 0 ? 0 : count - 1;
  return wall == Wall::neumann ? at : count;
}

Matrix multiply(const Grid& grid, const Matrix& x) {
  Matrix y(x.rows(), x.cols());
  const auto [nx, ny, nz] = grid.size;
  const std::size_t strides[] = {1, nx, nx * ny};
  for (std::size_t j = 0; j < x.cols(); ++j) {
    const double* u = x.column(j);
    for (std::size_t i = 0; i < grid.unknowns(); ++i) {
      const std::size_t places[] = {i % nx, i / nx % ny, i / (nx * ny)};
      double sum = grid.shift * u[i];
      for (int axis = 0; axis < 3; ++axis) {
        for (const int step : {-1, 1}) {
          const std::size_t next = beside(places[axis], grid.size[axis], step, grid.walls[axis]);
          const std::size_t origin = i - places[axis] * strides[axis];
          const double other = next == grid.size[axis] ? 0 : u[origin + next * strides[axis]];
          sum += grid.coefficients[axis] * (u[i] - other);
        }
      }
      y(i, j) = sum;
    }
  }
  return y;
}

}  // namespace lugpu
