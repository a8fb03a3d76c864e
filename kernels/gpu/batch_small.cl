// LU of many matrices of order up to 32, each in the registers of ORDER work-items: a
// work-item has a row. All steps are unrolled, so that every column stays in its register.
//
// Rows do not move: `position` is where the interchanges have brought a row. The row that is chosen
// in step k goes to local memory, for all to take, and keeps its elements; its position is -1 - k
// from then on. In the end every row goes to the place of its step. With full pivoting the columns
// are interchanged in all rows, those chosen before too.
//
// Local memory is read and written 16 bytes at a time, and on NVIDIA's GPUs a matrix waits as a
// warp, not at a barrier.
//
// Build options: LUGPU_RGBA, for 16 bytes in a pack; ORDER; MATRICES of a work-group;
// those of gpu/batch_places.clh.

#include "gpu/batch_places.clh"

#if PIVOT == FULL
#define OUTSIDE NAN  // fmax() and == pass it by
#else
#define OUTSIDE 0
#endif

// Of a matrix: the pivot's row (for even and odd steps); columns on their way from and to the
// matrix; without NVIDIA's instructions the candidates for the pivot.
typedef struct {
  pack row[2][ORDER / PACK];
  real slab[ORDER][ORDER + 1];
#ifndef LUGPU_NVIDIA
  key_type keys[2][ORDER];
  uint places[2][ORDER];
#endif
} scratch_of;

inline int row_here() { return get_local_id(0) % ORDER; }

// Waits for the work-items of a matrix, for what they wrote to local memory, and until they have
// read what may be overwritten.
inline void wait_for_matrix() {
#ifdef LUGPU_NVIDIA
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
#else
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}

// The place of the best candidate of all work-items of a matrix; `where` is that of this one.
inline uint best_of_all(key_type best, uint where, int k, __local scratch_of* shared) {
#if defined(LUGPU_NVIDIA) && ORDER == 32
  return best_of_warp(best, where);
#elif defined(LUGPU_NVIDIA)
  UNROLL
  for (int distance = ORDER / 2; distance > 0; distance /= 2) {
    const uint place = from_distance(where, distance);
    compare(key_from_distance(best, distance), place, &best, &where);
  }
  return where;
#else
  return best_of(best, where, row_here(), ORDER, shared->keys[k % 2], shared->places[k % 2]);
#endif
}

// The matrix by rows, n x n, to registers and from them; to: the place of the work-item's row.
inline void load(const __global real* a, int n, real* x, __local real (*slab)[ORDER + 1]) {
  const int r = row_here();
  UNROLL
  for (int i = 0; i < ORDER; ++i) slab[i][r] = i < n && r < n ? a[i * n + r] : (real)OUTSIDE;
  wait_for_matrix();
  UNROLL
  for (int b = 0; b < ORDER; ++b) x[b] = slab[r][b];
}
inline void store(__global real* a, int n, const real* x, int to, __local real (*slab)[ORDER + 1]) {
  const int r = row_here();
  wait_for_matrix();
  UNROLL
  for (int b = 0; b < ORDER; ++b) {
    if (to < n) slab[to][b] = x[b];
  }
  wait_for_matrix();
  UNROLL
  for (int i = 0; i < ORDER; ++i) {
    if (i < n && r < n) a[i * n + r] = slab[i][r];
  }
}

#if PIVOT == FULL
// The largest element of the work-item's row in what is left, and its column. -1, and column k, if
// all are NaN.
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

// The interchange of column k and the pivot's, p, in the row of a work-item. (A comparison of b
// itself the compiler turns into an address, and puts the row into memory.)
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
#endif

// The place of the pivot. position: that of the work-item's row.
inline uint choose(const real* x, int k, int position, __local scratch_of* shared) {
#if PIVOT == NONE
  return place_of(k, k, k);
#else
  const int r = row_here();
  key_type best = 0;
  uint where = NO_PLACE;
#if PIVOT == FULL
  if (position >= k) {
    int there;
    const real largest = largest_of_row(x, k, &there);
    if (largest >= 0) best = rank_of(largest);
    where = place_of(there, position, r);
  }
#else
  if (position >= k) {
    best = rank_of(x[k]);
    where = place_of(k, position, r);
  }
#endif
  return best_of_all(best, where, k, shared);
#endif
}

