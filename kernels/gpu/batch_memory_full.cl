// LU of many matrices of order 129 and more with full pivoting, a work-group for each, in global
// memory: every step needs all that is left of the matrix. Few work-groups with many work-items
// each, so that their matrices stay in the caches.
//
// Build options: ITEMS, of a work-group; ORDER, the most rows; those of gpu/batch_places.clh.

#include "gpu/batch_places.clh"

#define LANES 64  // work-items next to one another in a row
#define SETS 4    // of LANES columns that are updated at once
#define TEAM 32   // work-items that compare before the others
#define TEAMS (ITEMS / TEAM)

// A place here: the positions of its column and row.
inline uint full_place(int column, int row) { return (uint)column << 16 | (uint)row; }
inline int row_in(uint place) { return place & 0xffff; }
inline int column_in(uint place) { return place >> 16; }

// What the teams propose (for even and odd steps): the rank, the place and the element. The column
// of the pivot, divided by it.
typedef struct {
  key_type keys[2][TEAMS];
  uint places[2][TEAMS];
  real values[2][TEAMS];
  real column[ORDER];
#ifndef LUGPU_NVIDIA
  key_type all_keys[ITEMS];
  uint all_places[ITEMS];
#endif
} scratch_of;

// The pivot of step k, and its element, from all work-items' candidates. If all that is left is NaN
// there are none, and the first is taken.
inline uint choose(const __global real* a, int n, int k, key_type key, uint place, real* value,
                   __local scratch_of* shared) {
  const int me = get_local_id(0), parity = k & 1, team = me / TEAM;
#ifdef LUGPU_NVIDIA
  const key_type best = largest_of_warp(key);
  const uint proposed = warp_min(key == best ? place : NO_PLACE);
#else
  shared->all_keys[me] = key;
  shared->all_places[me] = place;
  barrier(CLK_LOCAL_MEM_FENCE);
  key_type best = key;
  uint proposed = place;
  for (int i = team * TEAM; i < (team + 1) * TEAM; ++i)
    compare(shared->all_keys[i], shared->all_places[i], &best, &proposed);
#endif
  const bool none = proposed == NO_PLACE;
  if (none ? me % TEAM == 0 : place == proposed) {
    shared->keys[parity][team] = best;
    shared->places[parity][team] = none ? full_place(k, k) : place;
    shared->values[parity][team] = none ? (real)NAN : a[row_in(place) * n + column_in(place)];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#ifdef LUGPU_NVIDIA
  const int t = me % TEAMS;
  const uint mine = shared->places[parity][t], pivot = best_of_warp(shared->keys[parity][t], mine);
  *value = shared->values[parity][highest_lane(lanes_where(mine == pivot)) % TEAMS];
#else
  uint pivot = NO_PLACE;
  key_type largest = 0;
  for (int t = 0; t < TEAMS; ++t) {
    const key_type proposed_key = shared->keys[parity][t];
    const uint proposed_place = shared->places[parity][t];
    if (proposed_key > largest || (proposed_key == largest && proposed_place < pivot)) {
      largest = proposed_key;
      pivot = proposed_place;
      *value = shared->values[parity][t];
    }
  }
#endif
  return pivot;
}

// A(k:n, k:n) -= L(k:n, k-1) U(k-1, k:n), for k > 0, and the pivot of step k.
inline uint update_and_search(__global real* a, int n, int k, real* value,
                              __local scratch_of* shared) {
  const int me = get_local_id(0);
  key_type key = 0;
  uint place = NO_PLACE;
  for (int left = k; left < n; left += SETS * LANES) {
    const int column = left + me % LANES;
    real u[SETS], best[SETS];
    int row[SETS];
    UNROLL
    for (int s = 0; s < SETS; ++s) {
      const bool there = k > 0 && column + s * LANES < n;
      u[s] = there ? a[(k - 1) * n + column + s * LANES] : (real)0;
      best[s] = -1;
      row[s] = 0;
    }
    for (int i = k + me / LANES; i < n; i += ITEMS / LANES) {
      const real l = k > 0 ? shared->column[i] : (real)0;
      UNROLL
      for (int s = 0; s < SETS; ++s) {
        if (column + s * LANES >= n) continue;
        __global real* element = a + i * n + column + s * LANES;
        const real x = k > 0 ? fma(-l, u[s], *element) : *element;
        if (k > 0) *element = x;
        const bool better = fabs(x) > best[s];  // never NaN
        best[s] = better ? fabs(x) : best[s];
        row[s] = better ? i : row[s];
      }
    }
    UNROLL
    for (int s = 0; s < SETS; ++s) {
      if (best[s] >= 0)
        compare(rank_of(best[s]), full_place(column + s * LANES, row[s]), &key, &place);
    }
  }
  return choose(a, n, k, key, place, value, shared);
}

// As gpu/batch_full.cl's.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  __local scratch_of shared;
  const int me = get_local_id(0);
  const size_t matrix = get_group_id(0);
  __global real* a = matrices + matrix * n * n;
  int zero = 0;
  for (int k = 0; k < n; ++k) {
    real value, scale, inverse;
    const uint pivot = update_and_search(a, n, k, &value, &shared);
    const int row = row_in(pivot), column = column_in(pivot);
    if (me == 0) {
      ipiv[matrix * n + k] = row;
      jpiv[matrix * n + k] = column;
    }
    if (value == 0 && zero == 0) zero = k + 1;
    for (int j = me; j < n && row != k; j += ITEMS) {
      const real x = a[k * n + j];
      a[k * n + j] = a[row * n + j];
      a[row * n + j] = x;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    // Columns change places, and column k becomes L below the diagonal.
    reciprocal(value, &scale, &inverse);
    for (int i = me; i < n; i += ITEMS) {
      const real x = a[i * n + column];
      const real l = i > k ? x * scale * inverse : x;
      if (column != k) a[i * n + column] = a[i * n + k];
      a[i * n + k] = l;
      shared.column[i] = l;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  if (me == 0) info[matrix] = zero;
}
