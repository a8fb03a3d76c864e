// R = B - A X on a GPU. Each matrix is stored by columns: A(i, j) is a[j * a_pitch + i]. X is
// padded with zeros to a multiple of DEPTH.

#define ROWS 16  // of R, for a work-group
#define COLUMNS 8
#define PARTS 16  // work-items of a row; each has every PARTS-th block of DEPTH columns of A
#define DEPTH 8

__kernel __attribute__((reqd_work_group_size(ROWS * PARTS, 1, 1))) void residual(
    SOURCE(a), SOURCE(x), SOURCE(b), TARGET(r), int n, int nrhs) {
  __local real parts[PARTS][COLUMNS][ROWS];
  const int part = get_local_id(0) / ROWS, lane = get_local_id(0) % ROWS;
  const int row = get_group_id(0) * ROWS + lane;
  const int first = get_group_id(1) * COLUMNS;
  const int columns = min(COLUMNS, nrhs - first);
  a += min(row, n - 1);
  x += (size_t)first * x_pitch;
  real sums[COLUMNS];
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) sums[c] = 0;
  for (int k = part * DEPTH; k < n; k += PARTS * DEPTH) {
    real elements[DEPTH];
#pragma unroll
    for (int q = 0; q < DEPTH; ++q) elements[q] = a[(size_t)min(k + q, n - 1) * a_pitch];
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      if (c >= columns) continue;
      __global const real4* factors = (__global const real4*)(x + (size_t)c * x_pitch + k);
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
  const size_t c = first + part;
  r[c * r_pitch + row] = b[c * b_pitch + row] - sum;
}
