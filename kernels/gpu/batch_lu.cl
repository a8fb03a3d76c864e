// LU of many small matrices, each in the registers of GRID x GRID work-items: work-item (r, c) has
// the elements (r + GRID a, c + GRID b) for a, b < TILE. Rows and columns do not move: a row's
// `position` is where the interchanges have brought it, and where it goes at the end. A row whose
// position is before the step k is one of U.
//
// Build options: GRID, TILE; MATRICES of a work-group; PIVOT (dense/batch_pivots.clh); UNROLLED, so
// that registers have fixed numbers: more to compile.

#include "dense/batch_pivots.clh"
#include "gpu/reciprocal.clh"

#ifdef UNROLLED
#define ALL_OF_TILE _Pragma("unroll")
#else
#define ALL_OF_TILE _Pragma("nounroll")
#endif

#define ORDER (GRID * TILE)
#define ITEMS (GRID * GRID * MATRICES)
#if PIVOT == FULL
#define CANDIDATES (GRID * GRID)
#else
#define CANDIDATES GRID
#endif

// An element: the positions of its column and row, and where they are. What is better comes first.
#define NOWHERE (~0u)
inline uint place_of(int column_position, int row_position, int column, int row) {
  return (uint)column_position << 24 | (uint)row_position << 16 | (uint)column << 8 | (uint)row;
}
inline int row_of(uint place) { return place & 255; }
inline int column_of(uint place) { return place >> 8 & 255; }
inline int row_position_of(uint place) { return place >> 16 & 255; }
inline int column_position_of(uint place) { return place >> 24; }

// Of a matrix. Candidates for the pivot, of columns of work-items or of all, and the best ones of
// rows of work-items; the pivot's column, for even and odd steps, and its row.
typedef struct {
  real magnitudes[CANDIDATES], row_magnitudes[GRID];
  uint places[CANDIDATES], row_places[GRID];
  real column[2][ORDER], row[ORDER];
} scratch_of;

// The better one of a candidate and the element x at a place: the larger magnitude, of equal ones
// that which comes first. A NaN has the magnitude -1, and where there is no element it is -2.
inline void compare(real magnitude, uint place, real* best, uint* where) {
  if (magnitude > *best || (magnitude == *best && place < *where)) {
    *best = magnitude;
    *where = place;
  }
}
inline real magnitude_of(real x) { return fabs(x) >= 0 ? fabs(x) : (real)-1; }

// The best of `count` candidates.
inline uint best_of(int count, const __local real* magnitudes, const __local uint* places,
                    real* best) {
  uint where = NOWHERE;
  *best = -2;
  for (int i = 0; i < count; ++i) compare(magnitudes[i], places[i], best, &where);
  return where;
}

