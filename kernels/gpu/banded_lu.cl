// Banded LU with partial pivoting, a launch for each panel of NB columns.
//
// The band is column-major with a fixed leading dimension: A(i, j) is a[j * ld + i]. A column
// begins ld + 1 elements after the one before, so the columns do not overlap as long as no more
// than that is kept of each, and every window of the band is a dense matrix. Beside the band (and
// the `lower` diagonals above it that interchanges fill), each column has room for what a window of
// NB columns has in its corners, zeros at first; and there are columns after the last one.
//
// Launch s applies panel s, whose L and U are in place, to the blocks of NB columns after it, one
// for each work-group, ROWS rows for each work-item. The first work-group keeps its block in
// registers and factors it as the next panel (gpu/banded_panel.clh), while the others are busy
// (look-ahead). L is interchanged within its panel, but not by later ones: row i of the window of
// panel s was row origin(i) of it before. Below the first NB rows only rows from there are new.
//
// Build options: NB, 8, 16 or 32; PANEL_ITEMS, work-items of a work-group, at least NB and a
// multiple of 32; ROWS, rows of a work-item, so that a panel has at most PANEL_ITEMS ROWS;
// LUGPU_NVIDIA, with NVIDIA's instructions (compute capability 8.0).

#define ME ((int)get_local_id(0))

struct band {
  __global real* a;
  __global int *ipiv, *info, *origin, *last;
  int ld, n, lower, upper;
};

inline int rows_of_panel(const struct band* b, int s) { return min(b->lower + NB, b->n - s * NB); }

// A row of NB columns, the first element of it at a; zeros if there is none. (Pointers that move on
// take fewer registers than NB of them.)
inline void load_row(const __global real* a, int ld, bool exists, real* x) {
#pragma unroll
  for (int c = 0; c < NB; ++c, a += ld) x[c] = exists ? *a : 0;
}
inline void store_row(const real* x, __global real* a, int ld) {
#pragma unroll
  for (int c = 0; c < NB; ++c, a += ld) *a = x[c];
}

#include "gpu/banded_panel.clh"

#define AHEAD (ROWS > 2 ? 2 : 4)  // columns of L on their way

// Columns of L21 U12 that are summed in a pass over L: as many as there are registers for.
#define ROW_WORDS (ROWS * (int)sizeof(real) / 4)
#define SUMMED (ROW_WORDS == 1 ? NB : ROW_WORDS == 2 ? NB / 2 : 8)

struct tiles {
  real4 u[NB][NB / 4];     // U12 by rows
  real4 l[NB][NB / 4];     // L11 by columns
  real block[NB][NB + 1];  // P A12, then U12, by columns
};

// Pieces of a block of NB x NB elements: of row ME % NB, those in every STRIDE-th column.
#define STRIDE (PANEL_ITEMS / NB)
#define PIECES ((NB * NB + PANEL_ITEMS - 1) / PANEL_ITEMS)
#define PIECE_COLUMN(p) ((p)*STRIDE + ME / NB)
#define PIECE_EXISTS(p) (((p) + 1) * STRIDE <= NB || PIECE_COLUMN(p) < NB)

// t = L11 and P A12, for block column `first` of the window of panel s. from: origin(ME % NB)
inline void load_top(const struct band* b, __local struct tiles* t, int s, int first, int from) {
  const int i = ME % NB;
  const __global real* panel = b->a + (size_t)s * NB * b->ld + s * NB;
  const __global real* block = b->a + (size_t)first * b->ld + s * NB;
  real l[PIECES], old[PIECES];
#pragma unroll
  for (int p = 0; p < PIECES; ++p) {
    const int c = PIECE_EXISTS(p) ? PIECE_COLUMN(p) : 0;
    l[p] = panel[(size_t)c * b->ld + i];
    old[p] = block[(size_t)c * b->ld + from];
  }
#pragma unroll
  for (int p = 0; p < PIECES; ++p) {
    if (!PIECE_EXISTS(p)) continue;
    const int c = PIECE_COLUMN(p);
    ((__local real*)t->l[c])[i] = l[p];
    t->block[c][i] = old[p];
  }
}

