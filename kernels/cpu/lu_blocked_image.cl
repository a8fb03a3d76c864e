// The update of blocked LU from one surface to another (dense/lu_blocked_image.cl), for devices
// whose work-items are CPU threads; a work-group is one work-item.
//
// Build options: those of cpu/tile.clh; NB, columns of the panel; TILE_ROWS and TILE_COLUMNS, of a
// tile that stays in the caches, whole multiples of ROWS and STRIP.

#include "cpu/tile.clh"

// target(i, j) = source(from(i), j) - L(i, k:k+NB) U(k:k+NB, j) for the rows and columns after the
// panel; from(i) is the row that the panel's interchanges bring to row i: rows k : k+NB go to
// row_goes_to. A work-group has one of `tiles` for all tiles of C that it takes.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void update(
    SOURCE(source), TARGET(target), const __global real* lu, int pitch, __global real* tiles,
    const __global int* row_goes_to, int k, int n) {
  const int first = k + NB;
  const int across = (n - first + TILE_COLUMNS - 1) / TILE_COLUMNS;
  const int down = (n - first + TILE_ROWS - 1) / TILE_ROWS;
  __global real* tile = tiles + (size_t)get_group_id(0) * TILE_ROWS * TILE_COLUMNS;
  for (int place = get_group_id(0); place < across * down; place += get_num_groups(0)) {
    const int top = first + place / across * TILE_ROWS,
              left = first + place % across * TILE_COLUMNS;
    const int rows = min(TILE_ROWS, n - top), columns = min(TILE_COLUMNS, n - left);
    int from[TILE_ROWS];
    for (int i = 0; i < TILE_ROWS; ++i) from[i] = top + i;
    for (int q = 0; q < NB; ++q) {
      const int i = row_goes_to[q] - top;
      if (i >= 0 && i < TILE_ROWS) from[i] = k + q;
    }
    for (int i = 0; i < rows; ++i) {
      __global pack* row = (__global pack*)(tile + i * TILE_COLUMNS);
      for (int t = 0; t * PACK < columns; ++t) row[t] = LOAD_PACK(source, from[i], left / PACK + t);
    }
    subtract_products(
        rows, (columns + STRIP - 1) / STRIP, lu + (size_t)top * pitch + k, pitch,
        lu + (size_t)k * pitch + left, pitch, STRIP, tile, TILE_COLUMNS, tile, TILE_COLUMNS, NB);
    for (int i = 0; i < rows; ++i) {
      const __global pack* row = (const __global pack*)(tile + i * TILE_COLUMNS);
      for (int t = 0; t * PACK < columns; ++t) STORE_PACK(target, top + i, left / PACK + t, row[t]);
    }
  }
}
