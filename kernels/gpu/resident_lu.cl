// LU with partial pivoting of a matrix with few rows, all of whose columns stay in registers: a
// work-group owns COLUMNS columns of all rows, ROWS in each work-item. It applies the blocks of
// columns left of its own as they arrive, eliminates its own, sends L to the others, and stores
// what it has.
//
// Rows do not move: row r * ITEMS + me of the matrix is work-item me's row r, its `slot`, and its
// `position` is where getrf's interchanges have brought it. place_rows() moves all rows at the end.
//
// The work-groups take the blocks in the order in which they start, and wait only for those before
// theirs: a work-group that runs alone comes to its end, so that nothing else is asked of the
// device than that those which have started go on.
//
// `messages` is filled with ones before each factorization: whatever differs has arrived, and
// stores need no order. Its first word is the number of work-groups that have started, minus one;
// then come the messages of each block.
//
// Parts whose times are noted (common/part_times.clh): the elimination of each block.
//
// Build options: ITEMS, a multiple of 32; ROWS; UNROLLED, with the steps of a block one after the
// other: fewer instructions in each, but more to compile; LUGPU_NVIDIA, with NVIDIA's instructions
// (compute capability 8.0).

#include "common/part_times.clh"
#include "gpu/reciprocal.clh"

#define COLUMNS 8
#define SLOTS (ITEMS * ROWS)
#ifndef SPIN_LIMIT
#define SPIN_LIMIT (1 << 20)
#endif

// A row of the registers, and in local memory as QUARTETS of its elements.
#define QUARTETS (COLUMNS / 4)
inline void put_row(const real* x, __local real4* to) {
  to[0] = (real4)(x[0], x[1], x[2], x[3]);
  to[1] = (real4)(x[4], x[5], x[6], x[7]);
}
inline real quartet_element(real4 quartet, int k) {
  return k == 0 ? quartet.x : k == 1 ? quartet.y : k == 2 ? quartet.z : quartet.w;
}
inline void get_row(const __local real4* from, real* x) {
  const real4 a = from[0], b = from[1];
  x[0] = a.x, x[1] = a.y, x[2] = a.z, x[3] = a.w;
  x[4] = b.x, x[5] = b.y, x[6] = b.z, x[7] = b.w;
}

#include "gpu/resident_messages.clh"
#include "gpu/resident_partial.clh"

typedef struct {
  int block;                  // of the work-group
  real4 inner[4];             // L of the pivot rows of a quartet of columns,
  real4 outer[4 * QUARTETS];  // those in this work-group's columns,
  real4 u[4 * QUARTETS];      // and there as rows of U
  int4 moves[2];              // displaced slots, and where the pivot rows come from
  elimination_scratch elimination;
  short position[SLOTS];
} resident_scratch;

// The pivot rows, from the work-items that have them.
inline void gather_pivot_rows(const real (*x)[COLUMNS], const real4* l, const int* slot,
                              __local resident_scratch* shared) {
  const int me = get_local_id(0);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (slot[i] % ITEMS == me) {
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        if (slot[i] == r * ITEMS + me) {
          put_row(x[r], shared->outer + i * QUARTETS);
          shared->inner[i] = l[r];
        }
      }
    }
  }
}

// u = inverse(L11) outer, `count` rows of it, a column by each of the first work-items. All is read
// before anything is written, so that the reads need not wait for one another.
inline void solve_for_u(int count, __local resident_scratch* shared) {
  const int me = get_local_id(0);
  const __local real* outer = (const __local real*)shared->outer;
  real u[4];
  real4 l[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    u[i] = i < count ? outer[i * COLUMNS + me] : (real)0;
    l[i] = shared->inner[i];
  }
#pragma unroll
  for (int i = 1; i < 4; ++i) {
#pragma unroll
    for (int k = 0; k < i; ++k) u[i] = fma(-quartet_element(l[i], k), u[k], u[i]);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) ((__local real*)shared->u)[i * COLUMNS + me] = u[i];
}

// The row that was at position j + i goes to where pivot i was, for each of a quartet's.
inline void follow(int j, int count, const int* slot, const __local int4* moves,
                   __local short* position) {
  int displaced[4], from[4];
  get_numbers(moves[0], displaced);
  get_numbers(moves[1], from);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < count) {
      position[displaced[i]] = from[i];
      position[slot[i]] = j + i;
    }
  }
}

// The rows of U to where their rows come from, from the second warp.
inline void store_u(__global real* a, int pitch, int columns, int count, const int* slot,
                    const __local real4* u) {
  const int c = (int)get_local_id(0) - 32;
  if (c >= 0 && c < min(COLUMNS, columns)) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i < count) a[(size_t)slot[i] * pitch + c] = ((const __local real*)u)[i * COLUMNS + c];
    }
  }
}

// x -= L u
inline void subtract_products(real (*x)[COLUMNS], const real4* l, const __local real4* packed_u) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    real u[COLUMNS];
    get_row(packed_u + k * QUARTETS, u);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const real factor = quartet_element(l[r], k);
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) x[r][c] = fma(-factor, u[c], x[r][c]);
    }
  }
}

