// LU with full or rook pivoting of a small matrix, all of whose columns stay in registers: a
// work-group owns COLUMNS columns, and a work-item a row of them. In each step all work-groups
// choose the pivot together, and the one that has its column sends that to the others. All of them
// must run at the same time.
//
// Neither rows nor columns move: row i is work-item i's, and its `position` is where the
// interchanges have brought it; likewise for columns. A pivot's row and column, once stored and
// sent, become zero: nothing is found there any more, and later steps leave them zero.
// place_factors() puts everything in its place at the end.
//
// `messages` is filled with ones before each factorization: proposals with another tag and elements
// that differ have arrived, and stores need no order.
//
// Build options: ITEMS, a multiple of 32, at least n; LUGPU_ROOK, for rook pivoting; LUGPU_NVIDIA,
// with NVIDIA's instructions (compute capability 8.0).

#include "gpu/reciprocal.clh"

#define COLUMNS 8
#include "gpu/resident_exchange.clh"

#define TEXELS (COLUMNS / PACK)
#ifndef SPIN_LIMIT
#define SPIN_LIMIT (1 << 20)
#endif

// x / pivot is x * scale * inverse (gpu/reciprocal.clh).
typedef struct {
  real scale, inverse;
} divisor;

typedef struct {
  exchange_scratch exchange;
  divisor pivot;
  int column_positions[COLUMNS];
  real u[COLUMNS];  // the pivot's row in the work-group's columns
} resident_scratch;

// The one of larger magnitude, whose sign may be lost; a, a number, if b is NaN.
inline real larger(real a, real b) {
#ifdef LUGPU_DOUBLE
  return fabs(b) > fabs(a) ? b : a;  // fewer instructions than fmax()
#else
  return fmax(fabs(a), fabs(b));
#endif
}

// The key of the largest of those elements whose bits in `here` are set, bit c for column c.
inline key_type largest_of(const real* x, uint here) {
  real a = 0, b = 0;
#pragma unroll
  for (int c = 0; c < COLUMNS; c += 2) {
    a = here >> c & 1 ? larger(a, x[c]) : a;
    b = here >> c & 2 ? larger(b, x[c + 1]) : b;
  }
  return AS_BITS(fabs(larger(a, b)));
}

// x = the work-item's row in the work-group's columns; zeros beyond row and column n.
inline void load_row(SOURCE(source), int n, real* x) {
  const int row = get_local_id(0);
#pragma unroll
  for (int t = 0; t < TEXELS; ++t) {
    const int texel = get_group_id(0) * TEXELS + t;
    pack elements = 0;
    if (row < n && texel * PACK < n) elements = LOAD_PACK(source, row, texel);
#pragma unroll
    for (int c = 0; c < PACK; ++c)
      x[t * PACK + c] = texel * PACK + c < n ? element_of(elements, c) : (real)0;
  }
}

// The best of those elements of all work-groups whose bits in `here` are set.
inline candidate choose_pivot(const real* x, int position, uint here, int turn,
                              volatile __global ulong* messages, int* spins,
                              __local resident_scratch* shared) {
  const key_type mine = largest_of(x, here), best = largest_key(mine, &shared->exchange);
  if (mine == best && best > 0) {
    uint first = NO_PLACE;
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      const bool is_best = here >> c & 1 && (key_type)AS_BITS(fabs(x[c])) == best;
      const uint place = place_of(shared->column_positions[c], position, x[c] < 0, c);
      first = is_best ? min(first, place) : first;
    }
    atomic_min(&shared->exchange.place[turn % 2], first);
  }
  return exchange(best, turn, messages, spins, &shared->exchange);
}

#ifdef LUGPU_ROOK
// From column k to the largest of the column, from there to the largest of its row, alternating
// until that is no larger.
inline candidate walk(const real* x, int position, int k, int* turn,
                      volatile __global ulong* messages, int* spins,
                      __local resident_scratch* shared, int* is_mine) {
  candidate pivot = 0;
  int row = k, column = k, goes_on = 1;
#pragma unroll 1
  for (int length = 0; goes_on; ++length) {
    uint here = 0;
    if (length % 2 == 0) {
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c)
        here |= (shared->column_positions[c] == column ? 1u : 0u) << c;
    } else if (position == row) {
      here = ~0u;
    }
    const candidate found = choose_pivot(x, position, here, *turn, messages, spins, shared);
    *turn += 1;
    goes_on = length == 0 || key_of_proposal(found) > key_of_proposal(pivot);
    if (goes_on) pivot = found, *is_mine = shared->exchange.is_mine;
    row = row_of(place_of_proposal(pivot));
    column = column_of(place_of_proposal(pivot));
  }
  return pivot;
}
#endif

// The work-item's element of column `own`, the pivot's, to all work-groups; 0 if it is the pivot's
// row, or the pivot is zero. (A comparison of c and `own` would become an address, and x would have
// to be in memory.)
inline void send_column(real* x, int own, bool is_pivot, bool zero, volatile __global real* to,
                        __global real* pivot) {
  const uint chosen = 1u << own;
  real element = 0;
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) {
    element = chosen >> c & 1 ? x[c] : element;
    x[c] = chosen >> c & 1 ? (real)0 : x[c];
  }
  if (is_pivot) *pivot = element;
  const real sendable = element != element ? (real)NAN : element;  // not all ones
  *to = is_pivot || zero ? (real)0 : sendable;
}

