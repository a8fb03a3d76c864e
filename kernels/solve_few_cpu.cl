// T X = B with few columns, for devices whose work-items are CPU threads; a work-group is one work-item. The
// triangle T is read once, along its rows, at the speed of the memory: each row is multiplied with what has
// been solved of X. T is a triangle of the row-major n x n matrix t, lower or upper; its diagonal is that of t,
// or (unit) ones. X, row-major, holds B first.
//
// Build option: VECTOR (vector_cpu.clh).

#include "vector_cpu.clh"

#define SUMS 4  // of vectors: as many multiply-adds as the processor has under way

// a(0:count) . b(0:count)
inline real dot_product(const __global real* a, const __global real* b, int count) {
  vec sums[SUMS];
#pragma unroll
  for (int v = 0; v < SUMS; ++v) sums[v] = 0;
  int k = 0;
  for (; k + SUMS * VECTOR <= count; k += SUMS * VECTOR) {
#pragma unroll
    for (int v = 0; v < SUMS; ++v) {
      sums[v] = fma(VECTOR_LOAD(a + k + v * VECTOR), VECTOR_LOAD(b + k + v * VECTOR), sums[v]);
    }
  }
  for (; k + VECTOR <= count; k += VECTOR) sums[0] = fma(VECTOR_LOAD(a + k), VECTOR_LOAD(b + k), sums[0]);
  real elements[VECTOR];
  VECTOR_STORE((sums[0] + sums[1]) + (sums[2] + sums[3]), elements);
  real total = 0;
  for (int c = 0; c < VECTOR; ++c) total += elements[c];
  for (; k < count; ++k) total = fma(a[k], b[k], total);
  return total;
}

// X(first:last, :) = inv(T(first:last, first:last)) (X(first:last, :) - T(first:last, done) X(done, :)), `done` the
// rows that are solved: those before `first` of a lower triangle, those from `last` of an upper one. A work-group
// subtracts for `rows` rows; the one that is ready last solves. solved: the rows that are, column by column, each
// n elements. ready: 0 before and afterwards.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void solve_few(const __global real* t, int pitch, __global real* x, int x_pitch, __global real* solved,
               volatile __global int* ready, int n, int columns, int first, int last, int rows, int upper,
               int unit) {
  const int top = first + get_group_id(0) * rows;
  const int bottom = min(top + rows, last);
  const int done = upper ? last : 0;
  const int count = upper ? n - last : first;
  for (int i = top; i < bottom; ++i) {
    for (int c = 0; c < columns; ++c) {
      x[(size_t)i * x_pitch + c] -=
          dot_product(t + (size_t)i * pitch + done, solved + (size_t)c * n + done, count);
    }
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  if (atomic_inc(ready) + 1 < (int)get_num_groups(0)) return;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  *ready = 0;
  for (int step = 0; step < last - first; ++step) {
    const int i = upper ? last - 1 - step : first + step;
    const int from = upper ? i + 1 : first;
    const __global real* row = t + (size_t)i * pitch;
    for (int c = 0; c < columns; ++c) {
      __global real* column = solved + (size_t)c * n;
      const real rest = x[(size_t)i * x_pitch + c] - dot_product(row + from, column + from, step);
      x[(size_t)i * x_pitch + c] = column[i] = unit ? rest : rest / row[i];
    }
  }
}
