// LU of many matrices of order up to 32, without or with partial pivoting, each in the registers of
// ITEMS work-items: a work-item has one row, or two that are ITEMS apart. All steps are unrolled,
// so that every column stays in its register.
//
// Rows do not move: a row's `place` is the position where the interchanges have brought it, which
// is LAPACK's pivot when the row is chosen. In step k the chosen row goes to row k of the slab
// (gpu/batch_slab.clh), for all to take, and there it stays. In registers it becomes NaN by its
// multiplier, and its place is behind all others, so that no search finds it, not even among NaN,
// and all rows have the same products. L of it, left of column k, is not touched any more, and
// follows in the end.
//
// Build options: MATRICES of a work-group; those of gpu/batch_slab.clh.

#include "gpu/batch_slab.clh"

// Of a place: the step in which its row was chosen, if it was.
inline uint chosen_in(int k) { return CHOSEN | (uint)k << 8; }
inline int step_of(uint place) { return (place ^ CHOSEN) >> 8; }

// Of a matrix. zero: the first step (from 1) whose pivot is zero. Without NVIDIA's instructions:
// the candidates for the pivot, for even and odd steps.
typedef struct {
  pack slab[ORDER * PITCH];
  int zero;
#ifndef LUGPU_NVIDIA
  key_type keys[2][ITEMS];
  uint places[2][ITEMS];
#endif
} scratch_of;

// The place of the pivot.
inline uint choose(real x[ROWS][ORDER], int k, const uint* place, __local scratch_of* shared) {
#if PIVOT == NONE
  return k;
#else
  key_type best = rank_of(x[0][k]);
  uint where = place[0];
  UNROLL
  for (int r = 1; r < ROWS; ++r) compare(rank_of(x[r][k]), place[r], &best, &where);
#ifdef LUGPU_NVIDIA
  return best_of_matrix(best, where);
#else
  return best_of(best, where, item_here(), ITEMS, shared->keys[k % 2], shared->places[k % 2]);
#endif
#endif
}

inline void take_step(real x[ROWS][ORDER], const int k, uint* place, __local scratch_of* shared) {
  const uint pivot = choose(x, k, place, shared);
  __local pack* u = shared->slab + k * PITCH;
  bool mine[ROWS];
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    mine[r] = place[r] == pivot;
    if (mine[r]) write_row(x[r], k, u);
    // Who is at position k goes to the pivot's.
    place[r] = mine[r] ? place[r] | chosen_in(k) : place[r] == (uint)k ? pivot : place[r];
  }
  wait_for_matrix();
  const real value = ((const __local real*)u)[k];
  real l[ROWS], scale, inverse;
  UNROLL
  for (int r = 0; r < ROWS; ++r) l[r] = x[r][k];
  if (!invert(value, &inverse)) {
    reciprocal(value, &scale, &inverse);
    UNROLL
    for (int r = 0; r < ROWS; ++r) l[r] *= scale;
  }
  UNROLL
  for (int r = 0; r < ROWS; ++r) x[r][k] = l[r] = mine[r] ? (real)NAN : l[r] * inverse;
  UNROLL
  for (int p = 0; p < PACKS; ++p) {
    if (p < k / PACK) continue;
    const pack of_row = u[p];
    UNROLL
    for (int e = 0; e < PACK; ++e) {
      const int b = p * PACK + e;
      UNROLL
      for (int r = 0; r < ROWS; ++r) {
        if (b > k) x[r][b] = fma(-l[r], element_of(of_row, e), x[r][b]);
      }
    }
  }
}

// The packs of L that write_row() left out when a row was chosen, to its place in the slab.
inline void write_rest(const real* x, uint place, __local pack* slab) {
  if (place < CHOSEN) return;
  UNROLL
  for (int p = 0; p < PACKS; ++p) {
    if (p < step_of(place) / PACK) slab[step_of(place) * PITCH + p] = pack_of(x + p * PACK);
  }
}

// P A = L U of the matrices, n x n, by rows: unit lower L below the diagonal, U on and above it.
// ipiv: n of each matrix, 0-based: row k was interchanged with that one. info: of each, the first
// pivot (1-based) that is exactly zero, 0 if there is none.
__kernel __attribute__((reqd_work_group_size(ITEMS * MATRICES, 1, 1))) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  __local scratch_of scratch[MATRICES];
  const int matrix = get_group_id(0) * MATRICES + get_local_id(0) / ITEMS;
  __local scratch_of* shared = scratch + get_local_id(0) / ITEMS;
  __local pack* slab = shared->slab;
  __global real* a = matrices + (size_t)matrix * n * n;
  real x[ROWS][ORDER];
  uint place[ROWS];
  if (item_here() == 0) shared->zero = INT_MAX;
  fill_slab(a, n, matrix < count, slab);
  wait_for_matrix();
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    place[r] = item_here() + r * ITEMS;
    read_row(x[r], slab + place[r] * PITCH);
  }
  wait_for_matrix();
#ifdef UNROLLED
// By fours: steps behind column n choose rows that are not of the matrix, and change nothing of it.
#define STEP(k) take_step(x, k, place, shared);
#define STEPS_4(k)                              \
  if (k < ORDER && k < n) {                     \
    STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3) \
  }
#define STEPS_16(k) STEPS_4(k) STEPS_4(k + 4) STEPS_4(k + 8) STEPS_4(k + 12)
  STEPS_16(0)
  STEPS_16(16)
#else
  for (int k = 0; k < n; ++k) take_step(x, k, place, shared);
#endif
  UNROLL
  for (int r = 0; r < ROWS; ++r) write_rest(x[r], place[r], slab);
  wait_for_matrix();
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    const int i = item_here() + r * ITEMS;
    if (i < n && ((const __local real*)(slab + i * PITCH))[i] == 0)
      atomic_min(&shared->zero, i + 1);
  }
  wait_for_matrix();
  if (matrix >= count) return;
  empty_slab(a, n, slab);
#if PIVOT == PARTIAL
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    const int k = step_of(place[r]);
    if (k < n) ipiv[(size_t)matrix * n + k] = place[r] & 255;
  }
#endif
  if (item_here() == 0) info[matrix] = shared->zero == INT_MAX ? 0 : shared->zero;
}
