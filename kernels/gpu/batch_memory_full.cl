// Steps of P A Q = L U with full pivoting of every matrix of a batch of order up to ORDER, one to a
// work-group, in global memory, before gpu/batch_full.cl takes what is left: every step needs all
// of that. Few work-groups with many work-items each, so that their matrices stay in the caches; a
// work-item waits for many elements at once. What is left is read in every step, but written in
// every PENDING-th alone: the products of the steps between are computed anew for each search.
//
// Build options: ITEMS, of a work-group; ORDER; PENDING; those of gpu/batch_places.clh.

#include "gpu/batch_places.clh"

#define LANES 64                      // work-items next to one another in a row
#define SETS 4                        // of LANES columns that are updated at once
#define ROWS ((int)sizeof(real) / 2)  // that are updated at once
#define APART (ITEMS / LANES)         // so many rows from one to the next
#define TEAM 32                       // work-items that compare before the others
#define TEAMS (ITEMS / TEAM)
#define OWN ((ORDER + ITEMS - 1) / ITEMS)  // rows and columns that a work-item interchanges

// A place here: the positions of its column and row.
inline uint full_place(int column, int row) { return (uint)column << 16 | (uint)row; }
inline int row_in(uint place) { return place & 0xffff; }
inline int column_in(uint place) { return place >> 16; }

// What the teams propose (for even and odd steps): the rank, the place and the element. Columns of
// L that are pending.
typedef struct {
  key_type keys[2][TEAMS];
  uint places[2][TEAMS];
  real values[2][TEAMS];
  real columns[PENDING][ORDER];
#ifndef LUGPU_NVIDIA
  key_type all_keys[ITEMS];
  uint all_places[ITEMS];
#endif
} scratch_of;

// Columns first : first + count of L and these rows of U are what A(first+count:n, first+count:n)
// has not had yet.
typedef struct {
  int first, count;
} pending_of;

// A(i, j) with that.
inline real updated(const __global real* a, int n, int i, int j, pending_of pending,
                    const __local scratch_of* shared) {
  real x = a[i * n + j];
  UNROLL
  for (int p = 0; p < PENDING; ++p) {
    if (p < pending.count) x = fma(-shared->columns[p][i], a[(pending.first + p) * n + j], x);
  }
  return x;
}

// The row of an element, and its sign.
#define SIGN 0x80000000
inline uint signed_row(int row, real x) {
#ifdef LUGPU_DOUBLE
  return (uint)row | (as_uint2(x).y & SIGN);
#else
  return (uint)row | (as_uint(x) & SIGN);
#endif
}