// The row of the pivot to local memory, from the pack that has column k on. (Loops begin at 0 so
// that the compiler unrolls them early, and registers have fixed numbers.)
inline void publish(const real* x, int k, __local scratch_of* shared) {
  UNROLL
  for (int p = 0; p < ORDER / PACK; ++p) {
    if (p >= k / PACK) shared->row[k % 2][p] = pack_of(x + p * PACK);
  }
}

// The elimination, in rows that have not been chosen. Returns whether the pivot is zero.
inline bool eliminate(real* x, int k, bool active, const __local scratch_of* shared) {
  const __local pack* u = shared->row[k % 2];
  const real value = ((const __local real*)u)[k];
  if (active) {
    real scale, inverse;
    reciprocal(value, &scale, &inverse);
    const real l = x[k] * scale * inverse;
    UNROLL
    for (int p = 0; p < ORDER / PACK; ++p) {
      if (p < k / PACK) continue;
      const pack of_row = u[p];
      UNROLL
      for (int e = 0; e < PACK; ++e) {
        const int b = p * PACK + e;
        if (b > k) x[b] = fma(-l, element_of(of_row, e), x[b]);
      }
    }
    x[k] = l;
  }
  return value == 0;
}

// What a matrix has become.
typedef struct {
  int position;  // of the work-item's row
  int zero;      // the first step (from 1) whose pivot is zero
  uint chosen;   // the pivot of step row_here()
} progress;

inline void take_step(real* x, const int k, progress* now, __local scratch_of* shared) {
  const int r = row_here();
  const uint pivot = choose(x, k, now->position, shared);
#if PIVOT == FULL
  exchange_columns(x, k, column_position_of(pivot));
#endif
  const bool mine = r == row_of(pivot);
  if (mine) publish(x, k, shared);
  wait_for_matrix();
  now->position = mine ? -1 - k : now->position == k ? row_position_of(pivot) : now->position;
  const bool is_zero = eliminate(x, k, now->position >= 0, shared);
  if (is_zero && now->zero == 0) now->zero = k + 1;
  if (k == r) now->chosen = pivot;
}

// P A Q = L U of the matrices, n x n, by rows: unit lower L below the diagonal, U on and above it.
// ipiv, jpiv: n of each matrix, 0-based: row (column) k was interchanged with that one. info: of
// each, the first pivot (1-based) that is exactly zero, 0 if there is none.
__kernel __attribute__((reqd_work_group_size(ORDER * MATRICES, 1, 1))) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  __local scratch_of scratch[MATRICES];
  const int r = row_here();
  const int matrix = get_group_id(0) * MATRICES + get_local_id(0) / ORDER;
  const int rows = matrix < count ? n : 0;  // 0: as if all of it were OUTSIDE
  __local scratch_of* shared = scratch + get_local_id(0) / ORDER;
  __global real* a = matrices + (size_t)matrix * n * n;
  real x[ORDER];
  load(a, rows, x, shared->slab);
  progress now = {.position = r < n ? r : INT_MIN};
#ifdef UNROLLED
#define STEP(k) \
  if (k < ORDER && k < n) take_step(x, k, &now, shared);
#define STEPS_4(k) STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3)
#define STEPS_16(k) STEPS_4(k) STEPS_4(k + 4) STEPS_4(k + 8) STEPS_4(k + 12)
  STEPS_16(0)
  STEPS_16(16)
#else
  for (int k = 0; k < n; ++k) take_step(x, k, &now, shared);
#endif
  store(a, rows, x, r < n ? -1 - now.position : n, shared->slab);
#if PIVOT != NONE
  if (r < rows) ipiv[(size_t)matrix * n + r] = row_position_of(now.chosen);
#endif
#if PIVOT == FULL
  if (r < rows) jpiv[(size_t)matrix * n + r] = column_position_of(now.chosen);
#endif
  if (r == 0 && rows > 0) info[matrix] = now.zero;
}
