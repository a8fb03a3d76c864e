// Mixed precision: between matrices in double and the factors in single. Matrices in double are
// stored by columns, A(i, j) at a[j * a_pitch + i]; those in single are so without gaps. `which`
// are the columns of X, R and B that a step of refinement is for.
//
// Build option: GROUP, work-items that measure a column.

#ifndef GROUP
#define GROUP 256
#endif
#define MOST_KEPT 8  // directions of a column

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

// A step of GCR for column j = which[c] in three kernels: X and R = B - A X, as they were before
// the last correction and are now, become those with the least ||R||_2 among X before + d, where d
// is in the span of that correction and of the directions P that are kept. P and Q = A P, with
// orthonormal vectors in Q, have `kept` vectors of each column, of which so far `used` count. Those
// of the correction replace number `slot`; they are zero where, but for `least` of it, it brings
// nothing new. Columns with max |r| <= tolerance max |x| stay as they are.
//
// A work-group has PART_ROWS rows of a column; `sums` and `more_sums` are what each of them adds
// up.

#define PART_ITEMS 128
#define PART_ROWS 512
// Of the correction to R: its square, then of it and of R along each vector of Q.
#define SUMS (1 + 2 * MOST_KEPT)
#define ALONG 1
#define LEFT (1 + MOST_KEPT)
// Of what is new of it: its square, and R along it.
#define MORE_SUMS 2

// The places of column j in X, R, X and R before, P and Q.
#define GO_TO_COLUMN(j)           \
  x += (j)*x_pitch;               \
  r += (j)*r_pitch;               \
  x_before += (j)*x_before_pitch; \
  r_before += (j)*r_before_pitch; \
  p += (j)*kept * p_pitch;        \
  q += (j)*kept * q_pitch

inline bool is_done(Column column, double tolerance) { return column.r <= column.x * tolerance; }

// sums[k] = the sum of what the work-items have as mine[k]. scratch: count * PART_ITEMS.
inline void add_up(const double* mine, int count, __local double* scratch,
                   __global double* restrict sums) {
  const int me = get_local_id(0);
  for (int k = 0; k < count; ++k) scratch[k * PART_ITEMS + me] = mine[k];
  for (int stride = PART_ITEMS / 2; stride > 0; stride /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int e = me; e < count * stride; e += PART_ITEMS) {
      const int at = e / stride * PART_ITEMS + e % stride;
      scratch[at] += scratch[at + stride];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me < count) sums[me] = scratch[me * PART_ITEMS];
}

// totals[k] = what all parts have as sums[k]
inline void add_parts(__global const double* restrict sums, int count, __local double* totals) {
  const int me = get_local_id(0), parts = get_num_groups(0);
  if (me < count) {
    double total = 0;
    for (int part = 0; part < parts; ++part) total += sums[part * count + me];
    totals[me] = total;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(PART_ITEMS, 1, 1))) void project_correction(
    SOURCE(r), SOURCE(r_before), SOURCE(q), __global const Column* restrict columns,
    __global const int* restrict which, __global double* restrict sums, int n, int kept, int used,
    int slot, double tolerance) {
  __local double scratch[SUMS * PART_ITEMS];
  const int part = get_group_id(0), c = get_group_id(1);
  const size_t j = which[c];
  const Column column = columns[j];
  if (is_done(column, tolerance)) return;
  r += j * r_pitch;
  r_before += j * r_before_pitch;
  q += j * kept * q_pitch;
  double mine[SUMS];
  for (int k = 0; k < SUMS; ++k) mine[k] = 0;
  const int end = min(n, (part + 1) * PART_ROWS);
  for (int i = part * PART_ROWS + get_local_id(0); i < end; i += PART_ITEMS) {
    const double d = (r_before[i] - r[i]) * column.scale * column.scale_too;
    const double of_r = r_before[i] * column.scale * column.scale_too;
    mine[0] += d * d;
    for (int k = 0; k < MOST_KEPT; ++k) {
      if (k >= used || k == slot) continue;
      const double of_q = q[(size_t)k * q_pitch + i];
      mine[ALONG + k] += d * of_q;
      mine[LEFT + k] += of_r * of_q;
    }
  }
  add_up(mine, SUMS, scratch, sums + ((size_t)c * get_num_groups(0) + part) * SUMS);
}

