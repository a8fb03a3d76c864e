// Banded LU with partial pivoting, column by column, for bands of a few diagonals and devices whose
// work-items are CPU threads; a work-group is one work-item. The rows that a step changes stay in
// the first-level cache.
//
// A(i, j) is a[i * ld + j]; each row has room for a vector after its last diagonal.
//
// Build options: VECTOR (common/vector.clh).

#include "common/vector.clh"
#include "cpu/vector_sum.clh"

#define NEAR 4  // elements that are taken one by one

// row -= l pivots_row, `vectors` vectors
inline void subtract_row(__global real* row, const __global real* pivots_row, real l, int vectors) {
  for (int v = 0; v < vectors; ++v) {
    const vec u = VECTOR_LOAD(pivots_row + v * VECTOR);
    VECTOR_STORE(fma((vec)(-l), u, VECTOR_LOAD(row + v * VECTOR)), row + v * VECTOR);
  }
}

// P A = L U as LAPACK's gbtf2: earlier columns of L are not interchanged. ipiv from 0.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void factor_narrow(
    __global real* a, int ld, int n, int lower, int upper, __global int* ipiv, __global int* info) {
  int last = 0, first_zero = 0;
  for (int j = 0; j < n; ++j) {
    const int rows = min(lower, n - 1 - j);
    __global real* top = a + (size_t)j * ld + j;
    int pivot_row = 0;
    real best = fabs(top[0]);
    for (int i = 1; i <= rows; ++i) {
      const real magnitude = fabs(top[(size_t)i * ld]);
      // A NaN on the diagonal gives way to a number.
      const bool better = magnitude > best || (best != best && magnitude == magnitude);
      pivot_row = better ? i : pivot_row;
      best = better ? magnitude : best;
    }
    ipiv[j] = j + pivot_row;
    if (top[(size_t)pivot_row * ld] == 0) {
      first_zero = first_zero == 0 ? j + 1 : first_zero;
      continue;
    }
    last = max(last, min(j + pivot_row + upper, n - 1));
    const int vectors = (last - j + VECTOR - 1) / VECTOR;
    if (pivot_row > 0) {
      __global real* other = top + (size_t)pivot_row * ld;
      const real element = top[0];
      top[0] = other[0];
      other[0] = element;
      for (int v = 0; v < vectors; ++v) {
        const vec old = VECTOR_LOAD(top + 1 + v * VECTOR);
        VECTOR_STORE(VECTOR_LOAD(other + 1 + v * VECTOR), top + 1 + v * VECTOR);
        VECTOR_STORE(old, other + 1 + v * VECTOR);
      }
    }
    const real pivot = top[0];
    for (int i = 1; i <= rows; ++i) {
      __global real* row = top + (size_t)i * ld;
      row[0] /= pivot;
      subtract_row(row + 1, top + 1, row[0], vectors);
    }
  }
  *info = first_zero;
}

// A column of X, of `stride` elements, for each work-group.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void solve_narrow(
    const __global real* a, int ld, int n, int lower, int upper, const __global int* ipiv,
    __global real* x, int stride) {
  x += (size_t)get_group_id(0) * stride;
  for (int j = 0; j < n; ++j) {
    const int p = ipiv[j];
    const real element = x[p];
    x[p] = x[j];
    x[j] = element;
    const int rows = min(lower, n - 1 - j);
    for (int i = 1; i <= rows; ++i) {
      x[j + i] = fma(-a[(size_t)(j + i) * ld + j], element, x[j + i]);
    }
  }
  for (int j = n - 1; j >= 0; --j) {
    const __global real* row = a + (size_t)j * ld + j;
    real sum = x[j];
    // What has just been solved for comes last.
    const int count = min(lower + upper, n - 1 - j);
    const int near = min(count, NEAR + max(count - NEAR, 0) % VECTOR);
    vec far = 0;
    for (int c = near + 1; c <= count; c += VECTOR) {
      far = fma(VECTOR_LOAD(row + c), VECTOR_LOAD(x + j + c), far);
    }
    sum -= sum_of(far);
    for (int c = near; c > 0; --c) sum = fma(-row[c], x[j + c], sum);
    x[j] = sum / row[0];
  }
}
