// Mixed precision: between matrices in double and the factors in single. Matrices in double are
// stored by columns, A(i, j) at a[j * a_pitch + i]; those in single are so without gaps. `which`
// are the columns of X, R and B that a step of refinement is for.
//
// Build option: GROUP, work-items that add up a column.

#ifndef GROUP
#define GROUP 256
#endif
#define MOST_KEPT 8  // directions of a column

#include "common/sum.clh"

// What is known of a column: max |x|, max |r|, and two powers of two whose product brings R to the
// size of A's elements. One alone might not have the range.
typedef struct {
  double x, r, scale, scale_too;
} Column;

// target(:, 0:count) = A(:, first : first + count), rounded
__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void round_columns(
    SOURCE(a), __global float* restrict target, int n, int first, int count) {
  const int i = get_global_id(0), j = get_global_id(1);
  if (i >= n || j >= count) return;
  target[(size_t)j * n + i] = (float)a[(size_t)(first + j) * a_pitch + i];
}

// target(:, c) = R(:, which[c]) times its scale, rounded
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void round_residuals(
    SOURCE(r), __global const Column* restrict columns, __global const int* restrict which,
    __global float* restrict target, int n) {
  const int i = get_global_id(0), c = get_global_id(1);
  if (i >= n) return;
  const Column column = columns[which[c]];
  const double element = r[(size_t)which[c] * r_pitch + i];
  target[(size_t)c * n + i] = (float)(element * column.scale * column.scale_too);
}

// X and R before = X and R, X(:, which[c]) += D(:, c) without the scale of R
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void add_corrections(
    TARGET(x), SOURCE(r), TARGET(x_before), TARGET(r_before),
    __global const Column* restrict columns, __global const int* restrict which,
    __global const float* restrict d, int n) {
  const int i = get_global_id(0), c = get_global_id(1);
  if (i >= n) return;
  const Column column = columns[which[c]];
  const size_t j = which[c];
  const double element = x[j * x_pitch + i];
  x_before[j * x_before_pitch + i] = element;
  r_before[j * r_before_pitch + i] = r[j * r_pitch + i];
  x[j * x_pitch + i] = element + d[(size_t)c * n + i] / column.scale / column.scale_too;
}

// target(:, which[c]) = source(:, which[c])
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void copy_chosen(
    SOURCE(source), TARGET(target), __global const int* restrict which, int n) {
  const int i = get_global_id(0);
  const size_t j = which[get_global_id(1)];
  if (i < n) target[j * target_pitch + i] = source[j * source_pitch + i];
}

// columns[which[c]] for work-group c. target: the binary order of the largest element of A, at
// which R is to be. As integers magnitudes have the same order, and those of NaN come last.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void measure_columns(
    SOURCE(x), SOURCE(r), __global Column* restrict columns, __global const int* restrict which,
    int n, int target) {
  __local long sizes_of_x[GROUP], sizes_of_r[GROUP];
  const int me = get_local_id(0), j = which[get_group_id(0)];
  x += (size_t)j * x_pitch;
  r += (size_t)j * r_pitch;
  long of_x = 0, of_r = 0;
  for (int i = me; i < n; i += GROUP) {
    of_x = max(of_x, as_long(fabs(x[i])));
    of_r = max(of_r, as_long(fabs(r[i])));
  }
  sizes_of_x[me] = of_x;
  sizes_of_r[me] = of_r;
  for (int stride = GROUP / 2; stride > 0; stride /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < stride) {
      sizes_of_x[me] = max(sizes_of_x[me], sizes_of_x[me + stride]);
      sizes_of_r[me] = max(sizes_of_r[me], sizes_of_r[me + stride]);
    }
  }
  if (me > 0) return;
  const double size = as_double(sizes_of_r[0]);
  const int shift = size > 0 && isfinite(size) ? target - ilogb(size) : 0;
  const Column column = {
      as_double(sizes_of_x[0]), size, ldexp(1.0, shift / 2), ldexp(1.0, shift - shift / 2)};
  columns[j] = column;
}

