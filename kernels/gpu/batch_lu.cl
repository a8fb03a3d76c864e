// LU of many small matrices, each in the registers of ORDER x SPLIT work-items: work-item (r, c)
// has row r in the columns c + SPLIT g, g < WIDTH. A row does not move: `position` is where the
// interchanges have brought it. A row that becomes a pivot goes to local memory, for all to take,
// and from there to its place in the matrix; what its work-items have from then on is not used.
//
// Registers have fixed numbers, so the columns move through them: column g of step k = SPLIT g + s
// is in x[0]. After the last step of a g the others move up by one, and it goes to the end of the
// `moving` ones, which are CHUNK fewer after CHUNK turns.
//
// Build options: ORDER, SPLIT; MATRICES of a work-group; PIVOT (dense/batch_pivots.clh); UNROLLED,
// so that there are registers: more to compile; LUGPU_NVIDIA, with NVIDIA's instructions.

#include "dense/batch_pivots.clh"
#include "gpu/pivot_search.clh"
#include "gpu/reciprocal.clh"

#ifdef UNROLLED
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("nounroll")
#endif

#define WIDTH (ORDER / SPLIT)
#define CHUNK 8
#define ITEMS (ORDER * SPLIT)
#define SLAB (ORDER < 32 ? ORDER : 32)  // columns that are read at a time
#if defined(LUGPU_NVIDIA) && ORDER >= 32
#define WARP 32  // of one matrix
#else
#define WARP 1
#endif
#define CANDIDATES (ITEMS / WARP)
#define EIGHTS (CANDIDATES > 16 ? 8 : 1)  // candidates that one work-item looks at first

// Of a matrix. Candidates for the pivot; of the pivot's row, by work-items and their registers,
// what is of U, zero elsewhere, and what is of L; the pivot's column (each for even and odd steps),
// and what was in its place; columns of the matrix on their way to registers. With full pivoting
// the column that is at each position, and the reverse.
typedef struct {
  key_type keys[2][CANDIDATES];
  uint places[2][CANDIDATES];
  real upper[2][ORDER], lower[2][ORDER], column[2][ORDER];
#if PIVOT == FULL
  real other[ORDER];
  uchar column_at[ORDER], position_of[ORDER];
#endif
  real slab[ORDER][SLAB + 1];
} scratch_of;

// An element: the positions of its column and row, and its row. Of equal magnitudes the smaller
// place is chosen.
#define NO_PLACE (~0u)
inline uint place_of(int column_position, int row_position, int row) {
  return (uint)column_position << 16 | (uint)row_position << 8 | (uint)row;
}
inline int row_of(uint place) { return place & 255; }
inline int row_position_of(uint place) { return place >> 8 & 255; }
inline int column_position_of(uint place) { return place >> 16; }

// Larger for larger magnitudes; 0 for a NaN, which is not chosen where there is anything else.
inline key_type rank_of(real x) {
  const bits magnitude = AS_BITS(fabs(x));
  return magnitude > INFINITY_BITS ? 0 : magnitude + 1;
}

inline void compare(key_type key, uint place, key_type* best, uint* where) {
  if (key > *best || (key == *best && place < *where)) {
    *best = key;
    *where = place;
  }
}

#if WARP > 1
// The best candidate of the work-items of a warp.
inline void compare_in_warp(key_type* best, uint* where) {
#ifdef LUGPU_DOUBLE
  const uint high = warp_max(*best >> 32);
  const uint low = warp_max(*best >> 32 == high ? (uint)*best : 0);
  const key_type largest = (ulong)high << 32 | low;
#else
  const key_type largest = warp_max(*best);
#endif
  *where = warp_min(*best == largest ? *where : NO_PLACE);
  *best = largest;
}
#endif

