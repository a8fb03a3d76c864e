// LU of many matrices of order 129 and more, without or with partial pivoting, by panels of NB
// columns, a work-group for each matrix, in global memory:
//
//   1. The panel is factored in registers: a work-item has ROWS rows, ITEMS apart (factor_panel).
//      Rows do not move: their places are followed. Each team of work-items proposes its best row.
//   2. It goes to its place in the matrix, and to local memory, and the interchanges come to
//      all other columns (interchange).
//   3. The rows of U right of it, and the product of L and U (update).
//
// Build options: LUGPU_RGBA, for 16 bytes in a pack; ITEMS, of a work-group; ORDER, the most rows,
// a multiple of it; those of gpu/batch_places.clh.

#include "gpu/batch_places.clh"

#define ROWS (ORDER / ITEMS)
#define TEAM 32  // work-items
#define TEAMS (ITEMS / TEAM)
#define LANES 64  // work-items next to one another in a row
#define NB 16
#define PANEL_ROWS 256  // in local memory at a time
#ifdef LUGPU_DOUBLE
#define SETS 2  // of LANES columns that are updated at once
#else
#define SETS 4
#endif
#define PACKS (NB / PACK)

// A place: the row's position and number in the panel.
#define CHOSEN 0x80000000
inline uint wide_place(int position, int row) { return (uint)position << 16 | (uint)row; }
inline int position_in(uint place) { return place >> 16; }
inline int row_in(uint place) { return place & 0xffff; }

// What the teams propose (for even and odd columns): the rank, the place and the row. Rows of the
// panel, which are at their places; the pivots' places; where the first rows of the panel went.
typedef struct {
  pack rows[2][TEAMS][PACKS];
  pack panel[PANEL_ROWS][PACKS + 1];
  key_type keys[2][TEAMS];
  uint places[2][TEAMS];
  uint pivots[NB];
  int goes_to[NB];
#ifndef LUGPU_NVIDIA
  key_type all_keys[ITEMS];
  uint all_places[ITEMS];
#endif
} scratch_of;

inline int team_here() { return get_local_id(0) / TEAM; }

// The place of the best candidate of the work-item's team. The next barrier is the caller's.
inline uint best_of_team(key_type key, uint place, key_type* best, __local scratch_of* shared) {
#ifdef LUGPU_NVIDIA
  *best = largest_of_warp(key);
  return warp_min(key == *best ? place : NO_PLACE);
#else
  const int me = get_local_id(0);
  shared->all_keys[me] = key;
  shared->all_places[me] = place;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = team_here() * TEAM; i < (team_here() + 1) * TEAM; ++i)
    compare(shared->all_keys[i], shared->all_places[i], &key, &place);
  *best = key;
  return place;
#endif
}

// A row to a team's place for proposals, from the pack that has column c on.
inline void publish(const real* x, int c, __local pack* to) {
  UNROLL
  for (int p = 0; p < PACKS; ++p) {
    if (p >= c / PACK) to[p] = pack_of(x + p * PACK);
  }
}

