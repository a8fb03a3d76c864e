// LU of a matrix with few rows, all of whose columns stay in registers: a work-group owns COLUMNS
// columns of all rows, ROWS in each work-item. It applies the blocks of columns left of its own as
// they arrive, eliminates its own, sends L to the others, and stores what it has.
//
// Rows do not move: row r * ITEMS + me of the matrix is work-item me's row r, its `slot`, and its
// `position` is where getrf's interchanges have brought it. place_rows() moves all rows at the end.
//
// The work-groups take the blocks in the order in which they start, and wait only for those before
// theirs: a work-group that runs alone comes to its end, so that nothing else is asked of the
// device than that those which have started go on.
//
// `mail` is filled with ones before each factorization: whatever differs has arrived, and stores
// need no order. Its first LETTER words hold the number of work-groups that have started, minus
// one; then each block has a letter of LETTER words; after all letters each has L, COLUMNS elements
// for each slot.
//
// Build options: ITEMS, a multiple of 32; ROWS; PIVOT, 1 or 0; LUGPU_NVIDIA, with NVIDIA's
// instructions (compute capability 8.0).

#include "gpu/reciprocal.clh"

#define COLUMNS 8
#define SLOTS (ITEMS * ROWS)
#ifndef SPIN_LIMIT
#define SPIN_LIMIT (1 << 20)
#endif
// A block's letter: the slots of its pivot rows, the slots of the rows at whose positions they come
// to be, the positions they come from, COLUMNS numbers each; then the first zero pivot up to there,
// counted from 1, or 0.
#define LETTER 32
#define ZERO_WORD (3 * COLUMNS)

typedef struct {
  int slot[COLUMNS], displaced[COLUMNS], from[COLUMNS], zero;
} pivots_of_block;

// A row of the registers, and in local memory as QUARTETS of its elements.
#define QUARTETS (COLUMNS / 4)
inline void put_row(const real* x, __local real4* to) {
  to[0] = (real4)(x[0], x[1], x[2], x[3]);
  to[1] = (real4)(x[4], x[5], x[6], x[7]);
}
inline void get_row(const __local real4* from, real* x) {
  const real4 a = from[0], b = from[1];
  x[0] = a.x, x[1] = a.y, x[2] = a.z, x[3] = a.w;
  x[4] = b.x, x[5] = b.y, x[6] = b.z, x[7] = b.w;
}

#include "gpu/resident_mail.clh"
#if PIVOT
#include "gpu/resident_partial.clh"
#else
#include "gpu/resident_none.clh"
#endif

typedef struct {
  int block;                        // of the work-group
  real4 inner[COLUMNS * QUARTETS];  // the pivot rows of a block in its columns,
  real4 outer[COLUMNS * QUARTETS];  // in this work-group's,
  real4 u[COLUMNS * QUARTETS];      // and there as rows of U
  pivots_of_block pivots;           // of the work-group's block
  elimination_scratch elimination;
#if PIVOT
  short position[SLOTS];
#endif
} resident_scratch;

#define CHUNK (ROWS < 4 ? ROWS : 4)  // rows whose L is in registers at a time

// Rows of L of a block, from row `first` of the work-item's.
inline void receive_rows(volatile __global const wire* l, int first, wire (*rows)[WIRES],
                         int* patience) {
#pragma unroll
  for (int r = 0; r < CHUNK; ++r) {
#pragma unroll
    for (int w = 0; w < WIRES; ++w) {
      rows[r][w] = await(l + ((first + r) * ITEMS + (int)get_local_id(0)) * WIRES + w, patience);
    }
  }
}

// outer: this work-group's elements of the block's pivot rows; inner: the block's own.
inline void gather_pivot_rows(const real (*x)[COLUMNS], const int* slot,
                              volatile __global const wire* l, __local resident_scratch* shared,
                              int* patience) {
  const int me = get_local_id(0);
#pragma unroll
  for (int i = 0; i < COLUMNS; ++i) {
    if (slot[i] / 32 % (ITEMS / 32) != me / 32) continue;  // the same for 32 neighbours
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      if (slot[i] == r * ITEMS + me) put_row(x[r], shared->outer + i * QUARTETS);
    }
  }
  if (me < COLUMNS * WIRES) {
    int mine = slot[0];
#pragma unroll
    for (int i = 1; i < COLUMNS; ++i) mine = me / WIRES == i ? slot[i] : mine;
    ((__local wire*)shared->inner)[me] = await(l + mine * WIRES + me % WIRES, patience);
  }
}

// x -= L inverse(L11) (the pivot rows of x), for a block left of the work-group's. Pivot row i has
// zeros from column i of L on, and rows that were pivot rows before have zeros alone: so pivot rows
// become rows of U, and earlier ones stay.
inline void apply_block(real (*x)[COLUMNS], int block, int count,
                        volatile __global const int* letter, volatile __global const wire* l,
                        __local resident_scratch* shared, int* patience) {
  const int me = get_local_id(0);
  int slot[COLUMNS];
#if PIVOT
  await_numbers(letter, slot, patience);
  if (me == ITEMS - 1) follow(letter, block * COLUMNS, count, slot, shared->position, patience);
#else
#pragma unroll
  for (int i = 0; i < COLUMNS; ++i) slot[i] = block * COLUMNS + i;
#endif
  gather_pivot_rows((const real(*)[COLUMNS])x, slot, l, shared, patience);
  wire rows[CHUNK][WIRES];
  receive_rows(l, 0, rows, patience);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me < COLUMNS) {
    real u[COLUMNS];
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i) {
      real row[COLUMNS];
      get_row(shared->inner + i * QUARTETS, row);
      u[i] = i < count ? ((const __local real*)shared->outer)[i * COLUMNS + me] : (real)0;
#pragma unroll
      for (int k = 0; k < i; ++k) u[i] = i < count ? fma(-row[k], u[k], u[i]) : (real)0;
      ((__local real*)shared->u)[i * COLUMNS + me] = u[i];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int first = 0; first < ROWS; first += CHUNK) {
    if (first > 0) receive_rows(l, first, rows, patience);
#pragma unroll
    for (int k = 0; k < COLUMNS; ++k) {
      real u[COLUMNS];
      get_row(shared->u + k * QUARTETS, u);
#pragma unroll
      for (int r = 0; r < CHUNK; ++r) {
        const real factor = element_of_wires(rows[r], k);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) x[first + r][c] = fma(-factor, u[c], x[first + r][c]);
      }
    }
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

