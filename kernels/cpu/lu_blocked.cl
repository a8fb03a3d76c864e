// Blocked LU for devices whose work-items are CPU threads; a work-group is one work-item.
//
// The matrix A is row-major, in place. W holds the factored panel; U(k:k+NB, :), which the update
// reads, is kept in strips of two vectors in a workspace V. Rows of A are padded to whole strips;
// what is in the padding is never used for anything else.
//
// Build options: those of cpu/tile.clh, and NB, columns of a panel, a multiple of STRIP.

#include "cpu/tile.clh"
#include "cpu/panel.clh"

// A(k:k+rows, k:k+width) = W(0:rows, 0:width)
inline void store_panel(__global real* a, int pitch, const __global real* w, int k, int rows,
                        int width) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < width; ++j) {
      a[(size_t)(k + i) * pitch + k + j] = w[(size_t)i * NB + j];
    }
  }
}

// Panel k, all of whose columns are up to date: A(k:m, k:k+width) = L U, also left in W.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void factor_columns(
    __global real* a, int pitch, __global real* w, __global int* ipiv, __global int* info, int k,
    int m, int width, int pivoted) {
  const int rows = m - k;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < width; ++j) w[(size_t)i * NB + j] = a[(size_t)(k + i) * pitch + k + j];
  }
  factor_panel(w, rows, width, pivoted, k, ipiv, info);
  store_panel(a, pitch, w, k, rows, width);
}

// Panel k to the other columns of A, of which a work-group takes `columns`, the ones left of the
// panel first: the row interchanges of its `steps` pivots for all of them, and for those right
// of it
//   A(k:k+steps, :) = inv(L11) A(k:k+steps, :),
// also left in V.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void exchange_and_solve(
    __global real* a, int pitch, const __global real* w, __global real* v, const __global int* ipiv,
    int k, int steps, int n, int columns, int pivoted) {
  const int left_groups = (k + columns - 1) / columns;
  const int group = get_group_id(0);
  const bool right = group >= left_groups;
  const int begin = right ? k + NB + (group - left_groups) * columns : group * columns;
  const int end = right ? min(begin + columns, n) : min(begin + columns, k);
  const int vectors = (end - begin + STRIP - 1) / STRIP * 2;
  for (int j = 0; pivoted && j < steps; ++j) {
    const int p = ipiv[k + j];
    __global real* start = a + begin;
    if (p != k + j) exchange(start + (size_t)(k + j) * pitch, start + (size_t)p * pitch, vectors);
  }
  if (!right) return;
  for (int c = begin; c < end; c += STRIP) {
    __global real* u = v + (size_t)(c / STRIP) * NB * STRIP;
    for (int i = 0; i < steps; i += ROWS) {
      const int rows = min(ROWS, steps - i);
      __global real* top = a + (size_t)(k + i) * pitch + c;
      subtract_products(
          rows, 1, w + (size_t)i * NB, NB, u, STRIP, 0, top, pitch, u + i * STRIP, STRIP, i);
      for (int r = 0; r < rows; ++r) {
        __global vec* row = (__global vec*)(u + (i + r) * STRIP);
        vec sum0 = row[0], sum1 = row[1];
        for (int q = 0; q < r; ++q) {
          const vec factor = (vec)(-w[(size_t)(i + r) * NB + i + q]);
          const __global vec* solved = (const __global vec*)(u + (i + q) * STRIP);
          sum0 = fma(factor, solved[0], sum0);
          sum1 = fma(factor, solved[1], sum1);
        }
        row[0] = sum0;
        row[1] = sum1;
        __global vec* result = (__global vec*)(top + (size_t)r * pitch);
        result[0] = sum0;
        result[1] = sum1;
      }
    }
  }
}

// A(k+NB:m, k+NB:n) -= L21 U12, from W and V, in blocks of block_rows x block_columns; and
// meanwhile the first work-group, which takes the next panel's columns, factors that panel in
// W_next.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void update_and_factor(
    __global real* a, int pitch, const __global real* w, const __global real* v,
    __global real* w_next, __global int* ipiv, __global int* info, int k, int m, int n,
    int next_width, int block_rows, int block_columns, int pivoted) {
  const int next = k + NB;
  const __global real* l21 = w + (size_t)NB * NB;
  if (get_group_id(0) == 0) {
    const int rows = m - next;
    const int strips = (next_width + STRIP - 1) / STRIP;
    subtract_products(rows, strips, l21, NB, v + (size_t)next * NB, STRIP, NB * STRIP,
                      a + (size_t)next * pitch + next, pitch, w_next, NB, NB);
    factor_panel(w_next, rows, next_width, pivoted, next, ipiv, info);
    store_panel(a, pitch, w_next, next, rows, next_width);
    return;
  }
  const int right = next + NB;
  const int row_blocks = (m - next + block_rows - 1) / block_rows;
  const int block = get_group_id(0) - 1;
  const int top = next + block % row_blocks * block_rows;
  const int left = right + block / row_blocks * block_columns;
  const int rows = min(block_rows, m - top);
  const int strips = (min(block_columns, n - left) + STRIP - 1) / STRIP;
  __global real* c = a + (size_t)top * pitch + left;
  subtract_products(rows, strips, w + (size_t)(top - k) * NB, NB, v + (size_t)left * NB, STRIP,
                    NB * STRIP, c, pitch, c, pitch, NB);
}
