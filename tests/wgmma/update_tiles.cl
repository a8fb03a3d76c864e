// A(i, j) -= sum over k of A(i, k) A(k, j) for rows row : row_end, columns column : column_end and
// k_first <= k < k_end, by tiles of 128 x 128, or 64 with NARROW_TILES.

#include "nvidia/tile.clh"
#include "nvidia/wgmma_tile.clh"

__kernel __attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1))) void update_tiles(
    __global float* a, int pitch, int row, int row_end, int column, int column_end, int k_first,
    int k_end) {
  __local ulong2 memory[LOCAL_BYTES_OF_TILE / 16 + 256] __attribute__((aligned(1024)));
  const int across = (column_end - column + TILE_COLUMNS - 1) / TILE_COLUMNS;
  const int tile = get_group_id(0);
  update_wgmma_tile(a, pitch, a, pitch, row + tile / across * 128,
                    column + tile % across * TILE_COLUMNS, row_end, column_end, k_first, k_end,
                    (__local char*)memory);
}
