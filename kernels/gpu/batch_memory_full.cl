// LU of many matrices of order 129 and more with full pivoting, a work-group for each, in global
// memory: every step needs all of the matrix.

#include "gpu/reciprocal.clh"

#define ITEMS 256
#define LANES 64      // work-items next to one another in a row
#define SEARCHERS 16  // that go through the candidates

#define NOWHERE (~0u)

typedef struct {
  real magnitudes[ITEMS], best[SEARCHERS];
  uint places[ITEMS], where[SEARCHERS];
} scratch_of;

// The larger magnitude, of equal ones that whose place comes first. A NaN has the magnitude -1.
inline void compare(real magnitude, uint place, real* best, uint* where) {
  if (magnitude > *best || (magnitude == *best && place < *where)) {
    *best = magnitude;
    *where = place;
  }
}
inline real magnitude_of(real x) { return fabs(x) >= 0 ? fabs(x) : (real)-1; }

// The best place of all work-items' candidates, which begin with a magnitude of -2.
inline uint choose(real best, uint where, __local scratch_of* shared) {
  const int me = get_local_id(0);
  shared->magnitudes[me] = best;
  shared->places[me] = where;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me < SEARCHERS) {
    for (int i = me; i < ITEMS; i += SEARCHERS) {
      compare(shared->magnitudes[i], shared->places[i], &best, &where);
    }
    shared->best[me] = best;
    shared->where[me] = where;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < SEARCHERS; ++i) compare(shared->best[i], shared->where[i], &best, &where);
  return where;
}

// A(k+1:n, k+1:n) -= L(k+1:n, k) U(k, k+1:n), and where the largest magnitude is then: column and
// row in 16 bits each; k = -1: of A as it is.
inline uint update_and_search(__global real* a, int n, int k, __local scratch_of* shared) {
  const int me = get_local_id(0);
  real best = -2;
  uint where = NOWHERE;
  for (int j = k + 1 + me % LANES; j < n; j += LANES) {
    const real u = k < 0 ? (real)0 : a[k * n + j];
    for (int i = k + 1 + me / LANES; i < n; i += ITEMS / LANES) {
      real x = a[i * n + j];
      if (k >= 0) {
        x = fma(-a[i * n + k], u, x);
        a[i * n + j] = x;
      }
      compare(magnitude_of(x), (uint)j << 16 | (uint)i, &best, &where);
    }
  }
  return choose(best, where, shared);
}

inline int factor(__global real* a, __global int* ipiv, __global int* jpiv, int n,
                  __local scratch_of* shared) {
  const int me = get_local_id(0);
  int zero = 0;
  uint pivot = update_and_search(a, n, -1, shared);
  for (int k = 0; k < n; ++k) {
    const int row = pivot & 0xffff, column = pivot >> 16;
    if (me == 0) {
      ipiv[k] = row;
      jpiv[k] = column;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (int j = me; j < n && row != k; j += ITEMS) {
      const real x = a[k * n + j];
      a[k * n + j] = a[row * n + j];
      a[row * n + j] = x;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (int i = me; i < n && column != k; i += ITEMS) {
      const real x = a[i * n + k];
      a[i * n + k] = a[i * n + column];
      a[i * n + column] = x;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    const real value = a[k * n + k];
    real scale, inverse;
    reciprocal(value, &scale, &inverse);
    for (int i = k + 1 + me; i < n; i += ITEMS) a[i * n + k] = a[i * n + k] * scale * inverse;
    if (value == 0 && zero == 0) zero = k + 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (k + 1 < n) pivot = update_and_search(a, n, k, shared);
  }
  return zero;
}

// As gpu/batch_full.cl's.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  __local scratch_of scratch;
  const size_t matrix = get_group_id(0);
  const int zero =
      factor(matrices + matrix * n * n, ipiv + matrix * n, jpiv + matrix * n, n, &scratch);
  if (get_local_id(0) == 0) info[matrix] = zero;
}
