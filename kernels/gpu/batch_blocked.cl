// LU of many matrices of order 33 to 128, without or with partial pivoting, by panels of TILE
// columns, each matrix in registers (gpu/batch_tiles.clh):
//
//   1. The panel goes by way of local memory to the registers of LANES work-items, on NVIDIA's GPUs
//      a warp, which factor it (factor_panel). Rows do not move: their places are followed, and the
//      steps in which they were chosen.
//   2. The rows that were chosen go to local memory (give_rows). A work-item for each column right
//      of the panel makes U of them and takes it to its place in the matrix (solve_rows).
//   3. The product of L and U is subtracted (update). Rows that were chosen may become anything.
//
// In the end the rows of L, and of U in the panel's columns, go to their places.
//
// Build options: those of gpu/batch_tiles.clh.

#include "gpu/batch_tiles.clh"

#define LANES 32              // work-items that factor a panel
#define ROWS (ORDER / LANES)  // of the panel that one of them has, LANES apart
#define NOT_YET 255

// The panel, by columns; of the rows that were chosen in the panel, what is in it and what is right
// of it; the step in which a row was chosen.
typedef struct {
  pack panel[TILE][ORDER / PACK];
  pack chosen[TILE][TILE / PACK];
  pack upper[TILE][ORDER / PACK];
  uchar step[ORDER];
#ifndef LUGPU_NVIDIA
  key_type keys[2][LANES];
  uint places[2][LANES];
#endif
} scratch_of;

// The place of the best candidate of the panel's work-items, in column c.
inline uint best_of_panel(key_type best, uint where, int c, __local scratch_of* shared) {
#ifdef LUGPU_NVIDIA
  return best_of_warp(best, where);
#else
  return best_of(best, where, get_local_id(0), LANES, shared->keys[c % 2], shared->places[c % 2]);
#endif
}

// For the panel's work-items, and for what they wrote to local memory.
inline void wait_for_panel() {
#ifdef LUGPU_NVIDIA
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
#else
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

// Column c of the panel, which is k of the matrix, in the work-item's rows y of it; nothing if the
// matrix has no such column. places: of the rows, NO_PLACE where there is none or it has been
// chosen. pivot_of_me: of column me of the panel. Returns whether the pivot is zero. (Conditions
// are values where they can be: branches would be half of the time.)
inline bool take_step(real (*y)[TILE], uint* places, const int c, int k, int n, uint* pivot_of_me,
                      __local scratch_of* shared) {
  const int me = get_local_id(0);
  const bool working = me < LANES && k < n;
#if PIVOT == NONE
  const uint pivot = place_of(0, k, k);
#else
  key_type keys[ROWS], best = 0;
  uint where = NO_PLACE;
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    keys[r] = places[r] == NO_PLACE ? 0 : rank_of(y[r][c]);
    best = max(best, keys[r]);
  }
  UNROLL
  for (int r = 0; r < ROWS; ++r) where = min(where, keys[r] == best ? places[r] : NO_PLACE);
  const uint pivot = best_of_panel(best, where, c, shared);
#endif
  *pivot_of_me = me == c ? pivot : *pivot_of_me;
  // (A comparison of r itself the compiler turns into a computed address, and the rows go to
  // memory.)
  const uint chosen = working && row_of(pivot) % LANES == me ? 1u << row_of(pivot) / LANES : 0;
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    if (chosen >> r & 1) {
      write_packs(y[r], shared->chosen[c]);
      shared->step[me + LANES * r] = k;
      places[r] = NO_PLACE;
    }
  }
  wait_for_panel();
  real u[TILE];
  read_packs(shared->chosen[c], u);
  const real value = u[c];
  real scale, inverse;
  reciprocal(value, &scale, &inverse);
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    const bool goes_on = working & (places[r] != NO_PLACE);
    const uint moved = place_of(0, row_position_of(pivot), row_of(places[r]));
    const bool moves = goes_on & (row_position_of(places[r]) == k);
    places[r] = moves ? moved : places[r];
    const real l = y[r][c] * scale * inverse;
    y[r][c] = goes_on ? l : y[r][c];
    UNROLL
    for (int e = 0; e < TILE; ++e) {
      if (e > c) y[r][e] = goes_on ? fma(-l, u[e], y[r][e]) : y[r][e];
    }
  }
  return k < n && value == 0;
}

