// R = B - A X for devices whose work-items are CPU threads; a work-group is one work-item. Each
// matrix is stored by columns: A(i, j) is a[j * a_pitch + i]. Each column is followed by room for a
// whole vector, and X is padded with zeros to a multiple of DEPTH. And the sizes of the rows of A.
//
// Build options: those of cpu/tile.clh.

#include "cpu/tile.clh"

#define DEPTH 8  // columns of A at a time: as many streams from memory

// sum(0:vectors) += A(:, k:k+DEPTH) x(k:k+DEPTH); where A has no such column, x is zero.
inline void add_products(const __global real* a, int pitch, int n, int k, const __global real* x,
                         __global vec* sum, int vectors) {
  const __global vec* columns[DEPTH];
  vec factors[DEPTH];
#pragma unroll
  for (int q = 0; q < DEPTH; ++q) {
    columns[q] = (const __global vec*)(a + (size_t)min(k + q, n - 1) * pitch);
    factors[q] = (vec)x[k + q];
  }
  for (int v = 0; v < vectors; ++v) {
    vec products = 0;
#pragma unroll
    for (int q = 0; q < DEPTH; ++q) products = fma(columns[q][v], factors[q], products);
    sum[v] += products;
  }
}

// R(first:first+rows, which) = (B - A X)(first:first+rows, which), `rows` a multiple of VECTOR, for
// each work-group; `which` are `count` columns.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void residual(
    const __global real* a, int a_pitch, const __global real* x, int x_pitch,
    const __global real* b, int b_pitch, __global real* r, int r_pitch, const __global int* which,
    int n, int count, int rows) {
  const int first = get_group_id(0) * rows;
  const int vectors = (min(rows, n - first) + VECTOR - 1) / VECTOR;
  for (int c = 0; c < count; ++c) {
    __global vec* sum = (__global vec*)(r + (size_t)which[c] * r_pitch + first);
    for (int v = 0; v < vectors; ++v) sum[v] = 0;
  }
  for (int k = 0; k < n; k += DEPTH) {
    for (int c = 0; c < count; ++c) {
      add_products(a + first, a_pitch, n, k, x + (size_t)which[c] * x_pitch,
                   (__global vec*)(r + (size_t)which[c] * r_pitch + first), vectors);
    }
  }
  for (int c = 0; c < count; ++c) {
    const __global vec* right = (const __global vec*)(b + (size_t)which[c] * b_pitch + first);
    __global vec* sum = (__global vec*)(r + (size_t)which[c] * r_pitch + first);
    for (int v = 0; v < vectors; ++v) sum[v] = right[v] - sum[v];
  }
}

// The larger magnitude; a NaN stays.
inline vec larger(vec size, vec element) {
  const vec magnitude = fabs(element);
  return size >= magnitude || size != size ? size : magnitude;
}

// sums(i) = sum_j |A(i, j)| and largest(i) = max_j |A(i, j)| for rows first : first + rows, `rows`
// a multiple of VECTOR, for each work-group; both are followed by room for a whole vector.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void measure_rows(
    const __global real* a, int a_pitch, __global real* sums, __global real* largest, int n,
    int rows) {
  const int first = get_group_id(0) * rows;
  const int vectors = (min(rows, n - first) + VECTOR - 1) / VECTOR;
  __global vec* sum = (__global vec*)(sums + first);
  __global vec* size = (__global vec*)(largest + first);
  for (int v = 0; v < vectors; ++v) sum[v] = size[v] = 0;
  for (int k = 0; k < n; k += DEPTH) {
    const __global vec* columns[DEPTH];
    for (int q = 0; q < DEPTH; ++q) {
      columns[q] = (const __global vec*)(a + (size_t)min(k + q, n - 1) * a_pitch + first);
    }
    const int depth = min(DEPTH, n - k);
    for (int v = 0; v < vectors; ++v) {
      vec total = 0, most = size[v];
#pragma unroll
      for (int q = 0; q < DEPTH; ++q) {
        const vec element = columns[q][v];
        total += q < depth ? fabs(element) : 0;
        most = larger(most, element);
      }
      sum[v] += total;
      size[v] = most;
    }
  }
}