// The pivot of column c: its place, and the row. places: of the work-item's rows.
inline uint choose(real (*x)[NB], const int c, const uint* places, __local scratch_of* shared,
                   const __local pack** row) {
  const int parity = c % 2;
#if PIVOT == NONE
  UNROLL
  for (int a = 0; a < ROWS; ++a) {
    if (places[a] == wide_place(c, c)) publish(x[a], c, shared->rows[parity][0]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  *row = shared->rows[parity][0];
  return wide_place(c, c);
#else
  key_type key = 0;
  uint where = NO_PLACE;
  UNROLL
  for (int a = 0; a < ROWS; ++a) {
    const bool left = places[a] < CHOSEN;
    compare(left ? rank_of(x[a][c]) : 0, left ? places[a] : NO_PLACE, &key, &where);
  }
  const uint proposed = best_of_team(key, where, &key, shared);
  UNROLL
  for (int a = 0; a < ROWS; ++a) {
    if (places[a] == proposed && proposed != NO_PLACE) {
      publish(x[a], c, shared->rows[parity][team_here()]);
    }
  }
  if (get_local_id(0) % TEAM == 0) {
    shared->keys[parity][team_here()] = key;
    shared->places[parity][team_here()] = proposed;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef LUGPU_NVIDIA
  const int team = get_local_id(0) % TEAMS;
  const uint pivot = best_of_warp(shared->keys[parity][team], shared->places[parity][team]);
#else
  key_type best = 0;
  uint pivot = NO_PLACE;
  for (int t = 0; t < TEAMS; ++t)
    compare(shared->keys[parity][t], shared->places[parity][t], &best, &pivot);
#endif
  *row = shared->rows[parity][row_in(pivot) % ITEMS / TEAM];
  return pivot;
#endif
}

// Column c of the panel. Returns whether the pivot is zero.
inline bool take_step(real (*x)[NB], const int c, uint* places, __local scratch_of* shared) {
  const __local pack* u;
  const uint pivot = choose(x, c, places, shared, &u);
  if (get_local_id(0) == 0) shared->pivots[c] = pivot;
  const real value = ((const __local real*)u)[c];
  real scale, inverse;
  reciprocal(value, &scale, &inverse);
  UNROLL
  for (int a = 0; a < ROWS; ++a) {
    // Who is at position c goes to the pivot's.
    const uint moved = wide_place(position_in(pivot), row_in(places[a]));
    places[a] =
        places[a] == pivot ? CHOSEN + c
        : places[a] < wide_place(c + 1, 0)
            ? moved
            : places[a];
    if (places[a] >= CHOSEN) continue;
    const real l = x[a][c] * scale * inverse;
    UNROLL
    for (int p = 0; p < PACKS; ++p) {
      if (p < c / PACK) continue;
      const pack of_row = u[p];
      UNROLL
      for (int e = 0; e < PACK; ++e) {
        const int b = p * PACK + e;
        if (b > c) x[a][b] = fma(-l, element_of(of_row, e), x[a][b]);
      }
    }
    x[a][c] = l;
  }
  return value == 0;
}

// A row's `width` columns of the panel to registers, 0 where there are none; and from them. packed:
// NB columns, by packs, where rows begin at these.
inline void load_row(const __global real* a, int width, bool packed, real* x) {
  UNROLL
  for (int p = 0; p < PACKS && packed; ++p) {
    const pack v = ((const __global pack*)a)[p];
    UNROLL
    for (int e = 0; e < PACK; ++e) x[p * PACK + e] = element_of(v, e);
  }
  UNROLL
  for (int b = 0; b < NB && !packed; ++b) x[b] = b < width ? a[b] : (real)0;
}
inline void store_row(__global real* a, int width, bool packed, const real* x) {
  UNROLL
  for (int p = 0; p < PACKS && packed; ++p) ((__global pack*)a)[p] = pack_of(x + p * PACK);
  UNROLL
  for (int b = 0; b < NB && !packed; ++b) {
    if (b < width) a[b] = x[b];
  }
}

// P W = L U of the panel, rows first : n, columns first : first + width. Returns the first of them
// (1-based) whose pivot is zero, or 0.
inline int factor_panel(__global real* a, int n, int first, int width, __local scratch_of* shared) {
  const int me = get_local_id(0), rows = n - first;
  const bool packed = n % PACK == 0 && width == NB;
  real x[ROWS][NB];
  uint places[ROWS];
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    const int row = me + r * ITEMS;
    places[r] = row < rows ? wide_place(row, row) : NO_PLACE;
    load_row(a + (first + min(row, rows - 1)) * n + first, width, packed, x[r]);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // what was read may be overwritten
  int zero = 0;
#ifdef UNROLLED
#define STEP(c) \
  if (c < NB && c < width && take_step(x, c, places, shared) && zero == 0) zero = c + 1;
#define STEPS_4(c) STEP(c) STEP(c + 1) STEP(c + 2) STEP(c + 3)
  STEPS_4(0)
  STEPS_4(4)
  STEPS_4(8)
  STEPS_4(12)
#else
  for (int c = 0; c < width; ++c) {
    if (take_step(x, c, places, shared) && zero == 0) zero = c + 1;
  }
#endif
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    if (places[r] == NO_PLACE) continue;
    const int to = places[r] < CHOSEN ? position_in(places[r]) : places[r] - CHOSEN;
    const int row = me + r * ITEMS;
    if (row < width) shared->goes_to[row] = to;
    UNROLL
    for (int p = 0; p < PACKS; ++p) {
      if (ORDER <= PANEL_ROWS) shared->panel[to][p] = pack_of(x[r] + p * PACK);
    }
    store_row(a + (first + to) * n + first, width, packed, x[r]);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  return zero;
}

// The interchanges of the panel in all other columns.
inline void interchange(__global real* a, int n, int first, int width,
                        const __local scratch_of* shared) {
#pragma unroll 1
  for (int j = get_local_id(0); j < n; j += ITEMS) {
    if (j >= first && j < first + width) continue;
    real comes[NB], goes[NB];
    UNROLL
    for (int q = 0; q < NB; ++q) {
      if (q >= width) continue;
      comes[q] = a[(first + row_in(shared->pivots[q])) * n + j];
      goes[q] = a[(first + q) * n + j];
    }
    UNROLL
    for (int q = 0; q < NB; ++q) {
      if (q >= width) continue;
      if (shared->goes_to[q] >= width) a[(first + shared->goes_to[q]) * n + j] = goes[q];
      a[(first + q) * n + j] = comes[q];
    }
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
}

#if ORDER > PANEL_ROWS
// Rows of the panel from `top` on, as far as they are to be in local memory, from the matrix.
inline void bring_rows(const __global real* a, int n, int first, int top,
                       __local scratch_of* shared) {
  const int row = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (first + top + row < n) {
    real x[NB];
    load_row(a + (first + top + row) * n + first, NB, n % PACK == 0, x);
    UNROLL
    for (int p = 0; p < PACKS; ++p) shared->panel[row][p] = pack_of(x + p * PACK);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

// SETS elements of a row of the matrix, LANES apart, of which `sets` are wanted and `there` are in
// the matrix.
inline void load_sets(const __global real* row, const int sets, int there, real* x) {
  UNROLL
  for (int s = 0; s < SETS; ++s) x[s] = s < sets && s < there ? row[s * LANES] : (real)0;
}
inline void store_sets(__global real* row, const int sets, int there, const real* x) {
  UNROLL
  for (int s = 0; s < SETS; ++s) {
    if (s < sets && s < there) row[s * LANES] = x[s];
  }
}

// A -= L U in `sets` columns from `column` on, LANES apart, and in rows `row` : row_end, of which
// the first in local memory is `top`. The next row comes meanwhile.
inline void subtract_product(__global real* a, int n, int column, int there, int row, int row_end,
                             int top, real (*u)[SETS], const int sets,
                             const __local scratch_of* shared) {
  if (row >= row_end) return;
  real next[SETS];
  load_sets(a + row * n + column, sets, there, next);
  for (int i = row; i < row_end; i += ITEMS / LANES) {
    const int following = i + ITEMS / LANES < row_end ? i + ITEMS / LANES : i;
    real x[SETS];
    UNROLL
    for (int s = 0; s < SETS; ++s) x[s] = next[s];
    load_sets(a + following * n + column, sets, there, next);
    UNROLL
    for (int p = 0; p < PACKS; ++p) {
      const pack l = shared->panel[i - top][p];
      UNROLL
      for (int e = 0; e < PACK; ++e) {
        UNROLL
        for (int s = 0; s < SETS; ++s) {
          if (s < sets) x[s] = fma(-element_of(l, e), u[p * PACK + e][s], x[s]);
        }
      }
    }
    store_sets(a + i * n + column, sets, there, x);
  }
}

// That in all SETS columns, as many as there are.
inline void subtract_products(__global real* a, int n, int left, int row, int row_end, int top,
                              real (*u)[SETS], const __local scratch_of* shared) {
  const int sets = min((n - left + LANES - 1) / LANES, SETS);  // of some work-items
  const int column = left + (int)get_local_id(0) % LANES, there = (n - column + LANES - 1) / LANES;
  if (sets == 1) subtract_product(a, n, column, there, row, row_end, top, u, 1, shared);
  if (sets == 2) subtract_product(a, n, column, there, row, row_end, top, u, 2, shared);
#if SETS == 4
  if (sets == 3) subtract_product(a, n, column, there, row, row_end, top, u, 3, shared);
  if (sets == 4) subtract_product(a, n, column, there, row, row_end, top, u, 4, shared);
#endif
}

// With a whole panel: U = inv(L11) A in its rows and all columns right of it, and A -= L U below. A
// column belongs to ITEMS / LANES work-items, each of which solves for all of U.
inline void update(__global real* a, int n, int first, __local scratch_of* shared) {
  const int me = get_local_id(0), group = me / LANES;
  for (int left = first + NB; left < n; left += SETS * LANES) {
    const int column = left + me % LANES, there = (n - column + LANES - 1) / LANES;
    real u[NB][SETS];
#if ORDER > PANEL_ROWS
    bring_rows(a, n, first, 0, shared);
#endif
    UNROLL
    for (int q = 0; q < NB; ++q) {
      const __local real* l = (const __local real*)shared->panel[q];
      load_sets(a + (first + q) * n + column, SETS, there, u[q]);
      UNROLL
      for (int p = 0; p < NB; ++p) {
        UNROLL
        for (int s = 0; s < SETS; ++s) {
          if (p < q) u[q][s] = fma(-l[p], u[p][s], u[q][s]);
        }
      }
    }
    barrier(CLK_GLOBAL_MEM_FENCE);  // all have read what the first ones overwrite
    UNROLL
    for (int q = 0; q < NB; ++q) {
      if (group == 0) store_sets(a + (first + q) * n + column, SETS, there, u[q]);
    }
    subtract_products(a, n, left, first + NB + group, min(first + PANEL_ROWS, n), first, u, shared);
#if ORDER > PANEL_ROWS
    for (int top = PANEL_ROWS; top < n - first; top += PANEL_ROWS) {
      bring_rows(a, n, first, top, shared);
      subtract_products(a, n, left, first + top + group, min(first + top + PANEL_ROWS, n),
                        first + top, u, shared);
    }
#endif
  }
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
}

// As gpu/batch_blocked.cl's.
__kernel REQUIRE_SIZE(ITEMS) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  __local scratch_of shared;
  const int me = get_local_id(0);
  const size_t matrix = get_group_id(0);
  __global real* a = matrices + matrix * n * n;
  int zero = 0;
  for (int first = 0; first < n; first += NB) {
    const int width = min(NB, n - first);
    const int found = factor_panel(a, n, first, width, &shared);
    if (zero == 0 && found > 0) zero = first + found;
#if PIVOT == PARTIAL
    if (me < width) ipiv[matrix * n + first + me] = first + position_in(shared.pivots[me]);
    interchange(a, n, first, width, &shared);
#endif
    if (width == NB) update(a, n, first, &shared);
  }
  if (me == 0) info[matrix] = zero;
}
