// Mixed precision: between matrices in double and the factors in single. Matrices in double are
// stored by columns, A(i, j) at a[j * a_pitch + i]; those in single are so without gaps. `which`
// are the columns of X, R and B that a step of refinement is for.

#define GROUP 256

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

// before(:, which[c]) = X(:, which[c]), X(:, which[c]) += D(:, c) without the scale of R
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void add_corrections(
    TARGET(x), TARGET(before), __global const Column* restrict columns,
    __global const int* restrict which, __global const float* restrict d, int n) {
  const int i = get_global_id(0), c = get_global_id(1);
  if (i >= n) return;
  const Column column = columns[which[c]];
  const size_t j = which[c];
  const double element = x[j * x_pitch + i];
  before[j * before_pitch + i] = element;
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
