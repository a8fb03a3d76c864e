// LU of many small matrices, each in the registers of ORDER x SPLIT work-items: work-item (r, c)
// has row r in the columns c + SPLIT g, g < WIDTH. A row does not move: `position` is where the
// interchanges have brought it. A row that becomes a pivot goes to local memory, for all to take,
// and from there to its place in the matrix; what its work-items have from then on is not used.
//
// Registers have fixed numbers, so the columns move through them: column g of step k = SPLIT g + s
// is in x[0]. After the last step of a g the others move up by one, and it goes to the end of the
// `moving` ones, which are CHUNK fewer after CHUNK turns: only of the last CHUNK of them some may
// have columns of L.
//
// A step takes some hundred instructions of each work-item, so they are what counts: local memory
// is read and written 16 bytes at a time, and a matrix that is in one warp waits as a warp, not at
// a barrier.
//
// Build options: LUGPU_RGBA, for 16 bytes in a pack; ORDER, SPLIT; MATRICES of a work-group; PIVOT
// (dense/batch_pivots.clh); UNROLLED, so that there are registers: more to compile; LUGPU_NVIDIA,
// with NVIDIA's instructions.

#include "gpu/batch_search.clh"

#define CHUNK 8

// Of a matrix. Of the pivot's row, by work-items and their registers, what is of U, zero elsewhere,
// and what is of L; the pivot's column (each for even and odd steps), and what was in its place;
// columns of the matrix on their way to registers. With full pivoting the column that is at each
// position, and the reverse.
typedef struct {
  pack upper[2][ORDER / PACK], lower[2][ORDER / PACK];
  batch_search search;
  real column[2][ORDER];
#if PIVOT == FULL
  real other[ORDER];
  uchar column_at[ORDER], position_of[ORDER];
#endif
  real slab[ORDER][SLAB + 1];
} scratch_of;

// Step k = SPLIT g + s, after `turned` turns of a chunk of which `moving` registers move.
typedef struct {
  int k, s, moving, turned;
} elimination_step;

// The column g that is in register b.
inline int column_in(int b, elimination_step at) {
  const int end =
      b < at.moving ? at.moving : WIDTH - (WIDTH - 1 - b) / CHUNK * CHUNK;  // of those that moved
  const int turns = b < at.moving ? at.turned : CHUNK, from_end = b + turns - end;
  return WIDTH - end + (from_end < 0 ? b + turns : from_end);
}

// Whether register b has a column of U or of what is left, not of L. (For most registers that is
// known when the loops are unrolled: turned < CHUNK.)
inline bool is_upper(int b, elimination_step at) {
  return b < at.moving && (b < at.moving - CHUNK || b < at.moving - at.turned) &&
         (b > 0 || column_here() >= at.s);
}

// The largest element of the work-item's row in what is left, and its register. -1, and register
// 0, if all are NaN.
inline real largest_of_row(const real* x, elimination_step at, int* there) {
  real largest = -1;
  UNROLL
  for (int b = 0; b < WIDTH; ++b) {
    if (is_upper(b, at)) largest = fmax(largest, fabs(x[b]));
  }
  *there = 0;
  UNROLL
  for (int b = WIDTH - 1; b >= 0; --b) {
    if (is_upper(b, at) && fabs(x[b]) == largest) *there = b;
  }
  return largest;
}

// The place of the pivot. position: that of the work-item's row, -1 once it has been a pivot.
inline uint choose(const real* x, int position, elimination_step at, __local scratch_of* shared) {
#if PIVOT == NONE
  return place_of(at.k, at.k, at.k);
#else
  const int r = row_here(), c = column_here();
  key_type best = 0;
  uint where = NO_PLACE;
  if (position >= at.k) {
#if PIVOT == FULL
    int there;
    const real largest = largest_of_row(x, at, &there);
    if (largest >= 0) best = rank_of(largest);
    if (largest >= 0 || c == at.s) where = place_of(at.k - at.s + c + SPLIT * there, position, r);
#else
    if (c == at.s) {
      best = rank_of(x[0]);
      where = place_of(at.k, position, r);
    }
#endif
  }
  return best_of_all(best, where, at.k, &shared->search);
#endif
}

#if PIVOT == FULL
// The interchange of the column of the step and the pivot's, at position p.
inline void exchange_columns(real* x, int p, elimination_step at, __local scratch_of* shared) {
  const int r = row_here(), c = column_here();
  const int there = (p - (at.k - at.s)) / SPLIT;
  const uint2 in = (uint2)(there < 32 ? 1u << there : 0, there < 32 ? 0 : 1u << (there - 32));
#if CANDIDATES == 1
  wait_for_matrix();  // for those who still read column_at
#endif
#if SPLIT == 1
  const real first = x[0];
  UNROLL
  for (int b = 1; b < WIDTH; ++b) {
    if (b < at.moving && is_bit(in, b)) {
      x[0] = x[b];
      x[b] = first;
    }
  }
#else
  if (c == p % SPLIT) {
    UNROLL
    for (int b = 0; b < WIDTH; ++b) {
      if (b < at.moving && is_bit(in, b)) shared->column[at.k % 2][r] = x[b];
    }
  }
  if (c == at.s) shared->other[r] = x[0];
  wait_for_matrix();
  if (c == p % SPLIT) {
    UNROLL
    for (int b = 0; b < WIDTH; ++b) {
      if (b < at.moving && is_bit(in, b)) x[b] = shared->other[r];
    }
  }
  if (c == at.s) x[0] = shared->column[at.k % 2][r];
#endif
  if (item_here() == 0) {
    const uchar column = shared->column_at[at.k];
    shared->column_at[at.k] = shared->column_at[p];
    shared->column_at[p] = column;
  }
}
#endif