// U12 = inv(L11) P A12. A work-item has a column.
inline void solve_top(__local struct tiles* t) {
  real x[NB];
#pragma unroll
  for (int i = 0; i < NB; ++i) x[i] = t->block[ME][i];
#pragma unroll
  for (int q = 0; q < NB; ++q) {
#pragma unroll
    for (int i = q / 4 * 4; i < NB; i += 4) {
      const real4 l = t->l[q][i / 4];
      if (i > q) x[i] = fma(-l.x, x[q], x[i]);
      if (i + 1 > q) x[i + 1] = fma(-l.y, x[q], x[i + 1]);
      if (i + 2 > q) x[i + 2] = fma(-l.z, x[q], x[i + 2]);
      if (i + 3 > q) x[i + 3] = fma(-l.w, x[q], x[i + 3]);
    }
  }
#pragma unroll
  for (int i = 0; i < NB; ++i) {
    t->block[ME][i] = x[i];
    ((__local real*)t->u[i])[ME] = x[i];
  }
}

// x -= L21 U12, ROWS rows of it: each row of U12 is read once for all of them. A row's products are
// summed before they are subtracted; one by one, each would be rounded at the size of the element,
// and such errors add up where a band repeats itself. l: column 0 of L21; only rows before `below`
// are changed.
inline void subtract_product(const __global real* l, int ld, int below, __local struct tiles* t,
                             real x[ROWS][NB]) {
  int row[ROWS];
  real next[AHEAD][ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    row[r] = min(r * PANEL_ITEMS + ME, below - 1);
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) next[k][r] = l[k * ld + row[r]];
  }
#pragma unroll
  for (int first = 0; first < NB; first += SUMMED) {
    real sum[ROWS][NB];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int c = first; c < first + SUMMED; ++c) sum[r][c] = 0;
    }
#pragma unroll 1
    for (int q = 0; q < NB; q += AHEAD) {
      real column[AHEAD][ROWS];
#pragma unroll
      for (int k = 0; k < AHEAD; ++k) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          column[k][r] = next[k][r];
          next[k][r] = l[(q + AHEAD + k) % NB * ld + row[r]];
        }
      }
#pragma unroll
      for (int k = 0; k < AHEAD; ++k) {
#pragma unroll
        for (int c = first; c < first + SUMMED; c += 4) {
          add_row(sum, column[k], t->u[q + k][c / 4], c);
        }
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const bool changes = r * PANEL_ITEMS + ME < below;
#pragma unroll
      for (int c = first; c < first + SUMMED; ++c) x[r][c] -= changes ? sum[r][c] : 0;
    }
  }
}

// Launch s; -1 factors panel 0 alone. ipiv from 0, info as LAPACK's; last: of each panel, the last
// column that it changes.
__kernel __attribute__((reqd_work_group_size(PANEL_ITEMS, 1, 1))) void apply_and_factor(
    __global real* a, int ld, int n, int lower, int upper, int s, __global int* ipiv,
    __global int* info, __global int* origin, __global int* last) {
  __local union {
    struct tiles tiles;
    panel_scratch panel;
  } shared;
  const struct band b = {a, ipiv, info, origin, last, ld, n, lower, upper};
  const int first = (s + 1 + (int)get_group_id(0)) * NB, next = get_group_id(0) == 0;
  const int changed = s >= 0 && first <= last[max(s, 0)];
  const int rows = s >= 0 ? rows_of_panel(&b, s) - NB : 0, below = changed ? rows : 0;  // of A22
  __global real* block = a + (size_t)first * ld + (s + 1) * NB;
  // All that is read of the block is on its way before anything waits.
  const int top_from = s >= 0 ? origin[(size_t)s * (lower + NB) + ME % NB] : 0;
  real x[ROWS][NB];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int i = r * PANEL_ITEMS + ME, updated = i < below;
    const int was = i < rows ? origin[(size_t)s * (lower + NB) + NB + i] - NB : i;
    const int from = updated ? was : i;
    const int exists = updated || (next && i < lower + NB);
    load_row(block + from, ld, exists, x[r]);
  }
  if (s >= 0) load_top(&b, &shared.tiles, s, first, top_from);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (changed && ME < NB) solve_top(&shared.tiles);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (changed) {
    subtract_product(a + (size_t)s * NB * ld + (s + 1) * NB, ld, below, &shared.tiles, x);
#pragma unroll
    for (int p = 0; p < PIECES; ++p) {
      const int i = ME % NB, c = PIECE_COLUMN(p);
      if (PIECE_EXISTS(p)) (block + (size_t)c * ld)[i - NB] = shared.tiles.block[c][i];
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int i = r * PANEL_ITEMS + ME;
    if (i < below && !next) store_row(x[r], block + i, ld);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (next) factor_panel(&b, &shared.panel, s + 1, x);
}
