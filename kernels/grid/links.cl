// The grids of multigrid (src/iterative/coarse_grids.hpp) for a conductivity on the device, where
// neither walls nor a shift hold anything: links, those beyond a wall 0, and 1 / the diagonals.

#define FIELD_PARAMETERS __global const real* restrict k
#define FIELD k
#define FIELD_VECTOR(row, column) LOAD_FROM(k + (row).at + (column))
#define FIELD_ELEMENT(row, column) k[(row).at + (column)]
#include "grid/between.clh"
#include "grid/cells.clh"

// The links of the finest grid, which are g.cx, g.cy, g.cz where the conductivity is 1; held = 1 at
// obstacles, which have the row of the identity.
__kernel WORK_GROUP void link_cells(
    FIELD_PARAMETERS, __global real* restrict held, __global real* restrict to_east,
    __global real* restrict to_south, __global real* restrict to_below, CELLS, int walk) {
  const cells_of g = CELLS_HERE;
  const int j = get_global_id(0) * PACK;
  for (int w = 0; w < walk; ++w) {
    const place_of at = place_of_row(MY_ROW(w), g.ny);
    if (at.z < g.nz && j < g.nx) {
      const row_of row = row_at(&g, at.y, at.z);
      const pack own = FIELD_VECTOR(row, j);
      STORE_TO(in_columns(j, g.nx, own > 0 ? (pack)0 : (pack)1), held + row.at + j);
      if (g.nx > 1) {
        pack east = FIELD_VECTOR(row, j + 1);
        const int last = g.nx - 1 - j;
        if (g.wraps_x && last < PACK) east = with_element(east, last, FIELD_ELEMENT(row, 0));
        STORE_TO(g.cx * between(own, east), to_east + row.at + j);
      }
      const int south = beside(at.y, g.ny, 1, g.wraps_y), below = beside(at.z, g.nz, 1, g.wraps_z);
      if (g.ny > 1 && south >= 0) {
        const pack next = FIELD_VECTOR(row_at(&g, south, at.z), j);
        STORE_TO(g.cy * between(own, next), to_south + row.at + j);
      }
      if (g.nz > 1 && below >= 0) {
        const pack next = FIELD_VECTOR(row_at(&g, at.y, below), j);
        STORE_TO(g.cz * between(own, next), to_below + row.at + j);
      }
    }
    IN_STEP;
  }
}

// The cells first : end along an axis of `count` that become one.
typedef struct {
  int first, end;
} range_of;

inline range_of part_of(int coarse, int count, int halve, int offset) {
  const range_of range = {
      max((coarse << halve) - offset, 0), min(((coarse + 1) << halve) - offset, count)};
  return range;
}

// The links of the coarse grid: those between the fine cells, times the ratio of the distances,
// which is ratios(x), ratios(nx + y), ratios(nx + ny + z) for the sizes of the coarse grid.
__kernel WORK_GROUP void link_coarse_cells(
    __global const real* restrict ratios, __global real* restrict to_east,
    __global real* restrict to_south, __global real* restrict to_below, CELLS, int walk) {
  const cells_of g = CELLS_HERE;
  const int nx = g.coarse_nx, ny = g.coarse_ny, first = get_global_id(0) * PACK;
  for (int w = 0; w < walk; ++w) {
    const place_of at = place_of_row(MY_ROW(w), ny);
    for (int i = first; at.z < g.coarse_nz && i < min(first + PACK, nx); ++i) {
      const range_of x = part_of(i, g.nx, g.sx, g.ox), y = part_of(at.y, g.ny, g.sy, g.oy);
      const range_of z = part_of(at.z, g.nz, g.sz, g.oz);
      real east = 0, south = 0, below = 0;
      for (int c = z.first; c < z.end; ++c) {
        for (int b = y.first; b < y.end; ++b) {
          const size_t row = row_at(&g, b, c).at;
          if (nx > 1) east += links_x[row + x.end - 1];
          for (int a = x.first; a < x.end; ++a) {
            if (ny > 1 && b == y.end - 1) south += links_y[row + a];
            if (g.coarse_nz > 1 && c == z.end - 1) below += links_z[row + a];
          }
        }
      }
      const size_t place = LEAD + (size_t)(at.y + ny * at.z) * g.coarse_pitch + i;
      if (nx > 1) to_east[place] = ratios[i] * east;
      if (ny > 1) to_south[place] = ratios[nx + at.y] * south;
      if (g.coarse_nz > 1) to_below[place] = ratios[nx + ny + at.z] * below;
    }
    IN_STEP;
  }
}

// inverse = 1 / the sum of a cell's links, 0 for none.
__kernel WORK_GROUP void invert_diagonal(__global real* restrict inverse, CELLS, int walk) {
  const cells_of g = CELLS_HERE;
  const int j = get_global_id(0) * PACK;
  for (int w = 0; w < walk; ++w) {
    const place_of at = place_of_row(MY_ROW(w), g.ny);
    if (at.z < g.nz && j < g.nx) {
      const size_t row = row_at(&g, at.y, at.z).at;
      pack west = LOAD_FROM(links_x + row + j - 1);  // 0 before a row
      if (g.wraps_x && j == 0) west = with_element(west, 0, links_x[row + g.nx - 1]);
      pack sum = west + LOAD_FROM(links_x + row + j);
      const int north = beside(at.y, g.ny, -1, g.wraps_y);
      const int above = beside(at.z, g.nz, -1, g.wraps_z);
      if (g.ny > 1) sum += LOAD_FROM(links_y + row + j);
      if (g.ny > 1 && north >= 0) sum += LOAD_FROM(links_y + row_at(&g, north, at.z).at + j);
      if (g.nz > 1) sum += LOAD_FROM(links_z + row + j);
      if (g.nz > 1 && above >= 0) sum += LOAD_FROM(links_z + row_at(&g, at.y, above).at + j);
      STORE_TO(in_columns(j, g.nx, sum > 0 ? 1 / sum : (pack)0), inverse + row + j);
    }
    IN_STEP;
  }
}
