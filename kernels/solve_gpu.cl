// T X = B on a GPU by blocks of NB rows; T is a triangle of the row-major n x n matrix t, X row-major. The
// padding of both is never used for anything else.
//
// A triangle is lower or upper; its diagonal is that of t, or (unit) ones. The rows of an upper one are
// taken from the last to the first, which makes it a lower one: only those are solved here.
//
// Build options: NB; LUGPU_RGBA, and LUGPU_NVIDIA for the matrix units of NVIDIA's GPUs.

#ifdef LUGPU_NVIDIA
#include "tile_nvidia.clh"
#else
#include "tile_gpu.clh"
#endif
#include "strip_gpu.clh"

// The row that is i-th to be solved for, of the block of `rows` rows from `first`.
inline int row_of(bool upper, int first, int rows, int i) {
  return upper ? first + rows - 1 - i : first + i;
}

// l[k][i] = element (row_of(i), row_of(k)) of the block of T on the diagonal, lower triangular and NB x NB:
// what the block lacks is taken from the identity.
inline void fetch_triangle(__global const real* t, int pitch, int upper, int unit, int first, int rows,
                           __local real* l) {
  const int k = get_local_id(0) % NB;
  for (int i = get_local_id(0) / NB; i < NB; i += STRIP * PARTS / NB) {
    real element = i == k;
    if (i < rows && k <= i && !(unit && i == k)) {
      element = t[(size_t)row_of(upper, first, rows, i) * pitch + row_of(upper, first, rows, k)];
    }
    l[k * L_STRIDE + i] = element;
  }
}

// X(first:first+rows, strip) = inv(T(first:first+rows, first:first+rows)) X(first:first+rows, strip), a strip
// for each work-group
__kernel __attribute__((reqd_work_group_size(STRIP * PARTS, 1, 1)))
void solve_block(__global const real* t, int pitch, __global real* x, int x_pitch, int first, int rows,
                 int upper, int unit) {
  __local real4 l_packs[NB * L_STRIDE / 4];
  __local real u[PART * STRIP];
  __local real* l = (__local real*)l_packs;
  const int c = get_group_id(0) * STRIP + get_local_id(0) % STRIP;
  const int part = get_local_id(0) / STRIP * PART;
  real y[PART];
#pragma unroll
  for (int i = 0; i < PART; ++i) {
    y[i] = c < x_pitch && part + i < rows
               ? x[(size_t)row_of(upper, first, rows, part + i) * x_pitch + c]
               : (real)0;
  }
  fetch_triangle(t, pitch, upper, unit, first, rows, l);
  barrier(CLK_LOCAL_MEM_FENCE);
  substitute(false, y, l, u);
#pragma unroll
  for (int i = 0; i < PART; ++i) {
    if (c < x_pitch && part + i < rows)
      x[(size_t)row_of(upper, first, rows, part + i) * x_pitch + c] = y[i];
  }
}

// X(first:last, 0:columns) -= T(first:last, k:k+depth) X(k:k+depth, 0:columns), in tiles of 128 x 128
__kernel __attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1)))
void subtract_block(__global const real* t, int pitch, __global real* x, int x_pitch, int k,
                    int depth, int first, int last, int columns) {
  __local ulong2 scratch[TILE_BYTES / 16];
  const int row = first + get_group_id(0) * 128, column = get_group_id(1) * 128;
  if (depth % TILE_DEPTH == 0) {
    update_tile(t, pitch, x, x_pitch, row, column, last, columns, k, k + depth, false,
                (__local real*)scratch);
    return;
  }
  // Only the last block of rows may be so.
  for (int e = get_local_id(0); e < 128 * 128; e += TILE_ITEMS) {
    const int i = row + e / 128, j = column + e % 128;
    if (i >= last || j >= columns) continue;
    real sum = x[(size_t)i * x_pitch + j];
    for (int q = k; q < k + depth; ++q) {
      sum = fma(-t[(size_t)i * pitch + q], x[(size_t)q * x_pitch + j], sum);
    }
    x[(size_t)i * x_pitch + j] = sum;
  }
}

// For few columns, in one launch: a work-group has a block of NB rows of one column of B, waits for the
// blocks of X that are solved before its own, subtracts what each contributes, and solves for its block.
// It waits for earlier work-groups only. Whoever finds another number than the one that all of X was
// filled with has the element, so that no order between stores is needed. B is left filled with it, to be the X
// of the next solution.
#define SPIN_LIMIT (1 << 25)
#define EMPTY ((bits)-1)  // a NaN that no operation returns
#define QUARTER (NB / 4)

inline real await(volatile __global const real* x) {
  real element = *x;
  for (int i = 0; AS_BITS(element) == EMPTY && i < SPIN_LIMIT; ++i) element = *x;
  return element;
}