// The row of the pivot to local memory. Of the registers that move, the last ones may have columns
// of L, for which the products get zeros: they leave L as it is, unless an element is not finite.
inline void publish(const real* x, elimination_step at, __local scratch_of* shared) {
  __local pack* upper = shared->upper[at.k % 2] + column_here() * WIDTH / PACK;
  __local pack* lower = shared->lower[at.k % 2] + column_here() * WIDTH / PACK;
  UNROLL
  for (int b = 0; b < WIDTH; b += PACK) {
    real values[PACK];
    UNROLL
    for (int e = 0; e < PACK; ++e) {
      const bool in_lower = b >= at.moving - CHUNK && b + e >= at.moving - at.turned;
      values[e] = in_lower ? (real)0 : x[b + e];
    }
    if (b < at.moving) upper[b / PACK] = pack_of(values);
    if (b >= at.moving - CHUNK) lower[b / PACK] = pack_of(x + b);
  }
}

// That row to its place in the matrix.
inline void store(__global real* a, int n, elimination_step at, const __local scratch_of* shared) {
  const int me = item_here(), b = me % WIDTH;
  int column = me / WIDTH + SPLIT * column_in(b, at);
#if PIVOT == FULL
  column = shared->column_at[column];
#endif
  if (at.k >= n || column >= n) return;
  const __local pack* row =
      b < at.moving - at.turned ? shared->upper[at.k % 2] : shared->lower[at.k % 2];
  a[at.k * n + column] = ((const __local real*)row)[me];
}

// The elimination. Returns whether the pivot is zero.
inline bool eliminate(real* x, elimination_step at, const __local scratch_of* shared) {
  const int c = column_here();
  const __local pack* u = shared->upper[at.k % 2] + c * WIDTH / PACK;
  const real value = ((const __local real*)shared->upper[at.k % 2])[at.s * WIDTH];
  real scale, inverse;
  reciprocal(value, &scale, &inverse);
  const real l = (SPLIT == 1 ? x[0] : shared->column[at.k % 2][row_here()]) * scale * inverse;
  const real first = c > at.s ? fma(-l, u[0].x, x[0]) : c == at.s ? l : x[0];
  const int up = at.s == SPLIT - 1;
  UNROLL
  for (int p = 0; p < WIDTH / PACK; ++p) {
    if (p * PACK >= at.moving) continue;
    const pack of_row = u[p];
    UNROLL
    for (int e = 0; e < PACK; ++e) {
      const int b = p * PACK + e;
      if (b > 0) x[b - up] = fma(-l, element_of(of_row, e), x[b]);
    }
  }
  UNROLL
  for (int b = 0; b < WIDTH; ++b) {
    if (b == (up ? at.moving - 1 : 0)) x[b] = first;
  }
  return value == 0;
}

// P A Q = L U of the matrices, n x n, by rows: unit lower L below the diagonal, U on and above it.
// ipiv, jpiv: n of each matrix, 0-based: row (column) k was interchanged with that one. info: of
// each, the first pivot (1-based) that is exactly zero, 0 if there is none.
__kernel __attribute__((reqd_work_group_size(ITEMS * MATRICES, 1, 1))) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  __local scratch_of scratch[MATRICES];
  const int me = item_here(), r = row_here(), c = column_here();
  const int matrix = get_group_id(0) * MATRICES + get_local_id(0) / ITEMS;
  const bool present = matrix < count;  // otherwise as if all of it were OUTSIDE
  __local scratch_of* shared = scratch + get_local_id(0) / ITEMS;
  __global real* a = matrices + (size_t)matrix * n * n;
  real x[WIDTH];
  load(a, present ? n : 0, x, shared->slab);
  int position = r < n ? r : -1, zero = 0;
  uint chosen = 0;  // the pivot of step r
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
        const elimination_step at = {k, s, moving, turned};
        if (SPLIT > 1 && PIVOT != FULL && c == s) shared->column[k % 2][r] = x[0];
        uint pivot = choose(x, position, at, shared);
        const bool beyond = k >= n;  // in the last turn
        if (beyond) pivot = place_of(k, k, k);
#if PIVOT == FULL
        exchange_columns(x, column_position_of(pivot), at, shared);
#endif
        if (r == row_of(pivot)) publish(x, at, shared);
        wait_for_matrix();
        position = r == row_of(pivot) ? -1 : position == k ? row_position_of(pivot) : position;
        if (me < ORDER && present) store(a, n, at, shared);
        const bool is_zero = eliminate(x, at, shared);
        if (is_zero && zero == 0 && !beyond) zero = k + 1;
        if (k == r) chosen = pivot;
      }
    }
  }
  if (me < n && present && PIVOT != NONE) ipiv[(size_t)matrix * n + me] = row_position_of(chosen);
  if (me < n && present && PIVOT == FULL)
    jpiv[(size_t)matrix * n + me] = column_position_of(chosen);
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
