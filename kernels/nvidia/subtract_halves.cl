// A(i, j) -= sum over k of L(i, k) U(k, j) for rows row : row_end and columns column : column_end
// of A, with L and U in halves, as nvidia/split_operands.cl has left them: a work-group for each
// tile. The host has to patch the program (src/opencl/patched_program.hpp).
//
// Build option: HALVES, 1 or 2.

#include "gpu/tile_order.clh"
#include "nvidia/halves_layout.clh"
#include "nvidia/halves_tile.clh"

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void subtract_halves(
    __global float* restrict a, int pitch, int row, int row_end, int column, int column_end,
    int chunks, split_block split, __global const uchar* restrict halves) {
  __local ulong2 memory[WGMMA_PLACEHOLDER_BYTES / 16] __attribute__((aligned(1024)));
  update_halves_tile(split, halves, a, pitch, get_group_id(0), row, column, row_end, column_end,
                     chunks, (__local char*)memory);
}
