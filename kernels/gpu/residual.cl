// R = B - A X on a GPU, and the sizes of the rows of A. Each matrix is stored by columns: A(i, j)
// is a[j * a_pitch + i]. X is padded with zeros to a multiple of DEPTH.

#define ROWS 16  // of R, for a work-group
#define COLUMNS 8
#define PARTS 16  // work-items of a row; each has every PARTS-th block of DEPTH columns of A
#define DEPTH 16

// R(:, which) = (B - A X)(:, which); `which` are `count` columns.
__kernel __attribute__((reqd_work_group_size(ROWS * PARTS, 1, 1))) void residual(
    SOURCE(a), SOURCE(x), SOURCE(b), TARGET(r), __global const int* restrict which, int n,
    int count) {
  __local real parts[PARTS][COLUMNS][ROWS];
  const int part = get_local_id(0) / ROWS, lane = get_local_id(0) % ROWS;
  const int row = get_group_id(0) * ROWS + lane;
  const int columns = min(COLUMNS, count - (int)get_group_id(1) * COLUMNS);
  a += min(row, n - 1);
  which += get_group_id(1) * COLUMNS;
  size_t starts[COLUMNS];
  real sums[COLUMNS];
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) {
    starts[c] = (size_t)which[min(c, columns - 1)] * x_pitch;
    sums[c] = 0;
  }
  for (int k = part * DEPTH; k < n; k += PARTS * DEPTH) {
    real elements[DEPTH];
#pragma unroll
    for (int q = 0; q < DEPTH; ++q) elements[q] = a[(size_t)min(k + q, n - 1) * a_pitch];
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      if (c >= columns) continue;
      __global const real4* factors = (__global const real4*)(x + starts[c] + k);
#pragma unroll
      for (int q = 0; q < DEPTH; q += 4) {
        const real4 factor = factors[q / 4];
        sums[c] = fma(elements[q], factor.x, sums[c]);
        sums[c] = fma(elements[q + 1], factor.y, sums[c]);
        sums[c] = fma(elements[q + 2], factor.z, sums[c]);
        sums[c] = fma(elements[q + 3], factor.w, sums[c]);
      }
    }
  }
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) parts[part][c][lane] = sums[c];
  barrier(CLK_LOCAL_MEM_FENCE);
  // From here on each part handles one column: there are at least as many parts.
  if (part >= columns || row >= n) return;
  real sum = 0;
  for (int p = 0; p < PARTS; ++p) sum += parts[p][part][lane];
  const size_t c = which[part];
  r[c * r_pitch + row] = b[c * b_pitch + row] - sum;
}

// The larger magnitude; a NaN stays.
inline real larger(real size, real element) {
  const real magnitude = fabs(element);
  return size >= magnitude || size != size ? size : magnitude;
}

// sums(i) = sum_j |A(i, j)| and largest(i) = max_j |A(i, j)|
__kernel __attribute__((reqd_work_group_size(ROWS * PARTS, 1, 1))) void measure_rows(
    SOURCE(a), __global real* restrict sums, __global real* restrict largest, int n) {
  __local real sum_parts[PARTS][ROWS], largest_parts[PARTS][ROWS];
  const int part = get_local_id(0) / ROWS, lane = get_local_id(0) % ROWS;
  const int row = get_group_id(0) * ROWS + lane;
  real sum = 0, most = 0;
  a += min(row, n - 1);
  for (int k = part; k < n; k += PARTS) {
    const real element = a[(size_t)k * a_pitch];
    sum += fabs(element);
    most = larger(most, element);
  }
  sum_parts[part][lane] = sum;
  largest_parts[part][lane] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (part > 0 || row >= n) return;
  for (int p = 1; p < PARTS; ++p) {
    sum += sum_parts[p][lane];
    most = larger(most, largest_parts[p][lane]);
  }
  sums[row] = sum;
  largest[row] = most;
}
