// LU of many matrices of order up to 64, each in the registers of ORDER x SPLIT work-items
// (gpu/batch_search.clh). All steps are unrolled, so that every column stays in its register; where
// that were too many instructions, gpu/batch_lu.cl moves the columns through the registers.
//
// Rows do not move: `position` is where the interchanges have brought a row. The row that is chosen
// in step k goes to local memory, for all to take, and keeps its elements; its position is -1 - k
// from then on. In the end every row goes to the place of its step. With full pivoting the columns
// are interchanged in all rows, those chosen before too.
//
// Instructions are what a step costs, some 70 and one for each element of a row on average: local
// memory is read and written 16 bytes at a time, and a matrix that is in one warp waits as a warp,
// not at a barrier.
//
// Build options: those of gpu/batch_search.clh, SPLIT being 1 with full pivoting; MATRICES of a
// work-group.

#include "gpu/batch_search.clh"

// Of a matrix: the pivot's row, by work-items and their registers (for even and odd steps), and,
// if a row has several work-items, the pivot's column; columns on their way from and to the matrix.
typedef struct {
  pack row[2][ORDER / PACK];
  batch_search search;
#if SPLIT > 1
  real column[2][ORDER];
#endif
  real slab[ORDER][SLAB + 1];
} scratch_of;

#if PIVOT == FULL
// The largest element of the work-item's row in what is left, and its column. -1, and column k, if
// all are NaN.
inline real largest_of_row(const real* x, int k, int* there) {
  real largest = -1;
  UNROLL
  for (int b = 0; b < WIDTH; ++b) {
    if (b >= k) largest = fmax(largest, fabs(x[b]));
  }
  *there = k;
  UNROLL
  for (int b = WIDTH - 1; b >= 0; --b) {
    if (b >= k && fabs(x[b]) == largest) *there = b;
  }
  return largest;
}

// The interchange of column k and the pivot's, p, in the row of a work-item.
inline void exchange_columns(real* x, int k, int p) {
  const uint2 in = (uint2)(p < 32 ? 1u << p : 0, p < 32 ? 0 : 1u << (p - 32));
  const real first = x[k];
  UNROLL
  for (int b = 0; b < WIDTH; ++b) {
    if (b > k && is_bit(in, b)) {
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
  if (position >= k && column_here() == k % SPLIT) {
    best = rank_of(x[k / SPLIT]);
    where = place_of(k, position, r);
  }
#endif
  return best_of_all(best, where, k, &shared->search);
#endif
}

// The row of the pivot to local memory, from the pack that has column k on. (Loops begin at 0 so
// that the compiler unrolls them early, and registers have fixed numbers.)
inline void publish(const real* x, int k, __local scratch_of* shared) {
  __local pack* row = shared->row[k % 2] + column_here() * WIDTH / PACK;
  UNROLL
  for (int p = 0; p < WIDTH / PACK; ++p) {
    if (p >= k / SPLIT / PACK) row[p] = pack_of(x + p * PACK);
  }
}

// The elimination, in rows that have not been chosen. Returns whether the pivot is zero.
inline bool eliminate(real* x, int k, bool active, const __local scratch_of* shared) {
  const int g = k / SPLIT, c = column_here();
  const __local pack* u = shared->row[k % 2] + c * WIDTH / PACK;
  const real value = ((const __local real*)shared->row[k % 2])[k % SPLIT * WIDTH + g];
  if (active) {
    real scale, inverse;
    reciprocal(value, &scale, &inverse);
#if SPLIT > 1
    const real l = shared->column[k % 2][row_here()] * scale * inverse;
#else
    const real l = x[g] * scale * inverse;
#endif
    UNROLL
    for (int p = 0; p < WIDTH / PACK; ++p) {
      if (p < g / PACK) continue;
      const pack of_row = u[p];
      UNROLL
      for (int e = 0; e < PACK; ++e) {
        const int b = p * PACK + e;
        if (b > g || (b == g && c > k % SPLIT)) x[b] = fma(-l, element_of(of_row, e), x[b]);
      }
    }
    if (c == k % SPLIT) x[g] = l;
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
#if SPLIT > 1
  if (column_here() == k % SPLIT) shared->column[k % 2][r] = x[k / SPLIT];
#endif
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

// The rows to their places in the matrix, n x n; to: that of the work-item's, if it is below n.
inline void store(__global real* a, int n, const real* x, int to, __local real (*slab)[SLAB + 1]) {
  UNROLL
  for (int first = 0; first < ORDER; first += SLAB) {
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (int b = 0; b < SLAB / SPLIT; ++b) {
      if (to < n) slab[to][column_here() + SPLIT * b] = x[first / SPLIT + b];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int e = item_here(); e < ORDER * SLAB; e += ITEMS) {
      const int i = e / SLAB, j = first + e % SLAB;
      if (i < n && j < n) a[i * n + j] = slab[i][e % SLAB];
    }
  }
}

// P A Q = L U of the matrices, n x n, by rows: unit lower L below the diagonal, U on and above it.
// ipiv, jpiv: n of each matrix, 0-based: row (column) k was interchanged with that one. info: of
// each, the first pivot (1-based) that is exactly zero, 0 if there is none.
__kernel __attribute__((reqd_work_group_size(ITEMS * MATRICES, 1, 1))) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  __local scratch_of scratch[MATRICES];
  const int me = item_here(), r = row_here();
  const int matrix = get_group_id(0) * MATRICES + get_local_id(0) / ITEMS;
  const int rows = matrix < count ? n : 0;  // 0: as if all of it were OUTSIDE
  __local scratch_of* shared = scratch + get_local_id(0) / ITEMS;
  __global real* a = matrices + (size_t)matrix * n * n;
  real x[WIDTH];
  load(a, rows, x, shared->slab);
  progress now = {.position = r < n ? r : INT_MIN};
#ifdef UNROLLED
#define STEP(k) \
  if (k < ORDER && k < n) take_step(x, k, &now, shared);
#define STEPS_4(k) STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3)
#define STEPS_16(k) STEPS_4(k) STEPS_4(k + 4) STEPS_4(k + 8) STEPS_4(k + 12)
  STEPS_16(0)
  STEPS_16(16)
  STEPS_16(32)
  STEPS_16(48)
#else
  for (int k = 0; k < n; ++k) take_step(x, k, &now, shared);
#endif
  store(a, rows, x, r < n ? -1 - now.position : n, shared->slab);
  if (me < rows && PIVOT != NONE) ipiv[(size_t)matrix * n + me] = row_position_of(now.chosen);
  if (me < rows && PIVOT == FULL) jpiv[(size_t)matrix * n + me] = column_position_of(now.chosen);
  if (me == 0 && rows > 0) info[matrix] = now.zero;
}
