// LU of many matrices of order up to 32, each in the registers of ORDER work-items: a
// work-item has a row. All steps are unrolled, so that every column stays in its register.
//
// Rows do not move: a row's `place` (gpu/batch_places.clh) has the position where the interchanges
// have brought it. The row that is chosen in step k goes to local memory, for all to take, and
// keeps its elements; its place is CHOSEN + k from then on. In the end every row goes there. With
// full pivoting the columns are interchanged in all rows, those chosen before too.
//
// Local memory is read and written 16 bytes at a time, and on NVIDIA's GPUs a matrix waits as a
// warp, not at a barrier.
//
// Build options: LUGPU_RGBA, for 16 bytes in a pack; ORDER; MATRICES of a work-group;
// those of gpu/batch_places.clh.

#include "gpu/batch_places.clh"

#define CHOSEN 0x80000000
#define PACKS (ORDER / PACK)       // of a row
#define SLAB_PITCH (ORDER + PACK)  // rows are read 16 bytes at a time without bank conflicts

#if PIVOT == FULL
#define OUTSIDE NAN  // fmax() and == pass it by
#else
#define OUTSIDE 0
#endif

// Of a matrix: the pivot's row (for even and odd steps); columns on their way from and to the
// matrix; without NVIDIA's instructions the candidates for the pivot.
typedef struct {
  pack row[2][PACKS];
  pack slab[ORDER * SLAB_PITCH / PACK];
  uint pivots[ORDER];  // their places
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

#ifdef LUGPU_NVIDIA
// Of the work-items of a matrix: the largest x, and the smallest.
#if ORDER == 32
inline uint largest_of_matrix(uint x) { return warp_max(x); }
inline uint smallest_of_matrix(uint x) { return warp_min(x); }
#elif ORDER == 16
inline bool in_lower_half() { return get_local_id(0) % 32 < 16; }
inline uint largest_of_matrix(uint x) {
  const uint lower = warp_max(in_lower_half() ? x : 0), upper = warp_max(in_lower_half() ? 0 : x);
  return in_lower_half() ? lower : upper;
}
inline uint smallest_of_matrix(uint x) {
  const uint lower = warp_min(in_lower_half() ? x : ~0u),
             upper = warp_min(in_lower_half() ? ~0u : x);
  return in_lower_half() ? lower : upper;
}
#else
inline uint largest_of_matrix(uint x) {
  UNROLL
  for (int distance = ORDER / 2; distance > 0; distance /= 2)
    x = max(x, from_distance(x, distance));
  return x;
}
inline uint smallest_of_matrix(uint x) {
  UNROLL
  for (int distance = ORDER / 2; distance > 0; distance /= 2)
    x = min(x, from_distance(x, distance));
  return x;
}
#endif
#endif

// The place of the best candidate of all work-items of a matrix; `where` is that of this one.
inline uint best_of_all(key_type best, uint where, int k, __local scratch_of* shared) {
#ifdef LUGPU_NVIDIA
#ifdef LUGPU_DOUBLE
  const uint high = largest_of_matrix(best >> 32);
  const uint low = largest_of_matrix(best >> 32 == high ? (uint)best : 0);
  const key_type largest = (ulong)high << 32 | low;
#else
  const key_type largest = largest_of_matrix(best);
#endif
  return smallest_of_matrix(best == largest ? where : NO_PLACE);
#else
  return best_of(best, where, row_here(), ORDER, shared->keys[k % 2], shared->places[k % 2]);
#endif
}

// The matrix by rows, n x n, to the slab, filled up with OUTSIDE, and from it; rows: n, or 0 for
// none of it. By packs where a row is of whole packs.
inline void fill_slab(const __global real* a, int n, int rows, __local pack* slab) {
  const int r = row_here();
  UNROLL
  for (int t = 0; t < PACKS && n % PACK == 0; ++t) {
    const int i = (r + t * ORDER) / PACKS, q = r % PACKS;
    const bool there = i < rows && q * PACK < n;
    slab[i * (PACKS + 1) + q] =
        there ? ((const __global pack*)a)[i * (n / PACK) + q] : (pack)OUTSIDE;
  }
  UNROLL
  for (int i = 0; i < ORDER && n % PACK != 0; ++i)
    ((__local real*)slab)[i * SLAB_PITCH + r] = i < rows && r < n ? a[i * n + r] : (real)OUTSIDE;
}
inline void empty_slab(__global real* a, int n, int rows, const __local pack* slab) {
  const int r = row_here();
  UNROLL
  for (int t = 0; t < PACKS && n % PACK == 0; ++t) {
    const int i = (r + t * ORDER) / PACKS, q = r % PACKS;
    if (i < rows && q * PACK < n)
      ((__global pack*)a)[i * (n / PACK) + q] = slab[i * (PACKS + 1) + q];
  }
  UNROLL
  for (int i = 0; i < ORDER && n % PACK != 0; ++i) {
    if (i < rows && r < n) a[i * n + r] = ((const __local real*)slab)[i * SLAB_PITCH + r];
  }
}

// Row i of the slab to a work-item's registers, and from them.
inline void read_row(real* x, int i, const __local pack* slab) {
  UNROLL
  for (int q = 0; q < PACKS; ++q) {
    const pack v = slab[i * (PACKS + 1) + q];
    UNROLL
    for (int e = 0; e < PACK; ++e) x[q * PACK + e] = element_of(v, e);
  }
}
inline void write_row(const real* x, int i, __local pack* slab) {
  UNROLL
  for (int q = 0; q < PACKS; ++q) slab[i * (PACKS + 1) + q] = pack_of(x + q * PACK);
}

#if PIVOT == FULL
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
#endif

// The place of the pivot. place: that of the work-item's row.
inline uint choose(const real* x, int k, uint place, __local scratch_of* shared) {
#if PIVOT == NONE
  return place_of(0, k, k);
#else
#if PIVOT == FULL
  int there;
  const real largest = largest_of_row(x, k, &there);
  const key_type key = largest >= 0 ? rank_of(largest) : 0;
  const uint where = place_of(there, 0, 0) | place;
#else
  const key_type key = rank_of(x[k]);
  const uint where = place;
#endif
  const bool left = place < CHOSEN;
  return best_of_all(left ? key : 0, left ? where : NO_PLACE, k, shared);
#endif
}

// The row of the pivot to local memory, from the pack that has column k on. (Loops begin at 0 so
// that the compiler unrolls them early, and registers have fixed numbers.)
inline void publish(const real* x, int k, __local scratch_of* shared) {
  UNROLL
  for (int p = 0; p < PACKS; ++p) {
    if (p >= k / PACK) shared->row[k % 2][p] = pack_of(x + p * PACK);
  }
}

// The elimination, in a row that has not been chosen. u: the pivot's row.
inline void eliminate(real* x, int k, bool active, real pivot, const __local pack* u) {
  real l = x[k], scale, inverse = inverse_of(pivot);
  if (!has_inverse(pivot)) {
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
#if PIVOT == FULL
  exchange_columns(x, k, column_position_of(pivot));
#endif
  const bool mine = row_here() == row_of(pivot);
  if (mine) publish(x, k, shared);
  // Who is at position k goes to the pivot's.
  if (*place < place_of(0, k + 1, 0)) *place = place_of(0, row_position_of(pivot), row_here());
  if (mine) *place = CHOSEN + k;
  if (row_here() == 0) shared->pivots[k] = pivot;
  wait_for_matrix();
  const __local pack* u = shared->row[k % 2];
  const real value = ((const __local real*)u)[k];
  eliminate(x, k, *place < CHOSEN, value, u);
  if (value == 0) *zero = min(*zero, k + 1);
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
  fill_slab(a, n, rows, shared->slab);
  wait_for_matrix();
  read_row(x, r, shared->slab);
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
  if (r < n) write_row(x, place - CHOSEN, shared->slab);
  wait_for_matrix();
  empty_slab(a, n, rows, shared->slab);
#if PIVOT != NONE
  if (r < rows) ipiv[(size_t)matrix * n + r] = row_position_of(shared->pivots[r]);
#endif
#if PIVOT == FULL
  if (r < rows) jpiv[(size_t)matrix * n + r] = column_position_of(shared->pivots[r]);
#endif
  if (r == 0 && rows > 0) info[matrix] = zero == INT_MAX ? 0 : zero;
}