// The pivot of step k, and its element, from all work-items' candidates; a work-item without one
// has NO_PLACE and NaN. If all that is left is NaN there are none, and the first place is taken.
inline uint choose(int k, key_type key, uint place, real* value, __local scratch_of* shared) {
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
  if (proposed == NO_PLACE ? me % TEAM == 0 : place == proposed) {
    shared->keys[parity][team] = best;
    shared->places[parity][team] = proposed;
    shared->values[parity][team] = *value;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#ifdef LUGPU_NVIDIA
  const int t = me % TEAMS;
  const uint mine = shared->places[parity][t], pivot = best_of_warp(shared->keys[parity][t], mine);
  *value = shared->values[parity][highest_lane(lanes_where(mine == pivot)) % TEAMS];
#else
  uint pivot = NO_PLACE;
  key_type largest = 0;
  *value = NAN;
  for (int t = 0; t < TEAMS; ++t) {
    const uint before = pivot;
    compare(shared->keys[parity][t], shared->places[parity][t], &largest, &pivot);
    if (pivot != before) *value = shared->values[parity][t];
  }
#endif
  return pivot == NO_PLACE ? full_place(k, k) : pivot;
}

// The pivot of step k. What is pending goes to A(k:n, k:n) if it has to, or no more can be.
inline uint search(__global real* a, int n, int k, bool has_to, pending_of* pending, real* value,
                   __local scratch_of* shared) {
  const int me = get_local_id(0);
  const bool writes = has_to || pending->count == PENDING;
  key_type key = 0;
  uint place = NO_PLACE;
  *value = NAN;
  for (int left = k & ~7; left < n; left += SETS * LANES) {  // where 32 bytes begin, or nearly
    const int column = left + me % LANES;
    real u[PENDING][SETS], best[SETS];
    uint row[SETS];
    bool there[SETS];
    UNROLL
    for (int s = 0; s < SETS; ++s) {
      const int j = column + s * LANES;
      there[s] = j >= k && j < n;
      UNROLL
      for (int p = 0; p < PENDING; ++p)
        u[p][s] = p < pending->count && there[s] ? a[(pending->first + p) * n + j] : (real)0;
      best[s] = -1;
      row[s] = 0;
    }
    const int sets = (n - left + LANES - 1) / LANES;  // that are there at all
    for (int top = k + me / LANES; top < n; top += ROWS * APART) {
      real x[ROWS][SETS];
      UNROLL
      for (int r = 0; r < ROWS; ++r) {
        const int i = top + r * APART;
        if (i >= n) continue;
        __global const real* from = a + i * n + column;
        UNROLL
        for (int s = 0; s < SETS; ++s) {
          if (s < sets) x[r][s] = there[s] ? from[s * LANES] : (real)NAN;
        }
      }
      UNROLL
      for (int r = 0; r < ROWS; ++r) {
        const int i = top + r * APART;
        if (i >= n) continue;
        real l[PENDING];
        UNROLL
        for (int p = 0; p < PENDING; ++p)
          l[p] = p < pending->count ? shared->columns[p][i] : (real)0;
        __global real* to = a + i * n + column;
        UNROLL
        for (int s = 0; s < SETS; ++s) {
          if (s >= sets) continue;
          UNROLL
          for (int p = 0; p < PENDING; ++p) x[r][s] = fma(-l[p], u[p][s], x[r][s]);
          if (writes && there[s]) to[s * LANES] = x[r][s];
          const bool better = fabs(x[r][s]) > best[s];  // never NaN
          best[s] = better ? fabs(x[r][s]) : best[s];
          row[s] = better ? signed_row(i, x[r][s]) : row[s];
        }
      }
    }
    UNROLL
    for (int s = 0; s < SETS; ++s) {
      if (best[s] < 0) continue;
      const uint before = place;
      compare(rank_of(best[s]), full_place(column + s * LANES, row[s] & ~SIGN), &key, &place);
      if (place != before) *value = row[s] & SIGN ? -best[s] : best[s];
    }
  }
  if (writes) {
    pending->first = k;
    pending->count = 0;
  }
  return choose(k, key, place, value, shared);
}

// Rows k and `row` and columns k and `column` change places, and column k becomes L below the
// diagonal, row k U right of it.
inline void exchange_and_divide(__global real* a, int n, int k, int row, int column, real pivot,
                                pending_of* pending, __local scratch_of* shared) {
  const int me = get_local_id(0);
  const pending_of nothing = {0, 0};
  real scale, inverse;
  reciprocal(pivot, &scale, &inverse);
  real to_k[OWN], to_row[OWN], to_left[OWN], to_column[OWN];
  UNROLL
  for (int o = 0; o < OWN; ++o) {
    const int t = me + o * ITEMS;
    if (t >= n) continue;
    const int from = t == k ? column : t == column ? k : t;
    const pending_of its_pending = t < k ? nothing : *pending;
    to_k[o] = updated(a, n, row, from, its_pending, shared);
    to_row[o] = t == k ? updated(a, n, k, from, *pending, shared) : a[k * n + from];
    to_left[o] = updated(a, n, t, column, its_pending, shared);
    to_column[o] = a[t * n + k];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  UNROLL
  for (int o = 0; o < OWN; ++o) {
    const int t = me + o * ITEMS;
    if (t >= n) continue;
    const real divided = (t == k ? to_row[o] : to_left[o]) * scale * inverse;
    a[k * n + t] = to_k[o];
    if (row != k) a[row * n + t] = t == k ? divided : to_row[o];
    if (t != k && t != row) {
      a[t * n + k] = t > k ? divided : to_left[o];
      if (column != k) a[t * n + column] = to_column[o];
    }
    if (t == k) shared->columns[pending->count][row] = divided;
    if (t > k && t != row) shared->columns[pending->count][t] = divided;
  }
  if (me < pending->count) shared->columns[me][row] = shared->columns[me][k];
  ++pending->count;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

// Steps first : first + steps of P A Q = L U of the matrices, n x n, by rows, as
// gpu/batch_blocked.cl's. jpiv: as ipiv, of columns.
__kernel REQUIRE_SIZE(ITEMS) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count, int first, int steps) {
  __local scratch_of shared;
  const size_t matrix = get_group_id(0);
  __global real* a = matrices + matrix * n * n;
  pending_of pending = {first, 0};
  int zero = 0;
  real value;
  for (int k = first; k < first + steps; ++k) {
    const uint pivot = search(a, n, k, false, &pending, &value, &shared);
    const int row = row_in(pivot), column = column_in(pivot);
    if (get_local_id(0) == 0) {
      ipiv[matrix * n + k] = row;
      jpiv[matrix * n + k] = column;
    }
    if (value == 0 && zero == 0) zero = k + 1;
    exchange_and_divide(a, n, k, row, column, value, &pending, &shared);
  }
  search(a, n, first + steps, true, &pending, &value, &shared);  // leaves nothing pending
  if (get_local_id(0) == 0 && (first == 0 || info[matrix] == 0)) info[matrix] = zero;
}
