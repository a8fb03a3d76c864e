// T X = B on a GPU by blocks of NB rows; T is a triangle of the row-major n x n matrix t, X
// row-major. The padding of both is never used for anything else.
//
// A triangle is lower or upper; its diagonal is that of t, or (unit) ones. The rows of an upper one
// are taken from the last to the first, which makes it a lower one: only those are solved here.
//
// Where only a part of T is there, the first element of t is T(t_top, t_left). X is columns x_first
// : x_first + columns of x.
//
// Build options: NB; LUGPU_RGBA; LUGPU_NVIDIA for the matrix units of NVIDIA's GPUs; LUGPU_WGMMA
// besides, for singles, if subtract_block is to take those of compute capability 9.0: the host has
// to patch the program then; NARROW_TILES besides, for doubles, if it is to have tiles of 128 x 64.

#include "gpu/strip.clh"
#include "gpu/tile_order.clh"
#include "gpu/update_flat_tile.clh"
#ifdef LUGPU_NVIDIA
#include "nvidia/lanes.clh"
#endif
#ifdef LUGPU_WGMMA
#define DEPTH_STEP (2 * TILE_DEPTH)
#else
#define DEPTH_STEP TILE_DEPTH
#endif

// The row that is i-th to be solved for, of the block of `rows` rows from `first`.
inline int row_of(bool upper, int first, int rows, int i) {
  return upper ? first + rows - 1 - i : first + i;
}

// T(0, 0), from where places are counted: before t, the part that is there, if t is not all of T.
inline __global const real* from_origin(__global const real* t, int pitch, int t_top, int t_left) {
  return t - ((size_t)t_top * pitch + t_left);
}

// l[k][i] = element (row_of(i), row_of(k)) of the block of T on the diagonal, lower triangular and
// NB x NB: what the block lacks is taken from the identity.
inline void fetch_triangle(__global const real* t, int pitch, int upper, int unit, int first,
                           int rows, __local real* l) {
  const int k = get_local_id(0) % NB;
  for (int i = get_local_id(0) / NB; i < NB; i += STRIP * PARTS / NB) {
    real element = i == k;
    if (i < rows && k <= i && !(unit && i == k)) {
      element = t[(size_t)row_of(upper, first, rows, i) * pitch + row_of(upper, first, rows, k)];
    }
    l[k * L_STRIDE + i] = element;
  }
}

// X(first:first+rows, strip) = inv(T(first:first+rows, first:first+rows)) X(first:first+rows,
// strip), a strip for each work-group
__kernel __attribute__((reqd_work_group_size(STRIP * PARTS, 1, 1))) void solve_block(
    __global const real* t, int pitch, int t_top, int t_left, __global real* x, int x_pitch,
    int x_first, int columns, int first, int rows, int upper, int unit) {
  __local real4 l_packs[NB * L_STRIDE / 4];
  __local real u[PART * STRIP];
  __local real* l = (__local real*)l_packs;
  const int c = x_first + get_group_id(0) * STRIP + get_local_id(0) % STRIP;
  const int x_end = x_first + columns;
  const int part = get_local_id(0) / STRIP * PART;
  real y[PART];
#pragma unroll
  for (int i = 0; i < PART; ++i) {
    y[i] = c < x_end && part + i < rows
               ? x[(size_t)row_of(upper, first, rows, part + i) * x_pitch + c]
               : (real)0;
  }
  fetch_triangle(from_origin(t, pitch, t_top, t_left), pitch, upper, unit, first, rows, l);
  barrier(CLK_LOCAL_MEM_FENCE);
  substitute(false, y, l, u);
#pragma unroll
  for (int i = 0; i < PART; ++i) {
    if (c < x_end && part + i < rows)
      x[(size_t)row_of(upper, first, rows, part + i) * x_pitch + c] = y[i];
  }
}

