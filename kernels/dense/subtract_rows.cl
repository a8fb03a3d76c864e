// X(first:last, :) -= T(first:last, k:k+depth) X(k:k+depth, :) for few columns of X. The first
// element of T that is there is T(t_top, t_left). What is subtracted from an element is a sum of
// SUMS sums, so that few roundings follow one another: X would be less accurate otherwise, the more
// so the larger the system. Each sum has a work-item, so that neighbours read neighbours.
//
// Build option: LUGPU_BY_ROWS, for CPUs: a work-item has all sums of a row. X is the same bits.

#define SUMS 16
#define ITEMS 64

#ifdef LUGPU_BY_ROWS
#define LANES 1  // work-items of a row
#else
#define LANES SUMS
#endif

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void subtract_rows(
    __global const real* restrict t, int t_pitch, __global real* x, int pitch, int t_top,
    int t_left, int k, int depth, int first, int last) {
#if LANES > 1
  __local real parts[ITEMS];
#endif
  const int me = get_local_id(0), lane = me % LANES, c = get_global_id(1);
  const int i = first + get_global_id(0) / LANES;
  __global const real* row = t + (size_t)(min(i, last - 1) - t_top) * t_pitch + k - t_left;
  __global const real* solved = x + (size_t)k * pitch + c;
  real sums[SUMS / LANES];
#pragma unroll
  for (int s = 0; s < SUMS / LANES; ++s) sums[s] = 0;
  const int whole = depth / SUMS * SUMS;
#if LANES > 1
#pragma unroll 4
#endif
  for (int q = lane; q < whole; q += SUMS) {
#pragma unroll
    for (int s = 0; s < SUMS / LANES; ++s)
      sums[s] = fma(row[q + s], solved[(size_t)(q + s) * pitch], sums[s]);
  }
  for (int q = whole; q < depth && lane == 0; ++q)
    sums[0] = fma(row[q], solved[(size_t)q * pitch], sums[0]);
#if LANES == 1
#pragma unroll
  for (int apart = SUMS / 2; apart > 0; apart /= 2) {
#pragma unroll
    for (int s = 0; s < apart; ++s) sums[s] += sums[s + apart];
  }
#else
  parts[me] = sums[0];
  for (int apart = SUMS / 2; apart > 0; apart /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < apart) parts[me] += parts[me + apart];
  }
  sums[0] = parts[me];
#endif
  if (i < last && lane == 0) x[(size_t)i * pitch + c] -= sums[0];
}
