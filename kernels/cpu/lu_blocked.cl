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

// One more of the `pieces` of the panel W is up to date. Who brought the last one factors it.
inline void finish_piece(__global real* a, int pitch, __global real* w, __global int* ipiv,
                         __global int* info, int k, int rows, int width, int pivoted, int pieces,
                         volatile __global int* work) {
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  if (atomic_inc(work + PANEL_PIECES) + 1 < pieces) return;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  factor_panel(w, rows, width, pivoted, k, ipiv, info, work);
  store_panel(a, pitch, w, k, rows, width);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  work[PANEL_DONE] = 1;
}

// Panel k, all of whose columns are up to date: A(k:m, k:k+width) = L U, also left in W.
inline void factor_first(__global real* a, int pitch, __global real* w, __global int* ipiv,
                         __global int* info, int k, int m, int width, int pivoted,
                         volatile __global int* work) {
  const int rows = m - k, height = rows_of_part(rows);
  const int pieces = (rows + height - 1) / height;
  for (int piece; (piece = atomic_inc(work + NEXT_PIECE)) < pieces;) {
    for (int i = piece * height; i < min((piece + 1) * height, rows); ++i) {
      for (int j = 0; j < width; ++j) w[(size_t)i * NB + j] = a[(size_t)(k + i) * pitch + k + j];
    }
    finish_piece(a, pitch, w, ipiv, info, k, rows, width, pivoted, pieces, work);
  }
  while (!work[PANEL_DONE]) help(w, rows, work);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void factor_columns(
    __global real* a, int pitch, __global real* w, __global int* ipiv, __global int* info, int k,
    int m, int width, int pivoted, volatile __global int* work) {
  factor_first(a, pitch, w, ipiv, info, k, m, width, pivoted, work);
  leave(work, 1);
}

// Panel k to a group of `columns` of the other columns of A, the ones left of the panel first: the
// row interchanges of its `steps` pivots for all of them, and for those right of it
//   A(k:k+steps, :) = inv(L11) A(k:k+steps, :),
// also left in V.
inline void exchange_and_solve_group(
    __global real* a, int pitch, const __global real* w, __global real* v, const __global int* ipiv,
    int k, int steps, int n, int columns, int pivoted, int group) {
  const int left_groups = (k + columns - 1) / columns;
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

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void exchange_and_solve(
    __global real* a, int pitch, const __global real* w, __global real* v, const __global int* ipiv,
    int k, int steps, int n, int columns, int pivoted) {
  exchange_and_solve_group(a, pitch, w, v, ipiv, k, steps, n, columns, pivoted, get_group_id(0));
}

// A(k+NB:m, k+NB:n) -= L21 U12, from W and V, in blocks of block_rows x block_columns, the next
// panel's columns first; and as soon as these are up to date, that panel is factored in W_next.
inline void update_and_factor(
    __global real* a, int pitch, const __global real* w, const __global real* v,
    __global real* w_next, __global int* ipiv, __global int* info, int k, int m, int n,
    int next_width, int block_rows, int block_columns, int pivoted, volatile __global int* work) {
  const int next = k + NB, right = next + NB, rows = m - next;
  const int height = rows_of_part(rows);
  const int pieces = next_width > 0 ? (rows + height - 1) / height : 0;
  const int row_blocks = (rows + block_rows - 1) / block_rows;
  const int blocks = max(n - right + block_columns - 1, 0) / block_columns * row_blocks;
  for (;;) {
    while (help(w_next, rows, work)) {
    }
    const int piece = atomic_inc(work + NEXT_PIECE);
    if (piece < pieces) {
      const int top = piece * height;
      const int strips = (next_width + STRIP - 1) / STRIP;
      subtract_products(
          min(height, rows - top), strips, w + (size_t)(NB + top) * NB, NB, v + (size_t)next * NB,
          STRIP, NB * STRIP, a + (size_t)(next + top) * pitch + next, pitch,
          w_next + (size_t)top * NB, NB, NB);
      finish_piece(a, pitch, w_next, ipiv, info, next, rows, next_width, pivoted, pieces, work);
      continue;
    }
    const int block = piece - pieces;
    if (block >= blocks) break;
    const int top = next + block % row_blocks * block_rows;
    const int left = right + block / row_blocks * block_columns;
    const int strips = (min(block_columns, n - left) + STRIP - 1) / STRIP;
    __global real* c = a + (size_t)top * pitch + left;
    subtract_products(min(block_rows, m - top), strips, w + (size_t)(top - k) * NB, NB,
                      v + (size_t)left * NB, STRIP, NB * STRIP, c, pitch, c, pitch, NB);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_inc(work + BLOCKS_DONE);
  }
  while ((pieces > 0 && !work[PANEL_DONE]) || work[BLOCKS_DONE] < blocks) help(w_next, rows, work);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
}

// The update alone.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void update(
    __global real* a, int pitch, const __global real* w, const __global real* v, int k, int m,
    int n, int block_rows, int block_columns, volatile __global int* work) {
  update_and_factor(a, pitch, w, v, 0, 0, 0, k, m, n, 0, block_rows, block_columns, 0, work);
  leave(work, 1);
}

// The panels first : last, all at once: with each, the interchanges, U12 and the update of the
// rest, and the next panel. Those at even places are in W_even. The very first panel is factored
// before. work: WORK_INTS for each panel, and as many for the first.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void factor_panels(
    __global real* a, int pitch, __global real* w_even, __global real* w_odd, __global real* v,
    __global int* ipiv, __global int* info, int first, int last, int m, int n, int columns,
    int block_rows, int block_columns, int pivoted, volatile __global int* work) {
  const int pivots = min(m, n);
  if (first == 0) factor_first(a, pitch, w_even, ipiv, info, 0, m, min(NB, n), pivoted, work);
  volatile __global int* step = work;
  for (int k = first; k < last; k += NB) {
    step += WORK_INTS;
    __global real* w = k / NB % 2 == 0 ? w_even : w_odd;
    __global real* w_next = k / NB % 2 == 0 ? w_odd : w_even;
    const int steps = min(NB, pivots - k), right = max(n - k - NB, 0);
    const int groups = (k + columns - 1) / columns + (right + columns - 1) / columns;
    for (int group; (group = atomic_inc(step + GROUPS)) < groups;) {
      exchange_and_solve_group(a, pitch, w, v, ipiv, k, steps, n, columns, pivoted, group);
      mem_fence(CLK_GLOBAL_MEM_FENCE);
      atomic_inc(step + GROUPS_DONE);
    }
    while (step[GROUPS_DONE] < groups) {
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (k + NB >= pivots) break;
    update_and_factor(a, pitch, w, v, w_next, ipiv, info, k, m, n, min(NB, n - k - NB), block_rows,
                      block_columns, pivoted, step);
  }
  leave(work, 1 + (last - first + NB - 1) / NB);
}