// x -= L inverse(L11) (the pivot rows of x), for a block left of the work-group's, a quartet of
// columns after the other. In a pivot row that leaves x - U, which is zero; rows that were pivot
// rows before have zeros in L and stay so. The rows of U go to `a`.
inline void apply_block(real (*x)[COLUMNS], __global real* a, int pitch, int columns, int block,
                        int count, volatile __global wire* messages,
                        __local resident_scratch* shared, int* spins) {
  const int me = get_local_id(0), move = me - (ITEMS - 2);
  // Only the next work-group asks for the rows before they are there; the others wait for a word.
  if (block + 1 < shared->block) {
    if (me == 0) await_int((volatile __global const int*)messages + ZERO_WORD, spins);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#pragma unroll 1
  for (int q = 0; q < QUARTETS; ++q) {
    const int left = count - q * 4;
    real4 l[ROWS];
    int slot[4];
    int4 moves;
    receive(messages, q, max(move + 1, 0), l, slot, &moves, spins);
    if (move >= 0) shared->moves[move] = moves;
    gather_pivot_rows((const real(*)[COLUMNS])x, l, slot, shared);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < COLUMNS) solve_for_u(left, shared);
    if (me == ITEMS - 1)
      follow(block * COLUMNS + q * 4, left, slot, shared->moves, shared->position);
    barrier(CLK_LOCAL_MEM_FENCE);
    store_u(a, pitch, columns, left, slot, shared->u);
    subtract_products(x, l, shared->u);
  }
}

// x = `columns` columns of the matrix at `a`, `rows` rows; zeros beyond.
inline void load_columns(__global const real* a, int pitch, int rows, int columns,
                         real (*x)[COLUMNS]) {
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int row = r * ITEMS + (int)get_local_id(0);
    __global const real* from = a + (size_t)min(row, rows - 1) * pitch;
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) x[r][c] = row < rows && c < columns ? from[c] : (real)0;
  }
}

inline void store_row(__global real* to, int columns, const real* x) {
  if (columns >= COLUMNS) {
    ((__global real4*)to)[0] = (real4)(x[0], x[1], x[2], x[3]);
    ((__global real4*)to)[1] = (real4)(x[4], x[5], x[6], x[7]);
  } else {
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      if (c < columns) to[c] = x[c];
    }
  }
}

// Eliminates the work-group's block and sends it.
inline void factor_block(real (*x)[COLUMNS], int* position, int block, int width,
                         volatile __global wire* messages, __global int* ipiv, int first,
                         __local resident_scratch* shared) {
  const int j0 = block * COLUMNS, count = min(COLUMNS, width - j0);
  const int zero = eliminate(x, position, j0, count, messages, ipiv, first, &shared->elimination);
  barrier(CLK_LOCAL_MEM_FENCE);
  restore_pivot_rows(x, position, j0, count, &shared->elimination);
  if (get_local_id(0) == 0) shared->block = zero > 0 ? j0 + zero : 0;
}

// The first `width` columns of those from `first` on are eliminated, in rows first : m; width is at
// most the number of rows. As many work-groups as blocks of columns first : n.
// ipiv[k]: the row that interchange k brings to row k, for k from `first` on; goes_to[i]: to which
// row all of them bring row first + i.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void factor_columns(
    __global real* a, int pitch, int m, int n, int first, int width,
    volatile __global int* messages, __global int* ipiv, __global int* goes_to,
    __global int* info PART_TIMES) {
  __local resident_scratch shared[1];
  const int me = get_local_id(0), rows = m - first;
  const int blocks = (width + COLUMNS - 1) / COLUMNS;
  if (me == 0) shared->block = atomic_inc(messages) + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int block = shared->block, column = first + block * COLUMNS;
  const bool last = block == blocks - 1;
  int spins = SPIN_LIMIT;
  real x[ROWS][COLUMNS];
  int position[ROWS];
  __global real* part = a + (size_t)first * pitch + column;
  load_columns(part, pitch, rows, n - column, x);
  prepare_offers(&shared->elimination);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int row = r * ITEMS + me;
    position[r] = row < rows ? row : -1;
    shared->position[row] = position[r];
  }
  // Work-items store rows of U where others have loaded.
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#pragma unroll 1
  for (int b = 0; b < min(block, blocks); ++b) {
    apply_block(x, part, pitch, n - column, b, min(COLUMNS, width - b * COLUMNS),
                messages_of(messages, b), shared, &spins);
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) position[r] = shared->position[r * ITEMS + me];
  if (block < blocks) {
    START_PART(block);
    factor_block(x, position, block, width, messages_of(messages, block), ipiv, first, shared);
    END_PART(block);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0) {
      int zero = 0;
      if (block > 0) {
        zero = await_int(
            (volatile __global const int*)messages_of(messages, block - 1) + ZERO_WORD, &spins);
      }
      if (zero == 0) zero = shared->block;
      ((volatile __global int*)messages_of(messages, block))[ZERO_WORD] = zero;
      if (last && zero > 0 && *info == 0) *info = first + zero;
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int row = r * ITEMS + me;
    if (position[r] >= min(block * COLUMNS, width))  // others are rows of U, which are stored
      store_row(part + (size_t)row * pitch, n - column, x[r]);
    if (row < rows && last) goes_to[row] = first + position[r];
  }
  if (spins < 0) *info = -1;  // a work-group that has started did not go on
}

// Row first + i to row goes_to[i], in columns 0 : n, COLUMNS of them in a work-group.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void place_rows(
    __global real* a, int pitch, int m, int n, int first, __global const int* goes_to) {
  const int column = get_group_id(0) * COLUMNS, rows = m - first;
  real x[ROWS][COLUMNS];
  load_columns(a + (size_t)first * pitch + column, pitch, rows, n - column, x);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int row = r * ITEMS + (int)get_local_id(0);
    if (row < rows) store_row(a + (size_t)goes_to[row] * pitch + column, n - column, x[r]);
  }
}
