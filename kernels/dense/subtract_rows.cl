// X(first:last, :) -= T(first:last, k:k+depth) X(k:k+depth, :) for few columns of X. The first
// element of T that is there is T(t_top, t_left). What is subtracted from an element is a sum of
// SUMS sums, so that few roundings follow one another: X would be less accurate otherwise, the more
// so the larger the system.

#define SUMS 16

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void subtract_rows(
    __global const real* restrict t, int t_pitch, __global real* x, int pitch, int t_top,
    int t_left, int k, int depth, int first, int last) {
  const int i = get_global_id(0), c = get_global_id(1);
  if (first + i >= last) return;
  __global const real* row = t + (size_t)(first + i - t_top) * t_pitch + k - t_left;
  __global const real* solved = x + (size_t)k * pitch + c;
  real sums[SUMS];
#pragma unroll
  for (int s = 0; s < SUMS; ++s) sums[s] = 0;
  int q = 0;
  for (; q + SUMS <= depth; q += SUMS) {
#pragma unroll
    for (int s = 0; s < SUMS; ++s)
      sums[s] = fma(row[q + s], solved[(size_t)(q + s) * pitch], sums[s]);
  }
  for (; q < depth; ++q) sums[0] = fma(row[q], solved[(size_t)q * pitch], sums[0]);
#pragma unroll
  for (int apart = SUMS / 2; apart > 0; apart /= 2) {
#pragma unroll
    for (int s = 0; s < apart; ++s) sums[s] += sums[s + apart];
  }
  x[(size_t)(first + i) * pitch + c] -= sums[0];
}