// This work-item's quarter of its row of a block of T: of columns k : k + NB every fourth, from k + q on.
inline void fetch_quarter(__global const real* row, int k, int n, int q, real* quarter) {
#pragma unroll
  for (int j = 0; j < QUARTER; ++j) {
    const int column = k + q + 4 * j;
    quarter[j] = column < n ? row[column] : (real)0;
  }
}

// Replaces the diagonal of the lower triangle l by its inverse. False, and nothing is replaced, if an inverse
// overflows or is not normal.
inline bool invert_diagonal(__local real* l, __local int* unsafe) {
  const int me = get_local_id(0);
  if (me == 0) *unsafe = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  real inverse = 1;
  if (me < NB) {
    inverse = 1 / l[me * L_STRIDE + me];
    if (!isnormal(inverse)) *unsafe = 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const bool safe = !*unsafe;
  if (me < NB && safe) l[me * L_STRIDE + me] = inverse;
  return safe;
}

// y = inverse(L) y for one column of NB elements; l has L, its diagonal inverted or not.
inline void substitute_one(const __local real* l, bool inverted, __local real* y) {
  const int me = get_local_id(0);
#pragma unroll 1
  for (int p = 0; p < NB; p += PART) {
    const __local real* l_of = l + p * L_STRIDE + p;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me == p) {
      real x[PART];
#pragma unroll
      for (int i = 0; i < PART; ++i) x[i] = y[p + i];
#pragma unroll
      for (int k = 0; k < PART; ++k) {
        const real diagonal = l_of[k * L_STRIDE + k];
        x[k] = inverted ? x[k] * diagonal : x[k] / diagonal;
#pragma unroll
        for (int i = k + 1; i < PART; ++i) x[i] = fma(-l_of[k * L_STRIDE + i], x[k], x[i]);
        y[p + k] = x[k];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me >= p + PART && me < NB) {
      real sums[4] = {0, 0, 0, 0};
#pragma unroll
      for (int k = 0; k < PART; ++k) sums[k % 4] = fma(l[(p + k) * L_STRIDE + me], y[p + k], sums[k % 4]);
      y[me] -= sums[0] + sums[1] + (sums[2] + sums[3]);
    }
  }
}

__kernel __attribute__((reqd_work_group_size(4 * NB, 1, 1)))
void solve_waiting(__global const real* t, int pitch, __global real* b, int b_pitch,
                   volatile __global real* x, int x_pitch, int n, int columns, int upper, int unit) {
  __local real4 l_packs[NB * L_STRIDE / 4];
  __local real solved[2][NB], sums[NB][4], y[NB];
  __local int unsafe;
  __local real* l = (__local real*)l_packs;
  const int me = get_local_id(0);
  const int group = get_group_id(0) / columns, c = get_group_id(0) % columns;
  const int blocks = (n + NB - 1) / NB;
  const int first = (upper ? blocks - 1 - group : group) * NB;
  const int rows = min(NB, n - first);
  const int i = me / 4, q = me % 4;
  __global const real* row = t + (size_t)row_of(upper, first, rows, min(i, rows - 1)) * pitch;

  const size_t place = (size_t)row_of(upper, first, rows, me);  // of the element that is solved for
  const real right = me < rows ? b[place * b_pitch + c] : (real)0;
  if (me < rows) ((__global bits*)b)[place * b_pitch + c] = EMPTY;
  fetch_triangle(t, pitch, upper, unit, first, rows, l);
  const bool inverted = invert_diagonal(l, &unsafe);
  // sum = T(row, before) X(before, c), this work-item's quarter of it, block by block
  real sum = 0, quarter[QUARTER], next[QUARTER];
  fetch_quarter(row, upper ? (blocks - 1) * NB : 0, n, q, quarter);
  for (int before = 0; before < group; ++before) {
    const int k = (upper ? blocks - 1 - before : before) * NB;
    fetch_quarter(row, upper ? k - NB : k + NB, n, q, next);
    __local real* x_k = solved[before & 1];
    if (me < NB) x_k[me] = k + me < n ? await(x + (size_t)(k + me) * x_pitch + c) : (real)0;
    barrier(CLK_LOCAL_MEM_FENCE);
    real products[4] = {0, 0, 0, 0};
#pragma unroll
    for (int j = 0; j < QUARTER; ++j) products[j % 4] = fma(quarter[j], x_k[q + 4 * j], products[j % 4]);
    sum += products[0] + products[1] + (products[2] + products[3]);
#pragma unroll
    for (int j = 0; j < QUARTER; ++j) quarter[j] = next[j];
  }
  sums[i][q] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me < NB) y[me] = right - (sums[me][0] + sums[me][1] + (sums[me][2] + sums[me][3]));
  substitute_one(l, inverted, y);
  if (me < rows) x[place * x_pitch + c] = isnan(y[me]) ? (real)NAN : y[me];
}