// X(first:last, :) -= T(first:last, k:k+depth) X(k:k+depth, :), in tiles of 128 x TILE_COLUMNS
__kernel __attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1))) void subtract_block(
    __global const real* t_part, int pitch, int t_top, int t_left, __global real* x, int x_pitch,
    int x_first, int columns, int k, int depth, int first, int last) {
#ifdef LUGPU_WGMMA
  __local ulong2 scratch[WGMMA_PLACEHOLDER_BYTES / 16] __attribute__((aligned(1024)));
#else
  __local ulong2 scratch[TILE_BYTES / 16];
#endif
  __global const real* t = from_origin(t_part, pitch, t_top, t_left);
  const int2 place = place_of_tile(
      get_group_id(0), (last - first + 127) / 128, (columns + TILE_COLUMNS - 1) / TILE_COLUMNS);
  const int row = first + place.x * 128, column = x_first + place.y * TILE_COLUMNS;
  const int x_end = x_first + columns;
  // Only the last block of rows may have another depth, and only the last columns start elsewhere.
  const int by_tile = column % 16 == 0 ? depth / DEPTH_STEP * DEPTH_STEP : 0;
  if (by_tile > 0) {
    update_flat_tile(t, pitch, x, x_pitch, row, column, last, x_end, k, k + by_tile, scratch);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  if (by_tile == depth) return;
  for (int e = get_local_id(0); e < 128 * TILE_COLUMNS; e += TILE_ITEMS) {
    const int i = row + e / TILE_COLUMNS, j = column + e % TILE_COLUMNS;
    if (i >= last || j >= x_end) continue;
    real sum = x[(size_t)i * x_pitch + j];
    for (int q = k + by_tile; q < k + depth; ++q) {
      sum = fma(-t[(size_t)i * pitch + q], x[(size_t)q * x_pitch + j], sum);
    }
    x[(size_t)i * x_pitch + j] = sum;
  }
}

// For few columns, in one launch, X(begin:begin+n, :) = inv(T(begin:begin+n, begin:begin+n))
// X(begin:begin+n, :): a work-group has a block of NB rows of one column, waits for the blocks that
// are solved before its own, subtracts what each contributes, and solves for its block. It waits
// for earlier work-groups only. X goes to the message buffer, column after column without gaps, in
// its half number `half_`, which is filled with one number: a reader that finds any other has the
// element, so stores need no ordering. The other half is left filled with that number, for the next
// solution of as many columns.
// begin - t_left: a multiple of 4.
#ifndef SPIN_LIMIT  // tests on CPUs, whose threads are interrupted, wait longer
#define SPIN_LIMIT (1 << 25)
#endif
#define EMPTY ((bits)-1)  // a NaN that no operation returns
// Elements of T come 16 bytes at a time: a work-item has every fourth such word of its row.
#ifdef LUGPU_DOUBLE
#define WORD 2
typedef double2 word;
#define WORD_OF(elements) vload2(0, elements)
#define BELOW(column, n) convert_long2((column) + (int2)(0, 1) < (n))
#else
#define WORD 4
typedef float4 word;
#define WORD_OF(elements) vload4(0, elements)
#define BELOW(column, n) ((column) + (int4)(0, 1, 2, 3) < (n))
#endif
#define QUARTER (NB / WORD / 4)
// So many blocks of T are on their way at a time. They come without branches, for which NVIDIA's
// compiler would wait.
#define AHEAD 2
// So many blocks are added up before they are added to the rest: rounding errors grow with the
// number of sums in a row.
#define BLOCKS_OF_SUM 32
// A sum of products of a few elements each: a double, where there are doubles.
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double total;
#else
typedef real total;
#endif

// *x, of which `element` is what was there before.
inline real await(volatile __global const real* x, real element) {
  for (int i = 0; AS_BITS(element) == EMPTY && i < SPIN_LIMIT; ++i) element = *x;
  return element;
}

// This work-item's quarter of its row of a block of T, of which all columns are there: of the words
// of columns k : k + NB every fourth, from word q on.
inline void fetch_quarter(__global const real* row, int k, int q, word* quarter) {
#pragma unroll
  for (int j = 0; j < QUARTER; ++j) {
    quarter[j] = *(__global const word*)(row + k + WORD * (q + 4 * j));
  }
}

// Likewise of the columns below n.
inline void fetch_some_of_quarter(__global const real* row, int k, int n, int q, word* quarter) {
#pragma unroll
  for (int j = 0; j < QUARTER; ++j) {
    const int column = k + WORD * (q + 4 * j);
    quarter[j] = column < n ? *(__global const word*)(row + column) : (word)0;
    quarter[j] = select((word)0, quarter[j], BELOW(column, n));
  }
}

// Replaces the lower triangle L, in l, by its inverse; NB is STRIP. False, and nothing is replaced,
// if inv(L) y might be much less accurate than substitution: if an element of |inv(L)| |L|, which
// times eps |x| bounds its error, may be larger than LARGEST_TERM (those of the factors of random
// matrices are below 50), or if elements of the inverse that underflow may count.
#define LARGEST_TERM 256
#ifdef LUGPU_DOUBLE
#define LARGEST_ROW 1e290  // about eps / SMALLEST_NORMAL
#else
#define LARGEST_ROW 1e30f
#endif
inline bool invert_triangle(const bool unit, __local real* l, __local real* u,
                            __local real* weights, __local int* unsafe) {
  const int me = get_local_id(0), c = me % STRIP, part = me / STRIP;
  if (me == 0) *unsafe = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me < NB) {  // the sum of row `me`
    real sum = 0;
    for (int k = 0; k < NB; ++k) sum += fabs(l[k * L_STRIDE + me]);
    weights[me] = sum;
  }
  real x[PART];  // of column c of the inverse
#pragma unroll
  for (int i = 0; i < PART; ++i) x[i] = part * PART + i == c;
  substitute(unit, x, l, u);
  bool safe = weights[c] <= LARGEST_ROW;
#pragma unroll
  for (int i = 0; i < PART; ++i)
    safe = safe && fabs(x[i]) * weights[c] <= LARGEST_TERM;  // no NaN is
  if (!safe) *unsafe = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  safe = !*unsafe;
#pragma unroll
  for (int i = 0; i < PART; ++i) {
    if (safe) l[c * L_STRIDE + part * PART + i] = x[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return safe;
}

// Likewise of row i of the inverse, which is in l by columns.
inline void fetch_inverse(const __local real* l, int i, int q, word* quarter) {
#pragma unroll
  for (int j = 0; j < QUARTER; ++j) {
    real elements[WORD];
#pragma unroll
    for (int e = 0; e < WORD; ++e) elements[e] = l[(WORD * (q + 4 * j) + e) * L_STRIDE + i];
    quarter[j] = WORD_OF(elements);
  }
}

// This work-item's quarter of an element of a product: of a row's words every fourth, times those
// of x.
inline real quarter_product(const word* quarter, const __local word* x, int q) {
  word of_x[QUARTER];
#pragma unroll
  for (int j = 0; j < QUARTER; ++j) of_x[j] = x[q + 4 * j];
#ifdef LUGPU_DOUBLE
  double4 products = 0;
#pragma unroll
  for (int j = 0; j < QUARTER; j += 2) {
    products.lo = fma(quarter[j], of_x[j], products.lo);
    products.hi = fma(quarter[j + 1], of_x[j + 1], products.hi);
  }
#else
  float4 products = 0;
#pragma unroll
  for (int j = 0; j < QUARTER; ++j) products = fma(quarter[j], of_x[j], products);
#endif
  return (products.x + products.y) + (products.z + products.w);
}

// A row's element of a product, from its quarters. sums: one for each work-item.
#ifdef LUGPU_NVIDIA
inline total from_quarters(total quarter, __local total* sums) {
#pragma unroll
  for (int distance = 1; distance < 4; distance *= 2) {
    const uint2 v = as_uint2(quarter);
    quarter += as_double((uint2)(from_distance(v.x, distance), from_distance(v.y, distance)));
  }
  return quarter;
}
#else
inline total from_quarters(total quarter, __local total* sums) {
  const int me = get_local_id(0), row = me / 4 * 4;
  sums[me] = quarter;
  barrier(CLK_LOCAL_MEM_FENCE);
  return sums[row] + sums[row + 1] + (sums[row + 2] + sums[row + 3]);
}
#endif

// Likewise in the precision of T.
#if defined LUGPU_NVIDIA && !defined LUGPU_DOUBLE
inline real real_from_quarters(real quarter, __local total* sums) {
#pragma unroll
  for (int distance = 1; distance < 4; distance *= 2) {
    quarter += as_float(from_distance(as_uint(quarter), distance));
  }
  return quarter;
}
#else
#define real_from_quarters from_quarters
#endif

// This work-item's quarter of T(row, k:k+NB) X(k:k+NB, c), once all of that X is there: x points to
// it, seen is what was there of X(k + me).
inline real awaited_product(volatile __global const real* x, real seen, const word* quarter,
                            __local word* x_k, int q) {
  const int me = get_local_id(0);
  if (me < NB) ((__local real*)x_k)[me] = await(x + me, seen);
  barrier(CLK_LOCAL_MEM_FENCE);
  return quarter_product(quarter, x_k, q);
}

// This work-item's quarter of T(row, before) X(before, c), by blocks: `before` of them, the first
// one from column k on, the others `step` columns further. solution: X(:, c).
inline total awaited_products(__global const real* row, volatile __global const real* solution,
                              int before, int k, int step, int n, int q,
                              __local word (*solved)[NB / WORD]) {
  const int me = get_local_id(0);
  total sum = 0, sum_of_few = 0;
  word ring[AHEAD][QUARTER];
  real seen[AHEAD];
  if (before == 0) return 0;
  // Rounds of AHEAD blocks, of which the first one may begin with blocks of zeros. Only the first
  // block may have less than NB columns.
  int b = -((AHEAD - before % AHEAD) % AHEAD);
  k += b * step;
#pragma unroll
  for (int d = 0; d < AHEAD; ++d) {
    const int at = k + d * step, end = b + d < 0 ? at : n;
    fetch_some_of_quarter(row, at, end, q, ring[d]);
    seen[d] = me < NB && at + me < end ? solution[at + me] : (real)0;
  }
  for (; b < before - AHEAD; b += AHEAD) {
#pragma unroll
    for (int d = 0; d < AHEAD; ++d) {
      sum_of_few += awaited_product(solution + k, seen[d], ring[d], solved[(b + d) & 1], q);
      if (me < NB) seen[d] = solution[k + AHEAD * step + me];
      fetch_quarter(row, k + AHEAD * step, q, ring[d]);
      k += step;
    }
    if ((b & (BLOCKS_OF_SUM - 1)) >= AHEAD) continue;
    sum += sum_of_few;
    sum_of_few = 0;
  }
#pragma unroll
  for (int d = 0; d < AHEAD; ++d) {
    sum_of_few += awaited_product(solution + k, seen[d], ring[d], solved[(b + d) & 1], q);
    k += step;
  }
  return sum + sum_of_few;
}

__kernel __attribute__((reqd_work_group_size(4 * NB, 1, 1))) void solve_waiting(
    __global const real* t, int pitch, int t_top, int t_left, __global real* x, int x_pitch,
    int begin, int n, int columns, int upper, int unit, volatile __global real* messages,
    int half_) {
  __local real4 l_packs[NB * L_STRIDE / 4];
  __local word solved[2][NB / WORD], y_words[NB / WORD];
  __local real u[PART * STRIP];
  __local total sums[4 * NB];
  __local int unsafe;
  __local real *l = (__local real*)l_packs, *y = (__local real*)y_words;
  t = from_origin(t, pitch, t_top, t_left) + (size_t)begin * (pitch + 1);
  x += (size_t)begin * x_pitch;
  const int me = get_local_id(0), i = me / 4, q = me % 4;
  const int group = get_group_id(0) / columns, c = get_group_id(0) % columns;
  const int blocks = (n + NB - 1) / NB;
  const int first = (upper ? blocks - 1 - group : group) * NB;
  const int rows = min(NB, n - first);
  __global const real* row = t + (size_t)row_of(upper, first, rows, min(i, rows - 1)) * pitch;

  const size_t place = (size_t)row_of(upper, first, rows, i);  // of the element that is solved for
  const bool is_mine = q == 0 && i < rows;
  volatile __global real* solution = messages + ((size_t)half_ * columns + c) * n;
  volatile __global real* empty = messages + ((size_t)(1 - half_) * columns + c) * n;
  const real right = i < rows ? x[place * x_pitch + c] : (real)0;
  if (is_mine) ((volatile __global bits*)empty)[place] = EMPTY;
  fetch_triangle(t, pitch, upper, unit, first, rows, l);
  barrier(CLK_LOCAL_MEM_FENCE);
  // While others solve: the inverse of the block on the diagonal.
  const bool inverted = invert_triangle(unit, l, u, y, &unsafe);
  const total sum = awaited_products(
      row, solution, group, upper ? (blocks - 1) * NB : 0, upper ? -NB : NB, n, q, solved);
  word inverse[QUARTER];
  fetch_inverse(l, i, q, inverse);
  const real rest = right - from_quarters(sum, sums);
  if (q == 0) y[i] = rest;
  barrier(CLK_LOCAL_MEM_FENCE);
  real solved_for;
  if (inverted) {
    solved_for = real_from_quarters(quarter_product(inverse, y_words, q), sums);
  } else {
    real v[PART];  // every column of the strip is y
#pragma unroll
    for (int e = 0; e < PART; ++e) v[e] = y[me / STRIP * PART + e];
    substitute(unit, v, l, u);
#pragma unroll
    for (int e = 0; e < PART; ++e) {
      if (me % STRIP == 0) y[me / STRIP * PART + e] = v[e];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    solved_for = y[i];
  }
  if (is_mine)
    solution[place] = x[place * x_pitch + c] = isnan(solved_for) ? (real)NAN : solved_for;
}
