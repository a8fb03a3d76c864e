// L U X = B by blocks of NB rows, for devices whose work-items are CPU threads; a work-group is one
// work-item. LU is row-major, n x n; X, row-major and padded to whole strips, holds B first.
//
// Build options: those of tile_cpu.clh, and NB.

#include "tile_cpu.clh"

// X(k:k+rows, strip) = inv(L(k:k+rows, k:k+rows)) X(k:k+rows, strip), a strip for each work-group
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void forward_block(const __global real* lu, int pitch, __global real* x, int x_pitch, int k,
                   int rows) {
  const __global real* l = lu + (size_t)k * pitch + k;
  __global real* top = x + (size_t)k * x_pitch + get_group_id(0) * STRIP;
  for (int i = 1; i < rows; ++i) {
    subtract_row(l + (size_t)i * pitch, top, x_pitch, top + (size_t)i * x_pitch,
                 top + (size_t)i * x_pitch, i);
  }
}

// X(k:k+rows, strip) = inv(U(k:k+rows, k:k+rows)) X(k:k+rows, strip)
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void backward_block(const __global real* lu, int pitch, __global real* x, int x_pitch, int k,
                    int rows) {
  const __global real* u = lu + (size_t)k * pitch + k;
  __global real* top = x + (size_t)k * x_pitch + get_group_id(0) * STRIP;
  for (int i = rows - 1; i >= 0; --i) {
    __global real* row = top + (size_t)i * x_pitch;
    subtract_row(u + (size_t)i * pitch + i + 1, row + x_pitch, x_pitch, row, row, rows - i - 1);
    const real pivot = u[(size_t)i * pitch + i];
    for (int s = 0; s < STRIP; ++s) row[s] /= pivot;
  }
}

// X(first:last, :) -= LU(first:last, k:k+depth) X(k:k+depth, :), in blocks of block_rows x block_columns
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void subtract_block(const __global real* lu, int pitch, __global real* x, int x_pitch, int k,
                    int depth, int first, int last, int columns, int block_rows,
                    int block_columns) {
  const int top = first + get_group_id(0) * block_rows;
  const int left = get_group_id(1) * block_columns;
  const int strips = (min(block_columns, columns - left) + STRIP - 1) / STRIP;
  __global real* c = x + (size_t)top * x_pitch + left;
  subtract_products(min(block_rows, last - top), strips, lu + (size_t)top * pitch + k, pitch,
                    x + (size_t)k * x_pitch + left, x_pitch, STRIP, c, x_pitch, c, x_pitch, depth);
}
