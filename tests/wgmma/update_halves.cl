// update_tiles.cl's update with L and U in halves, as nvidia/split_operands.cl has left them, and
// the interchanges of a panel in these.

#include "nvidia/halves_layout.clh"
#include "nvidia/halves_rows.clh"
#include "nvidia/halves_tile.clh"

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void update_halves(
    __global float* a, int pitch, int row, int row_end, int column, int column_end, int chunks,
    split_block split, __global const uchar* halves) {
  __local ulong2 memory[HALVES_LOCAL_BYTES / 16] __attribute__((aligned(1024)));
  const int across = (column_end - column + 127) / 128, tile = get_group_id(0);
  update_halves_tile(split, halves, a, pitch, row + tile / across * 128,
                     column + tile % across * 128, row_end, column_end, chunks,
                     (__local char*)memory);
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void exchange_rows(
    int panel, int width, __global const int* row_for, __global const int* row_goes_to,
    split_block split, __global uchar* halves) {
  exchange_halves(panel, width, get_group_id(0), row_for, row_goes_to, split, halves);
}
