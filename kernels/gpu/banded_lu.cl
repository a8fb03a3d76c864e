// Banded LU with partial pivoting, a launch for each panel of NB columns.
//
// The band is column-major with a fixed leading dimension: A(i, j) is a[j * ld + i]. A column
// begins ld + 1 elements after the one before, so the columns do not overlap as long as no more
// than that is kept of each, and every window of the band is a dense matrix. Beside the band (and
// the `lower` diagonals above it that interchanges fill), each column has room for what a window of
// NB columns has in its corners, zeros at first; and there are columns after the last one.
//
// Launch s applies panel s, whose L and U are in place, to the blocks of NB columns after it, one
// for each work-group, a row for each work-item. The first work-group keeps its block in registers
// and factors it as the next panel, while the others are busy (look-ahead). L is interchanged
// within its panel, but not by later ones: row i of the window of panel s was row origin(i) of it
// before. Below the first NB rows only rows from there are new.
//
// Build options: NB; ITEMS, work-items of a work-group; ROWS, rows of a work-item, so that a panel
// has at most ITEMS ROWS.

#define ME ((int)get_local_id(0))
#define PARTS 16  // of the work-items, in which candidates are compared first

struct band {
  __global real* a;
  __global int *ipiv, *info, *origin, *last;
  int ld, n, lower, upper;
};

struct scratch {
  __local real *u, *l, *top;                // NB x NB
  __local real* magnitudes;                 // ITEMS, then PARTS
  __local int* places;                      // likewise
  __local real *pivots_row, *old_row;       // 2 NB
  __local int *pivots_origin, *old_origin;  // 2
};

inline int rows_of_panel(const struct band* b, int s) { return min(b->lower + NB, b->n - s * NB); }

