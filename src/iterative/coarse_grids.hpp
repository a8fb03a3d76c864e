// The grids of a multigrid method, finite volumes of finite volumes, on the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix/grid.hpp"

namespace lugpu {

/// The matrix of a grid as finite volumes: each cell exchanges links x difference with its six
/// neighbours and the walls, so that row i is
///   (A u)_i = rest_i u_i + sum of walls u_i + sum over the neighbours j of link_ij (u_i - u_j).
/// Cell (x, y, z) is number x + nx (y + ny z).
struct Cells {
  std::array<std::size_t, 3> size;
  std::array<bool, 3> periodic;
  /// What bounds the cells of an axis, in steps of the finest grid: size + 1 places.
  std::array<std::vector<double>, 3> edges;
  /// Where the walls of an axis are, on the same scale.
  std::array<std::array<double, 2>, 3> walls;
  /// Of every cell and the next one of the axis, the first one after the last if it is periodic;
  /// empty for an axis of one cell.
  std::array<std::vector<double>, 3> links;
  /// Of the cells beside the two walls of an axis and those walls; numbered without that axis.
  std::array<std::array<std::vector<double>, 2>, 3> wall_links;
  /// What else stands in the diagonal.
  std::vector<double> rest;
  /// How strongly neighbours along an axis hold each other; 0 for an axis of one cell.
  std::array<double, 3> strength;

  std::size_t count() const { return size[0] * size[1] * size[2]; }
};

/// Those of A, but that the rows of obstacles are zero.
Cells cells_of(const Grid& grid);

/// What holds cells at zero, the rest and the links with walls.
std::vector<double> held_at_zero(const Cells& cells);

/// The diagonal of their matrix.
std::vector<double> diagonal(const Cells& cells);

/// Whether all cells have the same size, so that links differ from axis to axis alone where the
/// grid has no conductivity.
bool are_alike(const Cells& cells);

/// Which cells become one: two neighbours along each of `axes`, 2 i - offset and 2 i + 1 - offset,
/// where they exist.
struct Coarsening {
  std::array<bool, 3> axes = {};
  std::array<std::size_t, 3> offset = {};

  bool any() const { return axes[0] || axes[1] || axes[2]; }
  std::size_t parent(int axis, std::size_t place) const {
    return axes[axis] ? (place + offset[axis]) / 2 : place;
  }
};

/// The axes along which neighbours hold each other about as strongly as along any. Where an axis
/// has an odd number of cells, the larger one of the two at its ends stays alone, so that cells
/// stay of similar size.
Coarsening coarsening_of(const Cells& cells);

/// Of every coarse cell along an axis: the distance of the fine cells on both sides of its end over
/// that of the coarse ones.
std::vector<double> ratios_of_distances(const Cells& fine, const Coarsening& how,
                                        const Cells& coarse, int axis);

/// The matrix of the coarse cells: their links are those of the fine cells between them, times the
/// ratio of the distances.
Cells coarser(const Cells& fine, const Coarsening& how);

/// The parts of a grid, as lists of their cells, on which A is singular: cells that are linked with
/// one another, and with no wall and no shift.
std::vector<std::vector<std::int32_t>> floating_parts(const Grid& grid);

}  // namespace lugpu
