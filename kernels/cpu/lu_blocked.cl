// Blocked LU for devices whose work-items are CPU threads; a work-group is one work-item.
//
// The matrix A is row-major, in place. W holds the factored panel; U(k:k+NB, :), which the update
// reads, is kept in strips of two vectors in a workspace V. Rows of A are padded to whole strips;
// what is in the padding is never used for anything else.
//
// Build options: those of cpu/tile.clh, and NB, columns of a panel, a multiple of STRIP.

#include "cpu/tile.clh"
#include "cpu/panel.clh"

// One more of the `pieces` of the panel is up to date. Who brought the last one factors it.
inline void finish_piece(const struct panel* p, int pieces) {
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  if (atomic_inc(p->work + PANEL_PIECES) + 1 < pieces) return;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  factor_panel(p);
}

// Where the panel is whose first row and column is k, in A with m rows, and what counts its work.
inline void set_place(struct panel* p, __global real* a, int pitch, __global real* w, int k, int m,
                      int width, volatile __global int* work) {
  p->a = a + (size_t)k * pitch + k;
  p->pitch = pitch;
  p->w = w;
  p->top = k;
  p->rows = m - k;
  p->width = width;
  p->work = work;
}

// A panel all of whose columns are up to date in A.
inline void factor_first(const struct panel* p) {
  const int height = rows_of_part(p->rows), pieces = (p->rows + height - 1) / height;
  for (int piece; (piece = atomic_inc(p->work + NEXT_PIECE)) < pieces;) {
    for (int i = piece * height; i < min((piece + 1) * height, p->rows); ++i) {
      for (int j = 0; j < p->width; ++j) p->w[(size_t)i * NB + j] = p->a[(size_t)i * p->pitch + j];
    }
    finish_piece(p, pieces);
  }
  serve(p);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void factor_columns(
    __global real* a, int pitch, __global real* w, __global real* packed, __global real* noted_rows,
    __global int* ipiv, __global int* info, int k, int m, int width, int pivoted,
    volatile __global int* work) {
  struct panel p = {.ipiv = ipiv, .info = info, .packed = packed, .noted_rows = noted_rows};
  p.launch = work;
  p.pivoted = pivoted;
  set_place(&p, a, pitch, w, k, m, width, first_step(work));
  factor_first(&p);
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

// Strip number `strip` of L: the row interchanges of all pivots after the panel that it is in,
// while the strip is in the caches.
inline void exchange_left(__global real* a, int pitch, const __global int* ipiv, int pivots,
                          int strip) {
  __global real* start = a + strip * STRIP;
  for (int j = (strip * STRIP / NB + 1) * NB; j < pivots; ++j) {
    const int p = ipiv[j];
    if (p != j) exchange(start + (size_t)j * pitch, start + (size_t)p * pitch, 2);
  }
}

// A(k+NB:m, k+NB:n) -= L21 U12, from W and V, in blocks of block_rows x block_columns, the columns
// of the panel `next` first; and as soon as these are up to date, that is factored.
inline void update_and_factor(__global real* a, int pitch, const __global real* w,
                              const __global real* v, const struct panel* next, int k, int m, int n,
                              int block_rows, int block_columns) {
  const int below = k + NB, right = below + next->width, rows = m - below;
  const int height = rows_of_part(rows);
  const int pieces = next->width > 0 ? (rows + height - 1) / height : 0;
  const int row_blocks = (rows + block_rows - 1) / block_rows;
  const int blocks = max(n - right + block_columns - 1, 0) / block_columns * row_blocks;
  volatile __global int* work = next->work;
  for (;;) {
    while (help(next)) {
    }
    const int piece = atomic_inc(work + NEXT_PIECE);
    if (piece < pieces) {
      const int top = piece * height;
      const int strips = (next->width + STRIP - 1) / STRIP;
      subtract_products(
          min(height, rows - top), strips, w + (size_t)(NB + top) * NB, NB, v + (size_t)below * NB,
          STRIP, NB * STRIP, a + (size_t)(below + top) * pitch + below, pitch,
          next->w + (size_t)top * NB, NB, NB);
      finish_piece(next, pieces);
      continue;
    }
    const int block = piece - pieces;
    if (block >= blocks) break;
    const int top = below + block % row_blocks * block_rows;
    const int left = right + block / row_blocks * block_columns;
    const int strips = (min(block_columns, n - left) + STRIP - 1) / STRIP;
    __global real* c = a + (size_t)top * pitch + left;
    subtract_products(min(block_rows, m - top), strips, w + (size_t)(top - k) * NB, NB,
                      v + (size_t)left * NB, STRIP, NB * STRIP, c, pitch, c, pitch, NB);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_inc(work + BLOCKS_DONE);
  }
  if (pieces > 0) serve(next);
  while (work[BLOCKS_DONE] < blocks) {
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
}

// The update alone, without a next panel.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void update(
    __global real* a, int pitch, const __global real* w, const __global real* v, int k, int m,
    int n, int block_rows, int block_columns, volatile __global int* work) {
  const struct panel none = {.work = first_step(work), .launch = work};
  update_and_factor(a, pitch, w, v, &none, k, m, n, block_rows, block_columns);
  leave(work, 1);
}

// The panels first : last, all at once: with each, the interchanges to its right, U12 and the
// update of the rest, and the next panel; after the last one of all, the interchanges to their
// left. Those at even places are in W_even. The very first panel is factored before. work: see
// cpu/team.clh, with a step for each panel, one before and one after them.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void factor_panels(
    __global real* a, int pitch, __global real* w_even, __global real* w_odd, __global real* v,
    __global real* packed, __global real* noted_rows, __global int* ipiv, __global int* info,
    int first, int last, int m, int n, int columns, int block_rows, int block_columns, int pivoted,
    volatile __global int* work) {
  const int pivots = min(m, n);
  volatile __global int* step = first_step(work);
  struct panel p = {.ipiv = ipiv, .info = info, .packed = packed, .noted_rows = noted_rows};
  p.launch = work;
  p.pivoted = pivoted;
  if (first == 0) {
    set_place(&p, a, pitch, w_even, 0, m, min(NB, n), step);
    factor_first(&p);
  }
  for (int k = first; k < last; k += NB) {
    step += WORK_INTS;
    __global real* w = k / NB % 2 == 0 ? w_even : w_odd;
    __global real* w_next = k / NB % 2 == 0 ? w_odd : w_even;
    const int steps = min(NB, pivots - k), right = max(n - k - NB, 0);
    const int left_groups = (k + columns - 1) / columns;
    const int groups = (right + columns - 1) / columns;
    for (int group; (group = atomic_inc(step + GROUPS)) < groups;) {
      exchange_and_solve_group(
          a, pitch, w, v, ipiv, k, steps, n, columns, pivoted, left_groups + group);
      mem_fence(CLK_GLOBAL_MEM_FENCE);
      atomic_inc(step + GROUPS_DONE);
    }
    while (step[GROUPS_DONE] < groups) {
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (k + NB >= pivots) break;
    set_place(&p, a, pitch, w_next, k + NB, m, min(NB, n - k - NB), step);
    update_and_factor(a, pitch, w, v, &p, k, m, n, block_rows, block_columns);
  }
  if (last >= pivots && pivoted) {
    step += WORK_INTS;
    const int strips = (pivots - 1) / NB * (NB / STRIP);
    for (int strip; (strip = atomic_inc(step + GROUPS)) < strips;) {
      exchange_left(a, pitch, ipiv, pivots, strip);
    }
  }
  leave(work, 2 + (last - first + NB - 1) / NB);
}
