// LU with full pivoting of many matrices of order up to 32, each in the registers of ORDER
// work-items: a work-item has a row. All steps are unrolled, so that every column stays in its
// register.
//
// Rows do not move: a row's `place` (gpu/batch_places.clh) has the position where the interchanges
// have brought it. The row that is chosen in step k goes to local memory, for all to take, and
// keeps its elements; its place is CHOSEN + k from then on. In the end every row goes there.
// Columns are interchanged in all rows, those chosen before too.
//
// Build options: MATRICES of a work-group; those of gpu/batch_slab.clh, ITEMS == ORDER.

#include "gpu/batch_slab.clh"

// Of a matrix: the pivot's row (for even and odd steps); the matrix on its way from and to global
// memory; the pivots' places; without NVIDIA's instructions the candidates for the pivot.
typedef struct {
  pack row[2][PACKS];
  pack slab[ORDER * PITCH];
  uint pivots[ORDER];
#ifndef LUGPU_NVIDIA
  key_type keys[2][ORDER];
  uint places[2][ORDER];
#endif
} scratch_of;

// The largest element of a row in what is left, and its column. -1, and column k, if all are NaN.
inline real largest_of_row(const real* x, int k, int* there) {
  real largest = -1;
  UNROLL
  for (int b = 0; b < ORDER; ++b) {
    if (b >= k) largest = fmax(largest, fabs(x[b]));
  }
  *there = k;
  UNROLL
  for (int b = ORDER - 1; b >= 0; --b) {
    if (b >= k && fabs(x[b]) == largest) *there = b;
  }
  return largest;
}

// The interchange of column k and the pivot's, p, in a row. (A comparison of b itself the compiler
// turns into an address, and puts the row into memory.)
inline void exchange_columns(real* x, int k, int p) {
  const uint in = 1u << p;
  const real first = x[k];
  UNROLL
  for (int b = 0; b < ORDER; ++b) {
    if (b > k && (in >> b & 1)) {
      x[k] = x[b];
      x[b] = first;
    }
  }
}

// The place of the pivot. place: that of the work-item's row.
inline uint choose(const real* x, int k, uint place, __local scratch_of* shared) {
  int there;
  const real largest = largest_of_row(x, k, &there);
  const bool left = place < CHOSEN;
  const key_type key = left && largest >= 0 ? rank_of(largest) : 0;
  const uint where = left ? place_of(there, 0, 0) | place : NO_PLACE;
#ifdef LUGPU_NVIDIA
  return best_of_matrix(key, where);
#else
  return best_of(key, where, item_here(), ORDER, shared->keys[k % 2], shared->places[k % 2]);
#endif
}

// The elimination, in a row that has not been chosen. u: the pivot's row.
inline void eliminate(real* x, int k, bool active, real pivot, const __local pack* u) {
  real l = x[k], scale, inverse;
  if (!invert(pivot, &inverse)) {
    reciprocal(pivot, &scale, &inverse);
    l *= scale;
  }
  if (!active) return;
  l *= inverse;
  x[k] = l;
  UNROLL
  for (int p = 0; p < PACKS; ++p) {
    if (p < k / PACK) continue;
    const pack of_row = u[p];
    UNROLL
    for (int e = 0; e < PACK; ++e) {
      const int b = p * PACK + e;
      if (b > k) x[b] = fma(-l, element_of(of_row, e), x[b]);
    }
  }
}

inline void take_step(real* x, const int k, uint* place, int* zero, __local scratch_of* shared) {
  const uint pivot = choose(x, k, *place, shared);
  exchange_columns(x, k, column_position_of(pivot));
  const bool mine = item_here() == row_of(pivot);
  if (mine) write_row(x, k, shared->row[k % 2]);
  // Who is at position k goes to the pivot's.
  if (*place < place_of(0, k + 1, 0)) *place = place_of(0, row_position_of(pivot), item_here());
  if (mine) *place = CHOSEN + k;
  if (item_here() == 0) shared->pivots[k] = pivot;
  wait_for_matrix();
  const __local pack* u = shared->row[k % 2];
  const real value = ((const __local real*)u)[k];
  eliminate(x, k, *place < CHOSEN, value, u);
  if (value == 0) *zero = min(*zero, k + 1);
}

// P A Q = L U of the matrices, n x n, by rows: unit lower L below the diagonal, U on and above it.
// ipiv, jpiv: n of each matrix, 0-based: row (column) k was interchanged with that one. info: of
// each, the first pivot (1-based) that is exactly zero, 0 if there is none.
__kernel __attribute__((reqd_work_group_size(ITEMS * MATRICES, 1, 1))) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  __local scratch_of scratch[MATRICES];
  const int r = item_here();
  const int matrix = get_group_id(0) * MATRICES + get_local_id(0) / ITEMS;
  __local scratch_of* shared = scratch + get_local_id(0) / ITEMS;
  __global real* a = matrices + (size_t)matrix * n * n;
  real x[ORDER];
  fill_slab(a, n, matrix < count, shared->slab);
  wait_for_matrix();
  read_row(x, shared->slab + r * PITCH);
  uint place = r < n ? place_of(0, r, r) : CHOSEN;
  int zero = INT_MAX;  // the first step (from 1) whose pivot is zero
#ifdef UNROLLED
#define STEP(k) \
  if (k < ORDER && k < n) take_step(x, k, &place, &zero, shared);
#define STEPS_4(k) STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3)
#define STEPS_16(k) STEPS_4(k) STEPS_4(k + 4) STEPS_4(k + 8) STEPS_4(k + 12)
  STEPS_16(0)
  STEPS_16(16)
#else
  for (int k = 0; k < n; ++k) take_step(x, k, &place, &zero, shared);
#endif
  if (r < n) write_row(x, 0, shared->slab + (place - CHOSEN) * PITCH);
  wait_for_matrix();
  if (matrix >= count) return;
  empty_slab(a, n, shared->slab);
  if (r < n) {
    ipiv[(size_t)matrix * n + r] = row_position_of(shared->pivots[r]);
    jpiv[(size_t)matrix * n + r] = column_position_of(shared->pivots[r]);
  }
  if (r == 0) info[matrix] = zero == INT_MAX ? 0 : zero;
}