// The place of the pivot of step k, whose column is in column `begin` of a tile unless it moves.
inline uint choose(real (*x)[TILE], const int* row_position, const int* column_position, int r,
                   int c, int k, int begin, __local scratch_of* shared) {
  real best = -2;
  uint where = NOWHERE;
#if PIVOT == FULL
  ALL_OF_TILE
  for (int b = 0; b < TILE; ++b) {
    ALL_OF_TILE
    for (int a = 0; a < TILE; ++a) {
      if (row_position[a] >= k && column_position[b] >= k) {
        compare(magnitude_of(x[a][b]),
                place_of(column_position[b], row_position[a], c + GRID * b, r + GRID * a), &best,
                &where);
      }
    }
  }
  shared->magnitudes[r * GRID + c] = best;
  shared->places[r * GRID + c] = where;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (c == 0) {
    shared->row_places[r] =
        best_of(GRID, shared->magnitudes + r * GRID, shared->places + r * GRID, &best);
    shared->row_magnitudes[r] = best;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return best_of(GRID, shared->row_magnitudes, shared->row_places, &best);
#else
  if (c == k % GRID) {
    ALL_OF_TILE
    for (int b = 0; b < TILE; ++b) {
      if (b != begin) continue;
      ALL_OF_TILE
      for (int a = 0; a < TILE; ++a) {
        shared->column[k % 2][r + GRID * a] = x[a][b];
        const bool allowed = PIVOT == PARTIAL ? row_position[a] >= k : row_position[a] == k;
        if (allowed) {
          compare(
              magnitude_of(x[a][b]), place_of(k, row_position[a], k, r + GRID * a), &best, &where);
        }
      }
    }
    shared->magnitudes[r] = best;
    shared->places[r] = where;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return best_of(GRID, shared->magnitudes, shared->places, &best);
#endif
}

// The row of the pivot, and with full pivoting its column, to local memory.
inline void publish(real (*x)[TILE], uint pivot, int r, int c, int k, __local scratch_of* shared) {
  ALL_OF_TILE
  for (int a = 0; a < TILE; ++a) {
    if (r + GRID * a == row_of(pivot)) {
      ALL_OF_TILE
      for (int b = 0; b < TILE; ++b) shared->row[c + GRID * b] = x[a][b];
    }
  }
#if PIVOT == FULL
  ALL_OF_TILE
  for (int b = 0; b < TILE; ++b) {
    if (c + GRID * b == column_of(pivot)) {
      ALL_OF_TILE
      for (int a = 0; a < TILE; ++a) shared->column[k % 2][r + GRID * a] = x[a][b];
    }
  }
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
}

// The interchange of step k: what is at position k goes to where the pivot was.
inline void follow(int* position, int first, int k, int pivot, int pivot_position) {
  ALL_OF_TILE
  for (int a = 0; a < TILE; ++a) {
    if (position[a] == k) position[a] = pivot_position;
    if (first + GRID * a == pivot) position[a] = k;
  }
}

// Step k of the elimination, in the columns of the tile from `begin` on. Returns whether the pivot
// is zero.
inline bool eliminate(real (*x)[TILE], const int* row_position, const int* column_position,
                      uint pivot, int r, int c, int k, int begin,
                      const __local scratch_of* shared) {
  const real value = shared->row[column_of(pivot)];
  real scale, inverse;
  reciprocal(value, &scale, &inverse);
  real u[TILE];
  ALL_OF_TILE
  for (int b = 0; b < TILE; ++b) u[b] = shared->row[c + GRID * b];
  ALL_OF_TILE
  for (int a = 0; a < TILE; ++a) {
    if (row_position[a] <= k) continue;
    const real l = shared->column[k % 2][r + GRID * a] * scale * inverse;
    ALL_OF_TILE
    for (int b = 0; b < TILE; ++b) {
      if (b < begin) continue;
      if (column_position[b] > k) x[a][b] = fma(-l, u[b], x[a][b]);
      if (column_position[b] == k) x[a][b] = l;
    }
  }
  return value == 0;
}

// P A Q = L U of the matrices, n x n, by rows: unit lower L below the diagonal, U on and above it.
// ipiv, jpiv: n of each matrix, 0-based: row (column) k was interchanged with that one. info: of
// each, the first pivot (1-based) that is exactly zero, 0 if there is none.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  __local scratch_of scratch[MATRICES];
  const int me = get_local_id(0) % (GRID * GRID), own = get_local_id(0) / (GRID * GRID);
  const int r = me / GRID, c = me % GRID;
  const int matrix = get_group_id(0) * MATRICES + own;
  const bool present = matrix < count;  // otherwise as if it were zero
  __local scratch_of* shared = scratch + own;
  __global real* source = matrices + (size_t)matrix * n * n;
  real x[TILE][TILE];
  int row_position[TILE], column_position[TILE];
  ALL_OF_TILE
  for (int a = 0; a < TILE; ++a) {
    const int i = r + GRID * a, first = c + GRID * a;
    row_position[a] = i < n ? i : -1;
    column_position[a] = first < n ? first : -1;
    ALL_OF_TILE
    for (int b = 0; b < TILE; ++b) {
      const int j = c + GRID * b;
      x[a][b] = present && i < n && j < n ? source[i * n + j] : (real)0;
    }
  }
  int zero = 0;
  ALL_OF_TILE
  for (int begin = 0; begin < TILE; ++begin) {
    for (int k = begin * GRID; k < min(n, (begin + 1) * GRID); ++k) {
      const uint pivot = choose(x, row_position, column_position, r, c, k, begin, shared);
      publish(x, pivot, r, c, k, shared);
      follow(row_position, r, k, row_of(pivot), row_position_of(pivot));
#if PIVOT == FULL
      follow(column_position, c, k, column_of(pivot), column_position_of(pivot));
#endif
      if (eliminate(x, row_position, column_position, pivot, r, c, k, PIVOT == FULL ? 0 : begin,
                    shared) &&
          zero == 0) {
        zero = k + 1;
      }
      if (me == 0 && present) {
        if (PIVOT != NONE) ipiv[(size_t)matrix * n + k] = row_position_of(pivot);
        if (PIVOT == FULL) jpiv[(size_t)matrix * n + k] = column_position_of(pivot);
      }
    }
  }
  if (me == 0 && present) info[matrix] = zero;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all have read what is overwritten
  ALL_OF_TILE
  for (int a = 0; a < TILE; ++a) {
    ALL_OF_TILE
    for (int b = 0; b < TILE; ++b) {
      if (present && row_position[a] >= 0 && column_position[b] >= 0) {
        source[row_position[a] * n + column_position[b]] = x[a][b];
      }
    }
  }
}
