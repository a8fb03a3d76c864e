#include "matrix/grid.hpp"

#include "base/parallel.hpp"

namespace lugpu {

std::size_t beside(std::size_t at, std::size_t count, int step, Wall wall) {
  const bool inside = step > 0 ? at + 1 < count : at > 0;
  if (inside) return step > 0 ? at + 1 : at - 1;
  if (wall == Wall::periodic) return step > 0 ? 0 : count - 1;
  return wall == Wall::neumann ? at : count;
}

namespace {

// Calls `use` with every neighbour j of unknown i and the coefficient c of its term c (u_i - u_j);
// j = unknowns() for the zero beyond a Dirichlet wall.
template <typename Use>
void for_neighbours(const Grid& grid, std::size_t i, Use&& use) {
  const auto [nx, ny, nz] = grid.size;
  const std::size_t strides[] = {1, nx, nx * ny};
  const std::size_t places[] = {i % nx, i / nx % ny, i / (nx * ny)};
  const std::vector<double>& k = grid.conductivity;
  for (int axis = 0; axis < 3; ++axis) {
    for (const int step : {-1, 1}) {
      const std::size_t next = beside(places[axis], grid.size[axis], step, grid.walls[axis]);
      const bool wall = next == grid.size[axis];
      const std::size_t j =
          wall ? grid.unknowns() : i - places[axis] * strides[axis] + next * strides[axis];
      const double distance = wall && grid.walls[axis] == Wall::dirichlet_half ? 0.5 : 1;
      const double factor = k.empty() ? 1 : between(k[i], wall ? k[i] : k[j]);
      use(j, grid.coefficients[axis] * factor / distance);
    }
  }
}

// An obstacle's own equation, u = b, where nothing else stands in its row.
bool is_identity_row(const Grid& grid, std::size_t i) {
  return grid.shift == 0 && !grid.conductivity.empty() && grid.conductivity[i] == 0;
}

}  // namespace

std::size_t bandwidth(const Grid& grid) {
  std::size_t stride = 1, largest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const std::size_t size = grid.size[axis];
    if (grid.coefficients[axis] != 0 && size > 1) {
      largest =
          std::max(largest, grid.walls[axis] == Wall::periodic ? stride * (size - 1) : stride);
    }
    stride *= size;
  }
  return largest;
}

std::vector<double> diagonal(const Grid& grid) {
  std::vector<double> values(grid.unknowns());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = is_identity_row(grid, i) ? 1 : grid.shift;
    for_neighbours(grid, i, [&](std::size_t j, double c) { values[i] += j == i ? 0 : c; });
  }
  return values;
}

Matrix multiply(const Grid& grid, const Matrix& x) {
  Matrix y(x.rows(), x.cols());
  const std::size_t nx = grid.size[0], lines = grid.size[1] * grid.size[2];
  for (std::size_t column = 0; column < x.cols(); ++column) {
    const double* u = x.column(column);
    double* product = y.column(column);
    in_parallel(lines, nx * 8 * sizeof(double), [&](std::size_t line) {
      for (std::size_t i = line * nx; i < (line + 1) * nx; ++i) {
        double sum = (is_identity_row(grid, i) ? 1 : grid.shift) * u[i];
        for_neighbours(grid, i, [&](std::size_t j, double c) {
          sum += c * (u[i] - (j == grid.unknowns() ? 0 : u[j]));
        });
        product[i] = sum;
      }
    });
  }
  return y;
}

Sparse sparse(const Grid& grid) {
  const std::vector<double> on_diagonal = diagonal(grid);
  std::vector<Triplet> triplets;
  triplets.reserve(7 * grid.unknowns());
  for (std::size_t i = 0; i < grid.unknowns(); ++i) {
    const auto row = static_cast<std::int32_t>(i);
    triplets.push_back({row, row, on_diagonal[i]});
    for_neighbours(grid, i, [&](std::size_t j, double c) {
      if (j != i && j != grid.unknowns() && c != 0) {
        triplets.push_back({row, static_cast<std::int32_t>(j), -c});
      }
    });
  }
  return Sparse(grid.unknowns(), grid.unknowns(), std::move(triplets));
}

}  // namespace lugpu
