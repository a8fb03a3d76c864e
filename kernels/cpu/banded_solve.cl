// X = inv(U) inv(L) P X with the factors of cpu/banded_lu.cl, for devices whose work-items are CPU
// threads; a work-group is one work-item.
//
// Build options: those of cpu/tile.clh, and NB as there.

#include "cpu/tile.clh"
#include "cpu/unit_lower.clh"
#include "cpu/vector_sum.clh"

#define GROUP 4  // rows whose products are added up side by side

// y(0:rows) -= T(0:rows, 0:count) x(0:count), T by rows of ld elements, count a multiple of VECTOR;
// what is `ahead` of T is needed soon.
inline void subtract_sums(const __global real* t, int ld, long ahead, int rows,
                          const __global real* x, int count, __global real* y) {
  for (int i = 0; i < rows; i += GROUP) {
    const __global real* row[GROUP];
    vec sum[GROUP];
#pragma unroll
    for (int q = 0; q < GROUP; ++q) {
      row[q] = t + (size_t)min(i + q, rows - 1) * ld;
      sum[q] = 0;
    }
    for (int k = 0; k < count; k += VECTOR) {
      const vec factors = VECTOR_LOAD(x + k);
#pragma unroll
      for (int q = 0; q < GROUP; ++q) {
        FETCH_AHEAD(row[q] + k + ahead);
        sum[q] = fma(*(const __global vec*)(row[q] + k), factors, sum[q]);
      }
    }
    for (int q = 0; q < min(GROUP, rows - i); ++q) y[i + q] -= sum_of(sum[q]);
  }
}

// A column of X, n elements and then zeros, for each work-group. last: of each panel, the last
// column that it changed.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void solve_columns(
    const __global real* a, int ld, int n, int lower, const __global int* ipiv,
    const __global int* last, __global real* x, int stride) {
  x += (size_t)get_group_id(0) * stride;
  for (int k = 0; k < n; k += NB) {
    const int steps = min(NB, n - k);
    for (int j = k; j < k + steps; ++j) {
      const int p = ipiv[j];
      const real element = x[j];
      x[j] = x[p];
      x[p] = element;
    }
    for (int j = k; j < k + steps; ++j) {
      for (int i = j + 1; i < k + steps; ++i) x[i] = fma(-a[(size_t)i * ld + j], x[j], x[i]);
    }
    subtract_sums(a + (size_t)(k + NB) * ld + k, ld, NB * (ld + 1L), min(lower, n - k - NB), x + k,
                  NB, x + k + NB);
  }
  for (int k = (n - 1) / STRIP * STRIP; k >= 0; k -= STRIP) {
    const int steps = min(STRIP, n - k), right = k + STRIP;
    const int count = (last[k / NB] + 1 - right + VECTOR - 1) / VECTOR * VECTOR;
    subtract_sums(
        a + (size_t)k * ld + right, ld, -STRIP * (ld + 1L), steps, x + right, count, x + k);
    for (int j = k + steps - 1; j >= k; --j) {
      x[j] /= a[(size_t)j * ld + j];
      for (int i = k; i < j; ++i) x[i] = fma(-a[(size_t)i * ld + j], x[j], x[i]);
    }
  }
}

// X(0:steps, :) = inv(U) X(0:steps, :), U the upper triangle at a
inline void solve_upper(const __global real* a, int ld, __global real* x, int pitch, int strips,
                        int steps) {
  for (int i = (steps - 1) / ROWS * ROWS; i >= 0; i -= ROWS) {
    const int rows = min(ROWS, steps - i), right = i + rows;
    __global real* top = x + (size_t)i * pitch;
    subtract_products(rows, strips, a + (size_t)i * ld + right, ld, x + (size_t)right * pitch,
                      pitch, STRIP, top, pitch, top, pitch, steps - right);
    for (int r = rows - 1; r >= 0; --r) {
      const __global real* row = a + (size_t)(i + r) * ld + i;
      for (int c = 0; c < 2 * strips; ++c) {
        __global vec* solved = (__global vec*)(top + (size_t)r * pitch) + c;
        vec sum = *solved;
        for (int q = r + 1; q < rows; ++q) {
          sum = fma((vec)(-row[q]), ((const __global vec*)(top + (size_t)q * pitch))[c], sum);
        }
        *solved = sum / (vec)row[r];
      }
    }
  }
}

// X by rows of `pitch` elements, whole strips; a work-group takes `columns` of them, whole strips.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void solve_strips(
    const __global real* a, int ld, int n, int lower, const __global int* ipiv,
    const __global int* last, __global real* x, int pitch, int columns) {
  const int strips = min(columns, pitch - (int)get_group_id(0) * columns) / STRIP;
  x += get_group_id(0) * columns;
  for (int k = 0; k < n; k += NB) {
    const int steps = min(NB, n - k);
    const __global real* l = a + (size_t)k * ld + k;
    __global real* top = x + (size_t)k * pitch;
    for (int j = k; j < k + steps; ++j) {
      const int p = ipiv[j];
      if (p != j) exchange(x + (size_t)j * pitch, x + (size_t)p * pitch, 2 * strips);
    }
    for (int s = 0; s < strips; ++s) {
      solve_strip(l, ld, top + s * STRIP, pitch, top + s * STRIP, pitch, steps);
    }
    __global real* rest = top + (size_t)NB * pitch;
    subtract_products(min(lower, n - k - NB), strips, l + (size_t)NB * ld, ld, top, pitch, STRIP,
                      rest, pitch, rest, pitch, NB);
  }
  for (int k = (n - 1) / NB * NB; k >= 0; k -= NB) {
    const int steps = min(NB, n - k), right = k + NB;
    __global real* top = x + (size_t)k * pitch;
    subtract_products(
        steps, strips, a + (size_t)k * ld + right, ld, x + (size_t)right * pitch, pitch, STRIP, top,
        pitch, top, pitch, max(min(last[k / NB] + 1, n) - right, 0));
    solve_upper(a + (size_t)k * ld + k, ld, top, pitch, strips, steps);
  }
}