// The place of the best candidate of all work-items of a matrix; `where` is that of this one.
inline uint best_of_all(key_type best, uint where, int me, int k, __local scratch_of* shared) {
  __local key_type* keys = shared->keys[k % 2];
  __local uint* places = shared->places[k % 2];
#if WARP > 1
  compare_in_warp(&best, &where);
  if (CANDIDATES == 1) return where;
#endif
  if (me % WARP == 0) {
    keys[me / WARP] = best;
    places[me / WARP] = where;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#if EIGHTS > 1
  if (me % EIGHTS == 0) {
    for (int i = 1; i < EIGHTS; ++i) compare(keys[me + i], places[me + i], &best, &where);
    keys[me] = best;
    places[me] = where;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  for (int i = 0; i < CANDIDATES; i += EIGHTS) compare(keys[i], places[i], &best, &where);
  return where;
}

// The column g that is in register b after `turned` turns of a chunk.
inline int column_in(int b, int moving, int turned) {
  const int end =
      b < moving ? moving : WIDTH - (WIDTH - 1 - b) / CHUNK * CHUNK;  // of those that moved
  const int turns = b < moving ? turned : CHUNK, from_end = b + turns - end;
  return WIDTH - end + (from_end < 0 ? b + turns : from_end);
}

// The place of the pivot of step k = SPLIT g + s.
inline uint choose(const real* x, int position, int n, int r, int c, int s, int k, int moving,
                   int turned, __local scratch_of* shared) {
#if PIVOT == NONE
  return place_of(k, k, k);
#else
  key_type best = 0;
  uint where = NO_PLACE;
  if (position >= k) {
#if PIVOT == FULL
    UNROLL
    for (int b = 0; b < WIDTH; ++b) {
      if (b >= moving || b >= moving - turned || (b == 0 && c < s)) continue;
      const int column = c + SPLIT * column_in(b, moving, turned);
      if (column < n) compare(rank_of(x[b]), place_of(column, position, r), &best, &where);
    }
#else
    if (c == s) compare(rank_of(x[0]), place_of(k, position, r), &best, &where);
#endif
  }
  return best_of_all(best, where, c * ORDER + r, k, shared);
#endif
}

#if PIVOT == FULL
// The interchange of the column of step k and the pivot's, at position p.
inline void exchange_columns(real* x, int p, int r, int c, int s, int k, int moving, int turned,
                             __local scratch_of* shared) {
  const int there = p / SPLIT - (WIDTH - moving) - turned;
  if (c == p % SPLIT) {
    UNROLL
    for (int b = 0; b < WIDTH; ++b) {
      if (b == there) shared->column[k % 2][r] = x[b];
    }
  }
  if (c == s) shared->other[r] = x[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (c == p % SPLIT) {
    UNROLL
    for (int b = 0; b < WIDTH; ++b) {
      if (b == there) x[b] = shared->other[r];
    }
  }
  if (c == s) x[0] = shared->column[k % 2][r];
  if (c == 0 && r == 0) {
    const uchar column = shared->column_at[k];
    shared->column_at[k] = shared->column_at[p];
    shared->column_at[p] = column;
  }
}
#endif

// The row of the pivot to local memory. Of the registers that move, the last ones have columns of
// L.
inline void publish(const real* x, int c, int k, int moving, int turned,
                    __local scratch_of* shared) {
  UNROLL
  for (int b = 0; b < WIDTH; ++b) {
    const bool in_lower = b >= moving - turned;
    if (b < moving) shared->upper[k % 2][c * WIDTH + b] = in_lower ? (real)0 : x[b];
    if (b >= moving - CHUNK) shared->lower[k % 2][c * WIDTH + b] = x[b];
  }
}

// That row to its place in the matrix.
inline void store(__global real* a, int n, int me, int k, int moving, int turned,
                  const __local scratch_of* shared) {
  const int b = me % WIDTH;
  int column = me / WIDTH + SPLIT * column_in(b, moving, turned);
#if PIVOT == FULL
  column = shared->column_at[column];
#endif
  if (k >= n || column >= n) return;
  a[k * n + column] = b < moving - turned ? shared->upper[k % 2][me] : shared->lower[k % 2][me];
}

// Step k of the elimination. Returns whether the pivot is zero.
inline bool eliminate(real* x, int r, int c, int s, int k, int moving,
                      const __local scratch_of* shared) {
  const real value = shared->upper[k % 2][s * WIDTH];
  const __local real* u = shared->upper[k % 2] + c * WIDTH;
  real scale, inverse;
  reciprocal(value, &scale, &inverse);
  const real l = (SPLIT == 1 ? x[0] : shared->column[k % 2][r]) * scale * inverse;
  const real first = c > s ? fma(-l, u[0], x[0]) : c == s ? l : x[0];
  const int up = s == SPLIT - 1;
  UNROLL
  for (int b = 1; b < WIDTH; ++b) {
    if (b < moving) x[b - up] = fma(-l, u[b], x[b]);
  }
  UNROLL
  for (int b = 0; b < WIDTH; ++b) {
    if (b == (up ? moving - 1 : 0)) x[b] = first;
  }
  return value == 0;
}

// The matrix by rows, n x n, to registers; 0 outside.
inline void load(__global const real* source, bool present, int n, int r, int c, int me, real* x,
                 __local scratch_of* shared) {
  UNROLL
  for (int first = 0; first < ORDER; first += SLAB) {
    for (int e = me; e < ORDER * SLAB; e += ITEMS) {
      const int i = e / SLAB, j = first + e % SLAB;
      shared->slab[i][e % SLAB] = present && i < n && j < n ? source[i * n + j] : (real)0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (int b = 0; b < SLAB / SPLIT; ++b) x[first / SPLIT + b] = shared->slab[r][c + SPLIT * b];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // what was read may be overwritten
  }
}

// P A Q = L U of the matrices, n x n, by rows: unit lower L below the diagonal, U on and above it.
// ipiv, jpiv: n of each matrix, 0-based: row (column) k was interchanged with that one. info: of
// each, the first pivot (1-based) that is exactly zero, 0 if there is none.
__kernel __attribute__((reqd_work_group_size(ITEMS * MATRICES, 1, 1))) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  __local scratch_of scratch[MATRICES];
  const int me = get_local_id(0) % ITEMS, r = me % ORDER, c = me / ORDER;
  const int matrix = get_group_id(0) * MATRICES + get_local_id(0) / ITEMS;
  const bool present = matrix < count;  // otherwise as if it were zero
  __local scratch_of* shared = scratch + get_local_id(0) / ITEMS;
  __global real* a = matrices + (size_t)matrix * n * n;
  real x[WIDTH];
  load(a, present, n, r, c, me, x, shared);
  int position = r < n ? r : -1, zero = 0;
#if PIVOT == FULL
  if (me < ORDER) shared->column_at[me] = me;
#endif
  UNROLL
  for (int done = 0; done < WIDTH; done += CHUNK) {
    const int moving = WIDTH - done;
    for (int turned = 0; turned < CHUNK && SPLIT * (done + turned) < n; ++turned) {
      UNROLL
      for (int s = 0; s < SPLIT; ++s) {
        const int k = SPLIT * (done + turned) + s;
        if (SPLIT > 1 && PIVOT != FULL && c == s) shared->column[k % 2][r] = x[0];
        uint pivot = choose(x, position, n, r, c, s, k, moving, turned, shared);
        const bool beyond = k >= n;  // in the last turn
        if (beyond) pivot = place_of(k, k, k);
#if PIVOT == FULL
        exchange_columns(x, column_position_of(pivot), r, c, s, k, moving, turned, shared);
#endif
        if (r == row_of(pivot)) publish(x, c, k, moving, turned, shared);
        barrier(CLK_LOCAL_MEM_FENCE);
        position = r == row_of(pivot) ? -1 : position == k ? row_position_of(pivot) : position;
        if (me < ORDER && present) store(a, n, me, k, moving, turned, shared);
        const bool is_zero = eliminate(x, r, c, s, k, moving, shared);
        if (is_zero && zero == 0 && !beyond) zero = k + 1;
        if (me == 0 && present && !beyond) {
          if (PIVOT != NONE) ipiv[(size_t)matrix * n + k] = row_position_of(pivot);
          if (PIVOT == FULL) jpiv[(size_t)matrix * n + k] = column_position_of(pivot);
        }
      }
    }
  }
  if (me == 0 && present) info[matrix] = zero;
#if PIVOT == FULL
  // The columns, which are where they were at the beginning, to their positions.
  if (me < ORDER) shared->position_of[shared->column_at[me]] = me;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const bool has_column = present && r < n;
  UNROLL
  for (int b = 0; b < WIDTH; ++b) {
    x[b] = has_column && c + SPLIT * b < n ? a[(c + SPLIT * b) * n + r] : (real)0;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  UNROLL
  for (int b = 0; b < WIDTH; ++b) {
    if (has_column && c + SPLIT * b < n) a[(c + SPLIT * b) * n + shared->position_of[r]] = x[b];
  }
#endif
}
