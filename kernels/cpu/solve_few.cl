// T X = B with few columns, for devices whose work-items are CPU threads; a work-group is one
// work-item. The triangle T is read once, along its rows, at the speed of the memory: each row is
// multiplied with what has been solved of X. T is a triangle of the row-major n x n matrix t, lower
// or upper; its diagonal is that of t, or (unit) ones. X, row-major, holds B first.
//
// Build options: VECTOR (common/vector.clh); BLOCK, the rows that a work-group solves for, a
// multiple of VECTOR; COLUMNS, the most that X has.

#include "common/vector.clh"
#include "cpu/vector_sum.clh"

#define GROUP 4    // rows of T at a time
#define BLOCKS 16  // whose products are added up on their own, which rounds less

// sums(0:rows) += T(0:rows, 0:count) x(0:count), element by element, the last one first if upper,
// so that the sums do not depend on where a row is cut in pieces.  1 <= rows <= GROUP, count a
// multiple of VECTOR
inline void add_products(const __global real* t, int pitch, int rows, const __global real* x,
                         int count, int upper, vec* sums) {
  const __global real* row[GROUP];
  vec sum[GROUP];
#pragma unroll
  for (int q = 0; q < GROUP; ++q) {
    row[q] = t + (size_t)min(q, rows - 1) * pitch;
    sum[q] = sums[q];
  }
  const int step = upper ? -VECTOR : VECTOR;
  for (int k = upper ? count - VECTOR : 0; 0 <= k && k < count; k += step) {
    const vec factors = VECTOR_LOAD(x + k);
#pragma unroll
    for (int q = 0; q < GROUP; ++q) sum[q] = fma(VECTOR_LOAD(row[q] + k), factors, sum[q]);
  }
#pragma unroll
  for (int q = 0; q < GROUP; ++q) sums[q] = sum[q];
}

// y(first:last) = inv(T(first:last, first:last)) y(first:last), T column by column
inline void solve_block(const __global real* t, int pitch, __global real* y, int first, int last,
                        int upper, int unit) {
  for (int step = 0; step < last - first; ++step) {
    const int k = upper ? last - 1 - step : first + step;
    if (!unit) y[k] /= t[(size_t)k * pitch + k];
    const int from = upper ? first : k + 1, to = upper ? k : last;
    for (int i = from; i < to; ++i) y[i] = fma(-t[(size_t)i * pitch + k], y[k], y[i]);
  }
}

// X = inv(T) X. A work-group solves for a block of rows, the blocks in the order of substitution:
// as soon as an earlier block is ready, it is multiplied. Work-groups take the blocks from a
// counter, so those that one waits for have started, each on its own thread, and will finish.
// solved: X column by column, each n elements. state: blocks that are taken, and that are ready; 0
// before and afterwards.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void solve_few(
    const __global real* t, int pitch, __global real* x, int x_pitch, __global real* solved,
    volatile __global int* state, int n, int columns, int upper, int unit) {
  volatile __global int* taken = state;
  volatile __global int* ready = state + 1;
  const int block = atomic_inc(taken);
  const int first = upper ? max(n - (block + 1) * BLOCK, 0) : block * BLOCK;
  const int last = upper ? n - block * BLOCK : min(first + BLOCK, n);
  // T(first:last, done) X(done, :), `done` the rows of the blocks before, as they become ready
  vec sums[COLUMNS][BLOCK], latest[COLUMNS][BLOCK];
  for (int c = 0; c < columns; ++c) {
    for (int i = 0; i < BLOCK; ++i) sums[c][i] = latest[c][i] = 0;
  }
  for (int used = 0; used < block;) {
    int now = *ready;
    while (now == used) now = *ready;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    now = min(now, (used / BLOCKS + 1) * BLOCKS);
    const int done = upper ? n - now * BLOCK : used * BLOCK;
    for (int i = first; i < last; i += GROUP) {
      for (int c = 0; c < columns; ++c) {
        add_products(
            t + (size_t)i * pitch + done, pitch, min(last - i, GROUP),
            solved + (size_t)c * n + done, (now - used) * BLOCK, upper, latest[c] + (i - first));
      }
    }
    for (int c = 0; now % BLOCKS == 0 && c < columns; ++c) {
      for (int i = 0; i < BLOCK; ++i) {
        sums[c][i] += latest[c][i];
        latest[c][i] = 0;
      }
    }
    used = now;
  }
  for (int c = 0; c < columns; ++c) {
    __global real* column = solved + (size_t)c * n;
    for (int i = first; i < last; ++i)
      column[i] = x[(size_t)i * x_pitch + c] - sum_of(sums[c][i - first] + latest[c][i - first]);
    solve_block(t, pitch, column, first, last, upper, unit);
    for (int i = first; i < last; ++i) x[(size_t)i * x_pitch + c] = column[i];
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  const int is_last = block + 1 == (int)get_num_groups(0);
  if (is_last) *taken = 0;
  *ready = is_last ? 0 : block + 1;
}