// A step of GCR for column which[c], c the work-group: X and R = B - A X, as they were before the
// last correction and are now, become those with the least ||R||_2 among X before + d, where d is
// in the span of that correction and of the directions P that are kept. P and Q = A P, with
// orthonormal vectors in Q, have `kept` vectors of each column, of which so far `used` count. Those
// of the correction replace number `slot`; they are zero where, but for `least` of it, it brings
// nothing new.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void minimize_residual(
    TARGET(x), TARGET(r), SOURCE(x_before), SOURCE(r_before), TARGET(p), TARGET(q),
    __global const Column* restrict columns, __global const int* restrict which, int n, int kept,
    int used, int slot, double least) {
  __local double parts[GROUP];
  const int me = get_local_id(0);
  const size_t j = which[get_group_id(0)];
  const Column column = columns[j];
  x += j * x_pitch;
  r += j * r_pitch;
  x_before += j * x_before_pitch;
  r_before += j * r_before_pitch;
  p += j * kept * p_pitch;
  q += j * kept * q_pitch;
  __global double *new_p = p + (size_t)slot * p_pitch, *new_q = q + (size_t)slot * q_pitch;

  // Of the correction and of R along the vectors of Q.
  double along[MOST_KEPT], left[MOST_KEPT], whole = 0;
  for (int k = 0; k < MOST_KEPT; ++k) along[k] = left[k] = 0;
  for (int i = me; i < n; i += GROUP) {
    const double d = (r_before[i] - r[i]) * column.scale * column.scale_too;
    const double of_r = r_before[i] * column.scale * column.scale_too;
    whole += d * d;
    for (int k = 0; k < MOST_KEPT; ++k) {
      if (k >= used || k == slot) continue;
      const double of_q = q[(size_t)k * q_pitch + i];
      along[k] += d * of_q;
      left[k] += of_r * of_q;
    }
  }
  whole = sum_of_all(whole, parts);
  for (int k = 0; k < MOST_KEPT; ++k) {
    if (k >= used || k == slot) continue;
    along[k] = sum_of_all(along[k], parts);
    left[k] = sum_of_all(left[k], parts);
  }

  double size = 0, step = 0;
  for (int i = me; i < n; i += GROUP) {
    double of_p = (x[i] - x_before[i]) * column.scale * column.scale_too;
    double of_q = (r_before[i] - r[i]) * column.scale * column.scale_too;
    for (int k = 0; k < MOST_KEPT; ++k) {
      if (k >= used || k == slot) continue;
      of_p -= along[k] * p[(size_t)k * p_pitch + i];
      of_q -= along[k] * q[(size_t)k * q_pitch + i];
    }
    new_p[i] = of_p;
    new_q[i] = of_q;
    size += of_q * of_q;
    step += of_q * (r_before[i] * column.scale * column.scale_too);
  }
  size = sum_of_all(size, parts);
  step = sum_of_all(step, parts);

  const bool is_new = size > least * least * whole && isfinite(size) && isfinite(step);
  const double norm = sqrt(size), length = is_new ? step / norm : 0;
  for (int i = me; i < n; i += GROUP) {
    const double of_p = is_new ? new_p[i] / norm : 0, of_q = is_new ? new_q[i] / norm : 0;
    new_p[i] = of_p;
    new_q[i] = of_q;
    double of_x = length * of_p, of_r = length * of_q;
    for (int k = 0; k < MOST_KEPT; ++k) {
      if (k >= used || k == slot) continue;
      of_x += left[k] * p[(size_t)k * p_pitch + i];
      of_r += left[k] * q[(size_t)k * q_pitch + i];
    }
    x[i] = x_before[i] + of_x / column.scale / column.scale_too;
    r[i] = r_before[i] - of_r / column.scale / column.scale_too;
  }
}
