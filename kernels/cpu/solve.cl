// T X = B by blocks of NB rows, for devices whose work-items are CPU threads; a work-group is one
// work-item. T is a triangle of the row-major n x n matrix t, lower or upper; its diagonal is that
// of t, or (unit) ones. X, row-major and padded to whole strips, holds B first.
//
// Only a part of T need be there: the first element of t is T(t_top, t_left). X is columns x_first
// : x_first + columns of x, whole strips but for the last ones of x.
//
// Build options: those of cpu/tile.clh.

#include "cpu/tile.clh"
#include "cpu/unit_lower.clh"

// X(first:first+rows, strip) = inv(T(first:first+rows, first:first+rows)) X(first:first+rows,
// strip), a strip for each work-group; also left in V, strip after strip.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void solve_block(
    const __global real* t, int pitch, int t_top, int t_left, __global real* x, int x_pitch,
    int x_first, __global real* v, int first, int rows, int upper, int unit) {
  const __global real* diagonal = t + (size_t)(first - t_top) * pitch + first - t_left;
  __global real* top = x + (size_t)first * x_pitch + x_first + get_group_id(0) * STRIP;
  __global real* u = v + (size_t)get_group_id(0) * rows * STRIP;
  if (unit && !upper) {
    solve_strip(diagonal, pitch, top, x_pitch, u, STRIP, rows);
    return;
  }
  for (int step = 0; step < rows; ++step) {
    const int i = upper ? rows - 1 - step : step;
    const int solved = upper ? i + 1 : 0;  // the first row of those that are
    __global real* row = u + i * STRIP;
    subtract_row(diagonal + (size_t)i * pitch + solved, u + solved * STRIP, STRIP,
                 top + (size_t)i * x_pitch, row, step);
    const real pivot = unit ? 1 : diagonal[(size_t)i * pitch + i];
    for (int s = 0; s < STRIP; ++s) top[(size_t)i * x_pitch + s] = row[s] /= pivot;
  }
}

// X(first:last, :) -= T(first:last, k:k+depth) V, in blocks of block_rows x block_columns, with
// X(k:k+depth, :) in V.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void subtract_solved(
    const __global real* t, int pitch, int t_top, int t_left, __global real* x, int x_pitch,
    int x_first, const __global real* v, int columns, int k, int depth, int first, int last,
    int block_rows, int block_columns) {
  const int top = first + get_group_id(0) * block_rows;
  const int left = get_group_id(1) * block_columns;
  const int strips = (min(block_columns, columns - left) + STRIP - 1) / STRIP;
  __global real* c = x + (size_t)top * x_pitch + x_first + left;
  subtract_products(
      min(block_rows, last - top), strips, t + (size_t)(top - t_top) * pitch + k - t_left, pitch,
      v + (size_t)left * depth, STRIP, depth * STRIP, c, x_pitch, c, x_pitch, depth);
}

// X(first:last, :) -= T(first:last, k:k+depth) X(k:k+depth, :), in blocks of block_rows x
// block_columns
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void subtract_block(
    const __global real* t, int pitch, int t_top, int t_left, __global real* x, int x_pitch,
    int x_first, int columns, int k, int depth, int first, int last, int block_rows,
    int block_columns) {
  const int top = first + get_group_id(0) * block_rows;
  const int left = x_first + get_group_id(1) * block_columns;
  const int strips = (min(block_columns, x_first + columns - left) + STRIP - 1) / STRIP;
  __global real* c = x + (size_t)top * x_pitch + left;
  subtract_products(
      min(block_rows, last - top), strips, t + (size_t)(top - t_top) * pitch + k - t_left, pitch,
      x + (size_t)k * x_pitch + left, x_pitch, STRIP, c, x_pitch, c, x_pitch, depth);
}