// The panel of the columns from `first` on, in local memory. places: as in take_step().
inline void factor_panel(int n, int first, uint* places, __global int* ipiv, int* zero,
                         __local scratch_of* shared) {
  const int me = get_local_id(0);
  __local real* panel = (__local real*)shared->panel;
  real y[ROWS][TILE];
#ifdef LUGPU_NVIDIA
  if (me >= LANES || first >= n) return;
#endif
  UNROLL
  for (int r = 0; r < ROWS && me < LANES; ++r) {
    UNROLL
    for (int c = 0; c < TILE; ++c) y[r][c] = panel[c * ORDER + me + LANES * r];
  }
  uint pivot = NO_PLACE;
  UNROLL
  for (int c = 0; c < TILE; ++c) {
    const bool is_zero = take_step(y, places, c, first + c, n, &pivot, shared);
    if (is_zero && *zero == 0) *zero = first + c + 1;
  }
#if PIVOT == PARTIAL
  if (me < TILE && first + me < n) ipiv[first + me] = row_position_of(pivot);
#endif
  UNROLL
  for (int r = 0; r < ROWS && me < LANES; ++r) {
    UNROLL
    for (int c = 0; c < TILE; ++c) panel[c * ORDER + me + LANES * r] = y[r][c];
  }
}

// The work-item's tile to the next panel.
inline void give_panel(real (*x)[TILE], __local scratch_of* shared) {
  UNROLL
  for (int c = 0; c < TILE; ++c) {
    real column[TILE];
    UNROLL
    for (int i = 0; i < TILE; ++i) column[i] = x[i][c];
    write_packs(column, shared->panel[c] + TILE * down() / PACK);
  }
}

// The factored panel to the tiles that it came from.
inline void take_panel(real (*x)[TILE], const __local scratch_of* shared) {
  UNROLL
  for (int c = 0; c < TILE; ++c) {
    real column[TILE];
    read_packs(shared->panel[c] + TILE * down() / PACK, column);
    UNROLL
    for (int i = 0; i < TILE; ++i) x[i][c] = column[i];
  }
}

// The rows that were chosen in the panel from tiles right of it.
inline void give_rows(real (*x)[TILE], int first, __local scratch_of* shared) {
  UNROLL
  for (int i = 0; i < TILE; ++i) {
    const int slot = shared->step[TILE * down() + i] - first;
    if (slot < 0 || slot >= TILE) continue;
    write_packs(x[i], shared->upper[slot] + TILE * across() / PACK);
  }
}

// U = inv(L11) times those rows, in a column right of the panel for each work-item.
inline void solve_rows(__global real* a, int n, int first, __local scratch_of* shared) {
  const int column = first + TILE + get_local_id(0);
  if (column >= n) return;
  __local real* upper = (__local real*)shared->upper + column;
  real u[TILE];
  UNROLL
  for (int q = 0; q < TILE; ++q) {
    real l[TILE];
    read_packs(shared->chosen[q], l);
    u[q] = upper[q * ORDER];
    UNROLL
    for (int s = 0; s < TILE; ++s) {
      if (s < q) u[q] = fma(-l[s], u[s], u[q]);
    }
    upper[q * ORDER] = u[q];
    a[(first + q) * n + column] = u[q];
  }
}

// The product of the panel and those rows in the work-item's tile.
inline void update(real (*x)[TILE], const __local scratch_of* shared) {
#pragma nounroll
  for (int q = 0; q < TILE; ++q) {
    real l[TILE], u[TILE];
    read_packs(shared->panel[q] + TILE * down() / PACK, l);
    read_packs(shared->upper[q] + TILE * across() / PACK, u);
    subtract_product(x, l, u);
  }
}

// P A = L U of the matrices, n x n, by rows: unit lower L below the diagonal, U on and above it.
// ipiv: n of each matrix, 0-based: row k was interchanged with that one. info: of each, the first
// pivot (1-based) that is exactly zero, 0 if there is none.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  __local scratch_of shared;
  const int me = get_local_id(0);
  const size_t matrix = get_group_id(0);
  __global real* a = matrices + matrix * n * n;
  __global int* pivots = ipiv + (PIVOT == NONE ? 0 : matrix * n);
  real x[TILE][TILE];
  UNROLL
  for (int i = 0; i < TILE; ++i) load_row(a, n, TILE * down() + i, x[i], 0);
  uint places[ROWS];
  int zero = 0;
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    const int row = me + LANES * r;
    places[r] = me < LANES && row < n ? place_of(0, row, row) : NO_PLACE;
  }
  for (int i = me; i < ORDER; i += ITEMS) shared.step[i] = NOT_YET;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // what was read may be overwritten
  // In each turn the panel from `first` on is used and the next one is factored.
  for (int first = -TILE; first < n; first += TILE) {
    const int next = first + TILE;
    if (TILE * across() == first) take_panel(x, &shared);
    if (TILE * across() > first && first >= 0) give_rows(x, first, &shared);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first >= 0) solve_rows(a, n, first, &shared);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (TILE * across() > first && first >= 0) update(x, &shared);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (TILE * across() == next) give_panel(x, &shared);
    barrier(CLK_LOCAL_MEM_FENCE);
    factor_panel(n, next, places, pivots, &zero, &shared);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  UNROLL
  for (int i = 0; i < TILE; ++i) {
    const int k = shared.step[TILE * down() + i];
    if (k != NOT_YET && across() <= k / TILE) store_row(a, n, k, x[i]);
  }
  if (me == 0) info[matrix] = zero;
}
