// What the solution q of a cell's system means: the mean velocity of its bubbles, and how well the
// system is solved.

#define GROUP 64

#include "common/sum.clh"

// r = b - A q; `matrix`: the columns of A, n each, then b. CHUNK: rows that a work-item takes, so
// that it reads whole cache lines.
__kernel __attribute__((reqd_work_group_size(GROUP_X, 1, 1))) void bubble_residual(
    __global const real* restrict matrix, __global const real* restrict q,
    __global real* restrict residual, int n) {
  const int first = get_global_id(0) * CHUNK;
  if (first >= n) return;
  const int count = min(CHUNK, n - first);
  real sum[CHUNK];
  for (int c = 0; c < count; ++c) sum[c] = matrix[(size_t)n * n + first + c];
  for (int j = 0; j < n; ++j) {
    __global const real* restrict column = matrix + (size_t)j * n + first;
    const real factor = q[j];
    if (count == CHUNK) {
#pragma unroll
      for (int c = 0; c < CHUNK; ++c) sum[c] -= column[c] * factor;
    } else {
      for (int c = 0; c < count; ++c) sum[c] -= column[c] * factor;
    }
  }
  for (int c = 0; c < count; ++c) residual[first + c] = sum[c];
}

// (u, v)(cell) = B q - (0, W), B q = 2 / (m k) sum of q normal; ||r|| and ||b|| of the cell, and
// whether ||r|| <= tolerance ||b|| fails (0: no tolerance, but r is finite), as trouble(0) =
// cell + 1. One work-group.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void bubble_velocity(
    __global const real* restrict q, __global const real* restrict normals,
    __global const real* restrict b, __global const real* restrict residual, TARGET(u), TARGET(v),
    TARGET(r_norm), TARGET(b_norm), __global int* restrict trouble, int n, int k, int cell,
    int columns, real rise_speed, real tolerance) {
  __local real scratch[GROUP];
  real x = 0, y = 0, rr = 0, bb = 0;
  for (int i = get_local_id(0); i < n; i += GROUP) {
    x += q[i] * normals[2 * (i % k)];
    y += q[i] * normals[2 * (i % k) + 1];
    rr += residual[i] * residual[i];
    bb += b[i] * b[i];
  }
  x = sum_of_all(x, scratch);
  y = sum_of_all(y, scratch);
  rr = sqrt(sum_of_all(rr, scratch));
  bb = sqrt(sum_of_all(bb, scratch));
  if (get_local_id(0) > 0) return;
  const int row = cell / columns, column = cell % columns;
  STORE_PACK(u, row, column, 2 * x / n);
  STORE_PACK(v, row, column, 2 * y / n - rise_speed);
  STORE_PACK(r_norm, row, column, rr);
  STORE_PACK(b_norm, row, column, bb);
  const bool solved = tolerance > 0 ? rr <= tolerance * bb : isfinite(rr);
  if (!solved) trouble[0] = cell + 1;
}