// P and Q get what is new of the correction, not yet of length one.
__kernel __attribute__((reqd_work_group_size(PART_ITEMS, 1, 1))) void subtract_directions(
    SOURCE(x), SOURCE(r), SOURCE(x_before), SOURCE(r_before), TARGET(p), TARGET(q),
    __global const Column* restrict columns, __global const int* restrict which,
    __global const double* restrict sums, __global double* restrict more_sums, int n, int kept,
    int used, int slot, double tolerance) {
  __local double scratch[MORE_SUMS * PART_ITEMS], totals[SUMS];
  const int part = get_group_id(0), c = get_group_id(1), parts = get_num_groups(0);
  const size_t j = which[c];
  const Column column = columns[j];
  if (is_done(column, tolerance)) return;
  GO_TO_COLUMN(j);
  add_parts(sums + (size_t)c * parts * SUMS, SUMS, totals);
  double mine[MORE_SUMS] = {0, 0};
  const int end = min(n, (part + 1) * PART_ROWS);
  for (int i = part * PART_ROWS + get_local_id(0); i < end; i += PART_ITEMS) {
    double of_p = (x[i] - x_before[i]) * column.scale * column.scale_too;
    double of_q = (r_before[i] - r[i]) * column.scale * column.scale_too;
    for (int k = 0; k < MOST_KEPT; ++k) {
      if (k >= used || k == slot) continue;
      of_p -= totals[ALONG + k] * p[(size_t)k * p_pitch + i];
      of_q -= totals[ALONG + k] * q[(size_t)k * q_pitch + i];
    }
    p[(size_t)slot * p_pitch + i] = of_p;
    q[(size_t)slot * q_pitch + i] = of_q;
    mine[0] += of_q * of_q;
    mine[1] += of_q * (r_before[i] * column.scale * column.scale_too);
  }
  add_up(mine, MORE_SUMS, scratch, more_sums + ((size_t)c * parts + part) * MORE_SUMS);
}

__kernel __attribute__((reqd_work_group_size(PART_ITEMS, 1, 1))) void combine_directions(
    TARGET(x), TARGET(r), SOURCE(x_before), SOURCE(r_before), TARGET(p), TARGET(q),
    __global const Column* restrict columns, __global const int* restrict which,
    __global const double* restrict sums, __global const double* restrict more_sums, int n,
    int kept, int used, int slot, double tolerance, double least) {
  __local double totals[SUMS], more_totals[MORE_SUMS];
  const int part = get_group_id(0), c = get_group_id(1), parts = get_num_groups(0);
  const size_t j = which[c];
  const Column column = columns[j];
  if (is_done(column, tolerance)) return;
  GO_TO_COLUMN(j);
  add_parts(sums + (size_t)c * parts * SUMS, SUMS, totals);
  add_parts(more_sums + (size_t)c * parts * MORE_SUMS, MORE_SUMS, more_totals);
  const double size = more_totals[0], step = more_totals[1];
  const bool is_new = size > least * least * totals[0] && isfinite(size) && isfinite(step);
  const double norm = sqrt(size), length = is_new ? step / norm : 0;
  __global double *new_p = p + (size_t)slot * p_pitch, *new_q = q + (size_t)slot * q_pitch;
  const int end = min(n, (part + 1) * PART_ROWS);
  for (int i = part * PART_ROWS + get_local_id(0); i < end; i += PART_ITEMS) {
    const double of_p = is_new ? new_p[i] / norm : 0, of_q = is_new ? new_q[i] / norm : 0;
    new_p[i] = of_p;
    new_q[i] = of_q;
    double of_x = length * of_p, of_r = length * of_q;
    for (int k = 0; k < MOST_KEPT; ++k) {
      if (k >= used || k == slot) continue;
      of_x += totals[LEFT + k] * p[(size_t)k * p_pitch + i];
      of_r += totals[LEFT + k] * q[(size_t)k * q_pitch + i];
    }
    x[i] = x_before[i] + of_x / column.scale / column.scale_too;
    r[i] = r_before[i] - of_r / column.scale / column.scale_too;
  }
}