// Block column `first` of the window of panel s: top = A12 as it is, U12 = inv(L11) P A12 to A and,
// by rows, to l. If the panel has `changed` nothing there, only the barriers.
inline void solve_top(const struct band* b, const struct scratch* m, int s, int first,
                      int changed) {
  const int count = changed ? NB * NB : 0;
  const __global int* origin = b->origin + (size_t)s * (b->lower + NB);
  const __global real* panel = b->a + (size_t)s * NB * b->ld + s * NB;
  __global real* block = b->a + (size_t)first * b->ld + s * NB;
  for (int e = ME; e < count; e += ITEMS) {
    const int i = e % NB;
    const size_t column = (size_t)(e / NB) * b->ld;
    m->top[e] = block[column + i];
    m->u[e] = block[column + origin[i]];
    m->l[e] = panel[column + i];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (int q = 0; q + 1 < NB; ++q) {
    for (int e = ME; e < count; e += ITEMS) {
      const int i = e % NB, c = e / NB * NB;
      if (i > q) m->u[c + i] = fma(-m->l[q * NB + i], m->u[c + q], m->u[c + i]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int e = ME; e < count; e += ITEMS) {
    block[(size_t)(e / NB) * b->ld + e % NB] = m->u[e];
    m->l[e % NB * NB + e / NB] = m->u[e];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// x = row i of A22 - L21 U12, i from the top of the window of panel s, NB <= i
inline void update_row(const struct band* b, const struct scratch* m, int s, int first, int i,
                       real* x) {
  const int from = b->origin[(size_t)s * (b->lower + NB) + i];
  const __global real* row = b->a + (size_t)first * b->ld + s * NB + i;
  const __global real* l = b->a + (size_t)s * NB * b->ld + s * NB + i;
  real sum[NB];
#pragma unroll
  for (int c = 0; c < NB; ++c) sum[c] = 0;
  for (int q = 0; q < NB; ++q) {
    const real factor = l[(size_t)q * b->ld];
#pragma unroll
    for (int c = 0; c < NB; ++c) sum[c] = fma(factor, m->l[q * NB + c], sum[c]);
  }
#pragma unroll
  for (int c = 0; c < NB; ++c) {
    x[c] = (from < NB ? m->top[c * NB + from] : row[(size_t)c * b->ld]) - sum[c];
  }
}

// Element c of a row of a panel in step j is the one in column (j + c) % NB: with the columns in a
// circle, all registers have fixed numbers, and after NB steps they are where they were.

// The row of the largest magnitude in the first column, from row j on, the first if several are
// equal; -1 if there is none above zero. For all work-items.
inline int choose_pivot(const struct scratch* m, real x[ROWS][NB], int j, int rows) {
  real best = 0;
  int place = -1;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int i = r * ITEMS + ME;
    const real magnitude = fabs(x[r][0]);
    if (i >= j && i < rows && magnitude > best) {
      best = magnitude;
      place = i;
    }
  }
  m->magnitudes[ME] = best;
  m->places[ME] = place;
  for (int level = 0; level < 2; ++level) {
    const int from = level * ITEMS, count = level == 0 ? ITEMS / PARTS : PARTS;
    const int step = level == 0 ? PARTS : 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    best = 0;
    place = -1;
    for (int k = 0; k < count && (level > 0 || ME < PARTS); ++k) {
      const int other = from + k * step + (level == 0 ? ME : 0);
      const real magnitude = m->magnitudes[other];
      const int at = m->places[other];
      if (magnitude > best || (magnitude == best && best > 0 && at < place)) {
        best = magnitude;
        place = at;
      }
    }
    if (level == 0 && ME < PARTS) {
      m->magnitudes[ITEMS + ME] = best;
      m->places[ITEMS + ME] = place;
    }
  }
  return place;
}

// Row i of the panel in step j, after the interchange; `row` is the pivot's.
inline void eliminate_row(real* x, const __local real* row, int i, int j) {
  const real pivot = row[0], l = i > j && pivot != 0 ? x[0] / pivot : x[0];
  const int right = i > j && pivot != 0 ? NB - j : 0;
#pragma unroll
  for (int c = 1; c < NB; ++c) x[c - 1] = c < right ? fma(-l, row[c], x[c]) : x[c];
  x[NB - 1] = l;
}

// Step j of a panel: interchange of rows j and `pivot`, elimination.
inline void eliminate(const struct scratch* m, real x[ROWS][NB], int* origin, int j, int pivot) {
  __local real* pivots_row = m->pivots_row + j % 2 * NB;
  __local real* old_row = m->old_row + j % 2 * NB;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int i = r * ITEMS + ME;
    if (i == pivot) {
#pragma unroll
      for (int c = 0; c < NB; ++c) pivots_row[c] = x[r][c];
      m->pivots_origin[j % 2] = origin[r];
    }
    if (i == j) {
#pragma unroll
      for (int c = 0; c < NB; ++c) old_row[c] = x[r][c];
      m->old_origin[j % 2] = origin[r];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int i = r * ITEMS + ME;
    if (i == pivot || i == j) {
#pragma unroll
      for (int c = 0; c < NB; ++c) x[r][c] = i == j ? pivots_row[c] : old_row[c];
      origin[r] = i == j ? m->pivots_origin[j % 2] : m->old_origin[j % 2];
    }
    eliminate_row(x[r], pivots_row, i, j);
  }
}

// Panel s, whose rows are in x.
inline void factor_panel(const struct band* b, const struct scratch* m, int s, real x[ROWS][NB]) {
  const int k = s * NB, rows = rows_of_panel(b, s), steps = min(NB, b->n - k);
  int origin[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) origin[r] = r * ITEMS + ME;
  int last = s == 0 ? 0 : b->last[s - 1], zero = s == 0 || ME > 0 ? 0 : *b->info;
  // After the last column, steps without rows bring the columns back to their places.
  for (int j = 0; j < NB; ++j) {
    const int found = choose_pivot(m, x, j, rows), pivot = found < 0 ? j : found;
    eliminate(m, x, origin, j, pivot);
    if (j >= steps) continue;
    if (ME == 0) {
      b->ipiv[k + j] = k + pivot;
      if (m->pivots_row[j % 2 * NB] == 0 && zero == 0) zero = k + j + 1;
    }
    last = max(last, min(k + pivot + b->upper, b->n - 1));
  }
  if (ME == 0) {
    *b->info = zero;
    b->last[s] = last;
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int i = r * ITEMS + ME;
    if (i >= rows) continue;
    b->origin[(size_t)s * (b->lower + NB) + i] = origin[r];
    __global real* row = b->a + (size_t)k * b->ld + k + i;
#pragma unroll
    for (int c = 0; c < NB; ++c) row[(size_t)c * b->ld] = x[r][c];
  }
}

// Launch s; -1 factors panel 0 alone. ipiv from 0, info as LAPACK's; last: of each panel, the last
// column that it changes.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void apply_and_factor(
    __global real* a, int ld, int n, int lower, int upper, int s, __global int* ipiv,
    __global int* info, __global int* origin, __global int* last) {
  __local real tiles[3 * NB * NB] __attribute__((aligned(16)));
  __local real magnitudes[ITEMS + PARTS], rows_of[4 * NB];
  __local int places[ITEMS + PARTS], origins[4];
  const struct scratch m = {
      tiles,   tiles + NB * NB, tiles + 2 * NB * NB, magnitudes, places, rows_of, rows_of + 2 * NB,
      origins, origins + 2};
  const struct band b = {a, ipiv, info, origin, last, ld, n, lower, upper};
  const int first = (s + 1 + (int)get_group_id(0)) * NB, next = get_group_id(0) == 0;
  const int changed = s >= 0 && first <= last[max(s, 0)];
  solve_top(&b, &m, max(s, 0), first, changed);
  const int below = s >= 0 ? max(rows_of_panel(&b, s) - NB, 0) : 0;
  real x[ROWS][NB];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int i = r * ITEMS + ME;
    real row[NB];
    __global real* at = a + (size_t)first * ld + (s + 1) * NB + i;
    const int updated = changed && i < below;
    if (updated) update_row(&b, &m, s, first, NB + i, row);
#pragma unroll
    for (int c = 0; c < NB; ++c) {
      if (!updated) row[c] = next && i < lower + NB ? at[(size_t)c * ld] : 0;
      if (updated && !next) at[(size_t)c * ld] = row[c];
      x[r][c] = row[c];
    }
  }
  if (next) factor_panel(&b, &m, s + 1, x);
}
