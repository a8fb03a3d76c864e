// R = B - A X on a GPU, and the sizes of the rows of A. A is in planes of words, each column of
// which is followed by room for a whole block of ROWS; the other matrices are stored by columns:
// B(i, j) is b[j * b_pitch + i]. X is padded with zeros to a multiple of DEPTH.

#include "gpu/double_words.clh"

#define ROWS 32  // of R, for a work-group
#define COLUMNS 8
#define LANES (ROWS / 2)  // work-items side by side, with two rows each
#define PARTS 16          // each has every PARTS-th block of DEPTH columns of A
#define DEPTH 8

// to[q] = the pair of rows in column k + q of A; `upper` and `lower` are where column 0 has it.
inline void take_pairs(PLANES, int k, int n, double2* to) {
#pragma unroll
  for (int q = 0; q < DEPTH; ++q) {
    const size_t at = (size_t)min(k + q, n - 1) * pitch;
    const uint2 high = *(__global const uint2*)(upper + at);
    const uint2 low = *(__global const uint2*)(lower + at);
    to[q] = (double2)(of_words(high.x, low.x), of_words(high.y, low.y));
  }
}

// R(:, which) = (B - A X)(:, which); `which` are `count` columns.
__kernel __attribute__((reqd_work_group_size(LANES * PARTS, 1, 1))) void residual(
    PLANES, SOURCE(x), SOURCE(b), TARGET(r), __global const int* restrict which, int n, int count) {
  __local double2 parts[PARTS][COLUMNS][LANES];
  const int part = get_local_id(0) / LANES, lane = get_local_id(0) % LANES;
  const int row = get_group_id(0) * ROWS + 2 * lane;
  const int columns = min(COLUMNS, count - (int)get_group_id(1) * COLUMNS);
  which += get_group_id(1) * COLUMNS;
  size_t starts[COLUMNS];
  double2 sums[COLUMNS];
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) {
    starts[c] = (size_t)which[min(c, columns - 1)] * x_pitch;
    sums[c] = 0;
  }
  for (int k = part * DEPTH; k < n; k += PARTS * DEPTH) {
    double2 elements[DEPTH];
    take_pairs(upper + row, lower + row, pitch, k, n, elements);
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      if (c >= columns) continue;
      __global const double4* factors = (__global const double4*)(x + starts[c] + k);
#pragma unroll
      for (int q = 0; q < DEPTH; q += 4) {
        const double4 factor = factors[q / 4];
        sums[c] = fma(elements[q], (double2)factor.x, sums[c]);
        sums[c] = fma(elements[q + 1], (double2)factor.y, sums[c]);
        sums[c] = fma(elements[q + 2], (double2)factor.z, sums[c]);
        sums[c] = fma(elements[q + 3], (double2)factor.w, sums[c]);
      }
    }
  }
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) parts[part][c][lane] = sums[c];
  barrier(CLK_LOCAL_MEM_FENCE);
  // From here on each part handles one column: there are at least as many parts.
  if (part >= columns) return;
  double2 sum = 0;
  for (int p = 0; p < PARTS; ++p) sum += parts[p][part][lane];
  const size_t c = which[part];
  b += c * b_pitch + row;
  r += c * r_pitch + row;
  if (row < n) r[0] = b[0] - sum.x;
  if (row + 1 < n) r[1] = b[1] - sum.y;
}

// The larger magnitude; a NaN stays.
inline double2 larger(double2 size, double2 element) {
  const double2 magnitude = fabs(element);
  return size >= magnitude || size != size ? size : magnitude;
}

// sums(i) = sum_j |A(i, j)| and largest(i) = max_j |A(i, j)|
__kernel __attribute__((reqd_work_group_size(LANES * PARTS, 1, 1))) void measure_rows(
    PLANES, __global double* restrict sums, __global double* restrict largest, int n) {
  __local double2 sum_parts[PARTS][LANES], largest_parts[PARTS][LANES];
  const int part = get_local_id(0) / LANES, lane = get_local_id(0) % LANES;
  const int row = get_group_id(0) * ROWS + 2 * lane;
  double2 sum = 0, most = 0;
  for (int k = part * DEPTH; k < n; k += PARTS * DEPTH) {
    double2 elements[DEPTH];
    take_pairs(upper + row, lower + row, pitch, k, n, elements);
    for (int q = 0; q < min(DEPTH, n - k); ++q) {
      sum += fabs(elements[q]);
      most = larger(most, elements[q]);
    }
  }
  sum_parts[part][lane] = sum;
  largest_parts[part][lane] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (part > 0) return;
  for (int p = 1; p < PARTS; ++p) {
    sum += sum_parts[p][lane];
    most = larger(most, largest_parts[p][lane]);
  }
  if (row < n) sums[row] = sum.x, largest[row] = most.x;
  if (row + 1 < n) sums[row + 1] = sum.y, largest[row + 1] = most.y;
}