// Eliminates the work-group's block and sends it. On its first call, with block < 0, no row takes
// part: that brings the code into the instruction cache.
inline void factor_block(real (*x)[COLUMNS], int block, int rows, int width,
                         volatile __global int* letter, volatile __global wire* l,
                         __local resident_scratch* shared, int* patience) {
  const int me = get_local_id(0), j0 = max(block, 0) * COLUMNS;
  const int count = block < 0 ? 0 : min(COLUMNS, width - j0);
  int position[ROWS];
#if PIVOT
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) position[r] = shared->position[r * ITEMS + me];
#else
#pragma unroll
  for (int r = 0; r < ROWS; ++r) position[r] = r * ITEMS + me < rows ? r * ITEMS + me : -1;
#endif
  eliminate(x, position, j0, count, &shared->pivots, &shared->elimination);
  if (block >= 0) send_rows((const real(*)[COLUMNS])x, position, j0, count, l);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (block < 0) return;
#if PIVOT
#pragma unroll
  for (int r = 0; r < ROWS; ++r) shared->position[r * ITEMS + me] = position[r];
  if (me < COLUMNS) {
    const bool eliminated = me < count;  // otherwise any row will do
    letter[me] = eliminated ? shared->pivots.slot[me] : 0;
    letter[COLUMNS + me] = eliminated ? shared->pivots.displaced[me] : 0;
    letter[2 * COLUMNS + me] = eliminated ? shared->pivots.from[me] : 0;
  }
#endif
  if (me == 0) {
    const int zero = shared->pivots.zero;
    const int earlier = block > 0 ? await_int(letter - LETTER + ZERO_WORD, patience) : 0;
    letter[ZERO_WORD] = earlier > 0 ? earlier : zero > 0 ? j0 + zero : 0;
  }
}

// What the caller is told of the interchanges: of the work-group's block, and of all after the
// last.
inline void note_pivots(int block, int blocks, int rows, int width, int first,
                        __local resident_scratch* shared, __global int* ipiv,
                        __global int* goes_to) {
  const int me = get_local_id(0), k = block * COLUMNS + me;
  if (block >= blocks) return;
#if PIVOT
  if (me < COLUMNS && k < width) ipiv[first + k] = first + shared->pivots.from[me];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int row = r * ITEMS + me;
    if (block == blocks - 1 && row < rows) goes_to[row] = first + shared->position[row];
  }
#else
  if (me < COLUMNS && k < width) ipiv[first + k] = first + k;
#endif
}

// The first `width` columns of those from `first` on are eliminated, in rows first : m; width is
// all or as many as there are rows. As many work-groups as blocks of columns first : n.
// ipiv[k]: the row that interchange k brings to row k, for k from `first` on; goes_to[i]: to which
// row all of them bring row first + i.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void factor_columns(
    __global real* a, int pitch, int m, int n, int first, volatile __global int* mail,
    __global int* ipiv, __global int* goes_to, __global int* info) {
  __local resident_scratch shared[1];
  const int me = get_local_id(0), rows = m - first;
  const int width = min(rows, n - first), blocks = (width + COLUMNS - 1) / COLUMNS;
  volatile __global wire* l = (volatile __global wire*)(mail + (1 + blocks) * LETTER);
  if (me == 0) shared->block = atomic_inc(mail) + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int block = shared->block, column = first + block * COLUMNS;
  int patience = SPIN_LIMIT;
  real x[ROWS][COLUMNS];
  load_columns(a + (size_t)first * pitch + column, pitch, rows, n - column, x);
#if PIVOT
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int row = r * ITEMS + me;
    shared->position[row] = row < rows ? row : -1;
  }
#endif
#pragma unroll 1
  for (int b = -1; b <= min(block, blocks - 1); ++b) {
    volatile __global int* letter = mail + (1 + max(b, 0)) * LETTER;
    volatile __global wire* l_of = l + (size_t)max(b, 0) * (SLOTS * WIRES);
    if (b >= 0 && b < block) {
      apply_block(x, b, min(COLUMNS, width - b * COLUMNS), letter, l_of, shared, &patience);
    } else {
      factor_block(x, b, rows, width, letter, l_of, shared, &patience);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  note_pivots(block, blocks, rows, width, first, shared, ipiv, goes_to);
  if (me == 0 && block == blocks - 1) {
    const int zero = await_int(mail + blocks * LETTER + ZERO_WORD, &patience);
    if (zero > 0 && *info == 0) *info = first + zero;
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int row = r * ITEMS + me;
    if (row < rows) store_row(a + (size_t)(first + row) * pitch + column, n - column, x[r]);
  }
  if (patience < 0) *info = -1;  // a work-group that has started did not go on
}

#if PIVOT
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
#endif
