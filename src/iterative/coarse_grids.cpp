#include "iterative/coarse_grids.hpp"

#include <algorithm>
#include <utility>

namespace lugpu {
namespace {

using Place = std::array<std::size_t, 3>;

// Calls `use` with every cell: its number and its place.
template <typename Use>
void for_cells(const Place& size, Use&& use) {
  std::size_t i = 0;
  for (std::size_t z = 0; z < size[2]; ++z) {
    for (std::size_t y = 0; y < size[1]; ++y) {
      for (std::size_t x = 0; x < size[0]; ++x) use(i++, Place{x, y, z});
    }
  }
}

std::size_t number(const Place& size, const Place& at) {
  return at[0] + size[0] * (at[1] + size[1] * at[2]);
}

Place moved(Place at, int axis, std::size_t to) {
  at[axis] = to;
  return at;
}

// The cell's place among those of a wall across the axis.
std::size_t number_at_wall(const Place& size, const Place& at, int axis) {
  const int first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
  return at[first] + size[first] * at[second];
}

// Calls `use` with every cell, the next one of an axis and their link.
template <typename Use>
void for_links(const Cells& cells, Use&& use) {
  for_cells(cells.size, [&](std::size_t i, const Place& at) {
    for (int axis = 0; axis < 3; ++axis) {
      if (cells.size[axis] == 1) continue;
      const std::size_t next = at[axis] + 1 < cells.size[axis] ? at[axis] + 1 : 0;
      use(i, number(cells.size, moved(at, axis, next)), cells.links[axis][i]);
    }
  });
}

double centre(const Cells& cells, int axis, std::size_t at) {
  return (cells.edges[axis][at] + cells.edges[axis][at + 1]) / 2;
}

double distance_to_wall(const Cells& cells, int axis, int end) {
  const std::size_t last = cells.size[axis] - 1;
  return end == 0 ? centre(cells, axis, 0) - cells.walls[axis][0]
                  : cells.walls[axis][1] - centre(cells, axis, last);
}

double distance_to_next(const Cells& cells, int axis, std::size_t at) {
  const std::vector<double>& edges = cells.edges[axis];
  const bool last = at + 1 == cells.size[axis];
  const double beyond = last ? edges.back() - edges.front() : 0;
  return centre(cells, axis, last ? 0 : at + 1) + beyond - centre(cells, axis, at);
}

void allocate_links(Cells& cells) {
  cells.rest.assign(cells.count(), 0.0);
  for (int axis = 0; axis < 3; ++axis) {
    if (cells.size[axis] > 1) cells.links[axis].assign(cells.count(), 0.0);
    for (auto& links : cells.wall_links[axis]) {
      links.assign(cells.count() / cells.size[axis], 0.0);
    }
  }
}

}  // namespace

Cells cells_of(const Grid& grid) {
  Cells cells;
  cells.size = grid.size;
  for (int axis = 0; axis < 3; ++axis) {
    const std::size_t count = grid.size[axis];
    cells.periodic[axis] = grid.walls[axis] == Wall::periodic;
    const double distance = grid.walls[axis] == Wall::dirichlet_half ? 0.5 : 1;
    cells.walls[axis] = {-distance, static_cast<double>(count) - 1 + distance};
    cells.strength[axis] = count > 1 ? grid.coefficients[axis] : 0;
    for (std::size_t i = 0; i <= count; ++i) {
      cells.edges[axis].push_back(static_cast<double>(i) - 0.5);
    }
  }
  allocate_links(cells);
  std::fill(cells.rest.begin(), cells.rest.end(), grid.shift);
  const std::vector<double>& k = grid.conductivity;
  for_cells(grid.size, [&](std::size_t i, const Place& at) {
    const double own = k.empty() ? 1 : k[i];
    for (int axis = 0; axis < 3; ++axis) {
      const std::size_t count = grid.size[axis];
      const double c = grid.coefficients[axis];
      const bool half = grid.walls[axis] == Wall::dirichlet_half;
      const double to_wall =
          is_dirichlet(grid.walls[axis]) ? (half ? 2 : 1) * c * between(own, own) : 0;
      const std::size_t face = number_at_wall(grid.size, at, axis);
      if (at[axis] == 0) cells.wall_links[axis][0][face] = to_wall;
      if (at[axis] + 1 == count) cells.wall_links[axis][1][face] = to_wall;
      const std::size_t next = beside(at[axis], count, 1, grid.walls[axis]);
      if (next == count || next == at[axis]) continue;
      const std::size_t j = number(grid.size, moved(at, axis, next));
      cells.links[axis][i] = c * between(own, k.empty() ? 1 : k[j]);
    }
  });
  return cells;
}

std::vector<double> held_at_zero(const Cells& cells) {
  std::vector<double> sums = cells.rest;
  for_cells(cells.size, [&](std::size_t i, const Place& at) {
    for (int axis = 0; axis < 3; ++axis) {
      const std::size_t face = number_at_wall(cells.size, at, axis);
      if (at[axis] == 0) sums[i] += cells.wall_links[axis][0][face];
      if (at[axis] + 1 == cells.size[axis]) sums[i] += cells.wall_links[axis][1][face];
    }
  });
  return sums;
}

std::vector<double> diagonal(const Cells& cells) {
  std::vector<double> sums = held_at_zero(cells);
  for_links(cells, [&](std::size_t i, std::size_t j, double link) {
    sums[i] += link;
    sums[j] += link;
  });
  return sums;
}

bool are_alike(const Cells& cells) {
  for (const std::vector<double>& edges : cells.edges) {
    for (std::size_t i = 1; i < edges.size(); ++i) {
      if (edges[i] - edges[i - 1] != edges[1] - edges[0]) return false;
    }
  }
  return true;
}

Coarsening coarsening_of(const Cells& cells) {
  constexpr double kAsStrong = 0.3;
  const double most = *std::max_element(cells.strength.begin(), cells.strength.end());
  Coarsening how;
  for (int axis = 0; axis < 3; ++axis) {
    const std::size_t count = cells.size[axis];
    how.axes[axis] = cells.strength[axis] > 0 && cells.strength[axis] >= kAsStrong * most;
    const std::vector<double>& edges = cells.edges[axis];
    const bool first_is_larger = edges[1] - edges[0] > edges[count] - edges[count - 1];
    how.offset[axis] = how.axes[axis] && count % 2 == 1 && first_is_larger ? 1 : 0;
  }
  return how;
}

std::vector<double> ratios_of_distances(const Cells& fine, const Coarsening& how,
                                        const Cells& coarse, int axis) {
  std::vector<double> ratios(coarse.size[axis]);
  for (std::size_t i = 0; i < fine.size[axis]; ++i) {
    const std::size_t to = how.parent(axis, i);  // the last one of them counts
    ratios[to] = distance_to_next(fine, axis, i) / distance_to_next(coarse, axis, to);
  }
  return ratios;
}

Cells coarser(const Cells& fine, const Coarsening& how) {
  Cells coarse;
  coarse.periodic = fine.periodic;
  coarse.walls = fine.walls;
  for (int axis = 0; axis < 3; ++axis) {
    const std::size_t count = fine.size[axis];
    coarse.size[axis] = how.parent(axis, count - 1) + 1;
    coarse.edges[axis].push_back(fine.edges[axis][0]);
    for (std::size_t i = 1; i < count; ++i) {
      if (how.parent(axis, i) == how.parent(axis, i - 1)) continue;
      coarse.edges[axis].push_back(fine.edges[axis][i]);
    }
    coarse.edges[axis].push_back(fine.edges[axis][count]);
    coarse.strength[axis] =
        coarse.size[axis] == 1 ? 0 : fine.strength[axis] / (how.axes[axis] ? 4 : 1);
  }
  allocate_links(coarse);
  std::array<std::vector<double>, 3> ratios;
  for (int axis = 0; axis < 3; ++axis) ratios[axis] = ratios_of_distances(fine, how, coarse, axis);
  for_cells(fine.size, [&](std::size_t i, const Place& at) {
    const Place to = {how.parent(0, at[0]), how.parent(1, at[1]), how.parent(2, at[2])};
    const std::size_t j = number(coarse.size, to);
    coarse.rest[j] += fine.rest[i];
    for (int axis = 0; axis < 3; ++axis) {
      for (const int end : {0, 1}) {
        if (at[axis] != (end == 0 ? 0 : fine.size[axis] - 1)) continue;
        coarse.wall_links[axis][end][number_at_wall(coarse.size, to, axis)] +=
            fine.wall_links[axis][end][number_at_wall(fine.size, at, axis)] *
            distance_to_wall(fine, axis, end) / distance_to_wall(coarse, axis, end);
      }
      if (coarse.size[axis] == 1) continue;
      const std::size_t next = at[axis] + 1 < fine.size[axis] ? at[axis] + 1 : 0;
      if (how.parent(axis, next) == to[axis]) continue;
      coarse.links[axis][j] += fine.links[axis][i] * ratios[axis][to[axis]];
    }
  });
  return coarse;
}

std::vector<std::vector<std::int32_t>> floating_parts(const Grid& grid) {
  if (grid.shift != 0) return {};
  for (int axis = 0; axis < 3 && grid.conductivity.empty(); ++axis) {
    if (is_dirichlet(grid.walls[axis]) && grid.coefficients[axis] > 0) return {};
  }
  const Cells cells = cells_of(grid);
  std::vector<bool> seen(cells.count(), false);
  std::vector<std::vector<std::int32_t>> parts;
  for (std::size_t start = 0; start < cells.count(); ++start) {
    if (seen[start] || (!grid.conductivity.empty() && grid.conductivity[start] == 0)) continue;
    bool held = false;
    std::vector<std::int32_t> part = {static_cast<std::int32_t>(start)};
    seen[start] = true;
    for (std::size_t next = 0; next < part.size(); ++next) {
      const auto i = static_cast<std::size_t>(part[next]);
      const Place at = {i % grid.size[0], i / grid.size[0] % grid.size[1],
                        i / (grid.size[0] * grid.size[1])};
      for (int axis = 0; axis < 3; ++axis) {
        const std::size_t count = grid.size[axis];
        const std::size_t face = number_at_wall(grid.size, at, axis);
        held = held || (at[axis] == 0 && cells.wall_links[axis][0][face] != 0) ||
               (at[axis] + 1 == count && cells.wall_links[axis][1][face] != 0);
        if (count == 1) continue;
        for (const int step : {-1, 1}) {
          const std::size_t place = beside(at[axis], count, step, Wall::periodic);
          const std::size_t j = number(grid.size, moved(at, axis, place));
          if (seen[j] || cells.links[axis][step > 0 ? i : j] == 0) continue;
          seen[j] = true;
          part.push_back(static_cast<std::int32_t>(j));
        }
      }
    }
    if (held) continue;
    std::sort(part.begin(), part.end());
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace lugpu