// The pivot's row is U's from now on: it goes to `u`, for the work-group, and to the target.
inline void take_row(TARGET(target), int n, real* x, __local real* u) {
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) u[c] = x[c];
#pragma unroll
  for (int t = 0; t < TEXELS; ++t) {
    const int texel = get_group_id(0) * TEXELS + t;
    if (texel * PACK < n) STORE_PACK(target, (int)get_local_id(0), texel, pack_of(x + t * PACK));
  }
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) x[c] = 0;
}

inline divisor divisor_of(key_type key, bool negative) {
  divisor d;
#ifdef LUGPU_DOUBLE
  reciprocal(as_double(key), &d.scale, &d.inverse);
#else
  reciprocal(as_float(key), &d.scale, &d.inverse);
#endif
  if (negative) d.inverse = -d.inverse;
  return d;
}

// x -= l u.
inline void subtract_product(real* x, real l, const __local real* row) {
  real u[COLUMNS];
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) u[c] = row[c];
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) x[c] = fma(-l, u[c], x[c]);
}

// Where the interchange of positions k and `pivot` brings a row or column.
inline int interchanged(int position, int k, int pivot) {
  return position == pivot ? k : position == k ? pivot : position;
}

// The columns' part of the interchange; and where (k + 1, k + 1) is, if the work-group has it.
inline void interchange_columns(int k, int pivot, __local resident_scratch* shared) {
  uint diagonal = NO_PLACE;
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) {
    const int position = interchanged(shared->column_positions[c], k, pivot);
    shared->column_positions[c] = position;
    if (position == k + 1) diagonal = place_of(k + 1, k + 1, false, c);
  }
  shared->exchange.diagonal = diagonal;
}

// Rows of U go to the target, and columns of L, times the pivots, to the message buffer: where the
// rows and columns of A were. pivots[k]: the pivot of step k; places[k]: its row and column;
// slots[i]: the row and column of A that come to position i. *status: 0, or -1 if the work-groups
// waited for one another in vain.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void factor_columns(
    SOURCE(source), TARGET(target), int n, volatile __global ulong* messages, __global int2* places,
    __global real* pivots, __global int* slots, __global int* status) {
  __local resident_scratch shared[1];
  const int me = get_local_id(0), first_column = get_group_id(0) * COLUMNS;
  volatile __global real* sent = (volatile __global real*)(messages + PROPOSALS) + me;
  int spins = SPIN_LIMIT, turn = 0, position = me;
  real x[COLUMNS];
  load_row(PASS(source), n, x);
  if (me < COLUMNS) shared->column_positions[me] = first_column + me;
  prepare_exchange(&shared->exchange);
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
  for (int k = 0; k < n; ++k, sent += ITEMS) {
#ifdef LUGPU_ROOK
    int is_mine;
    const candidate pivot = walk(x, position, k, &turn, messages, &spins, shared, &is_mine);
#else
    const candidate pivot = choose_pivot(x, position, ~0u, turn++, messages, &spins, shared);
    const int is_mine = shared->exchange.is_mine;
#endif
    const key_type key = key_of_proposal(pivot);
    const uint place = place_of_proposal(pivot);
    const int row = row_of(place), column = column_of(place);
    if (is_mine) send_column(x, own_column_of(place), position == row, key == 0, sent, pivots + k);
    real l = *sent;
    if (position == row) take_row(PASS(target), n, x, shared->u);
    position = interchanged(position, k, row);
    if (me == ITEMS - 1) interchange_columns(k, column, shared);
    if (me == 0) {
      if (first_column == 0) places[k] = (int2)(row, column);
      shared->pivot = divisor_of(key, is_negative(place));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    while (AS_BITS(l) == -1 && --spins >= 0) l = *sent;
    subtract_product(x, l * shared->pivot.scale * shared->pivot.inverse, shared->u);
  }
  if (spins < 0) *status = -1;
  if (first_column == 0 && position < n) slots[2 * position] = me;
  if (me < COLUMNS && shared->column_positions[me] < n)
    slots[2 * shared->column_positions[me] + 1] = first_column + me;
}

// target = the factors from where factor_columns() left them; nothing if it gave up. A work-item
// for a texel.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void place_factors(
    SOURCE(source), TARGET(target), int n, const __global ulong* messages,
    const __global real* pivots, const __global int2* slots, const __global int* status) {
  const int t = get_global_id(0), i = get_global_id(1);
  if (t * PACK >= n || i >= n || *status < 0) return;
  const __global real* sent = (const __global real*)(messages + PROPOSALS);
  real elements[PACK];
  for (int c = 0; c < PACK; ++c) {
    const int j = t * PACK + c;
    elements[c] = 0;
    if (j < i) {
      real scale, inverse;
      reciprocal(pivots[j], &scale, &inverse);
      elements[c] = sent[(size_t)j * ITEMS + slots[i].x] * scale * inverse;
    } else if (j < n) {
      elements[c] = j == i ? pivots[i] : LOAD(source, slots[i].x, slots[j].y);
    }
  }
  STORE_PACK(target, i, t, pack_of(elements));
}
