// LU of many matrices that are too large for registers, a work-group for each, in global memory and
// by blocks of NB columns, which are factored in local memory; full pivoting, whose every step
// needs all of the matrix, without blocks.
//
// Build option: PIVOT (dense/batch_pivots.clh).

#include "dense/batch_pivots.clh"
#include "gpu/reciprocal.clh"

#define ITEMS 256
#define NB 8
#define MOST_ROWS 512
#define PITCH (NB + 1)  // elements from row to row of a block
#define LANES 64        // work-items next to one another in a row
#define SEARCHERS 16    // that go through the candidates

#define NOWHERE (~0u)

typedef struct {
  real magnitudes[ITEMS], best[SEARCHERS];
  uint places[ITEMS], where[SEARCHERS];
#if PIVOT != FULL
  real block[MOST_ROWS * PITCH];
  int pivots[NB];
#endif
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

#if PIVOT == FULL

// A(k+1:n, k+1:n) -= L(k+1:n, k) U(k, k+1:n), and where the largest magnitude is then: column and
// row in 16 bits each; k = -1: of A as it is
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
    for (int i = k + 1 + me; i < n; i += ITEMS) a[i * n + k] *= scale * inverse;
    if (value == 0 && zero == 0) zero = k + 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (k + 1 < n) pivot = update_and_search(a, n, k, shared);
  }
  return zero;
}

#else

// Between the rows and columns from `first` on of the matrix and the block.
inline void load_block(const __global real* a, int n, int first, int width,
                       __local scratch_of* shared) {
  for (int e = get_local_id(0); e < (n - first) * NB; e += ITEMS) {
    const int i = e / NB, c = e % NB;
    shared->block[i * PITCH + c] = c < width ? a[(first + i) * n + first + c] : (real)0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}
inline void store_block(__global real* a, int n, int first, int width,
                        const __local scratch_of* shared) {
  for (int e = get_local_id(0); e < (n - first) * NB; e += ITEMS) {
    const int i = e / NB, c = e % NB;
    if (c < width) a[(first + i) * n + first + c] = shared->block[i * PITCH + c];
  }
}

// P W = L U of the block, `rows` x width; pivots: the rows of it that were interchanged. Returns
// the first column (1-based) whose pivot is zero, or 0.
inline int factor_block(int rows, int width, __local scratch_of* shared) {
  const int me = get_local_id(0);
  __local real* w = shared->block;
  int zero = 0;
  for (int c = 0; c < width; ++c) {
    int pivot = c;
    if (PIVOT == PARTIAL) {
      real best = -2;
      uint where = NOWHERE;
      for (int i = c + me; i < rows; i += ITEMS) {
        compare(magnitude_of(w[i * PITCH + c]), i, &best, &where);
      }
      pivot = choose(best, where, shared);
      if (me < NB && pivot != c) {
        const real x = w[c * PITCH + me];
        w[c * PITCH + me] = w[pivot * PITCH + me];
        w[pivot * PITCH + me] = x;
      }
    }
    if (me == 0) shared->pivots[c] = pivot;
    barrier(CLK_LOCAL_MEM_FENCE);
    const real value = w[c * PITCH + c];
    real scale, inverse;
    reciprocal(value, &scale, &inverse);
    if (value == 0 && zero == 0) zero = c + 1;
    for (int i = c + 1 + me; i < rows; i += ITEMS) {
      const real l = w[i * PITCH + c] * scale * inverse;
      w[i * PITCH + c] = l;
      for (int q = c + 1; q < width; ++q) {
        w[i * PITCH + q] = fma(-l, w[c * PITCH + q], w[i * PITCH + q]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return zero;
}

// The interchanges of the block in all other columns.
inline void interchange(__global real* a, int n, int first, int width,
                        const __local scratch_of* shared) {
  for (int j = get_local_id(0); j < n; j += ITEMS) {
    if (j >= first && j < first + width) continue;
    for (int c = 0; c < width; ++c) {
      const int k = first + c, other = first + shared->pivots[c];
      const real x = a[k * n + j];
      a[k * n + j] = a[other * n + j];
      a[other * n + j] = x;
    }
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
}

// U = inv(L11) A in the rows of a whole block and the columns after it, and A -= L U below; a
// column belongs to ITEMS / LANES work-items, each of which solves for all of U.
inline void update(__global real* a, int n, int first, const __local scratch_of* shared) {
  const int me = get_local_id(0), rows = n - first;
  const __local real* w = shared->block;
  for (int left = first + NB; left < n; left += LANES) {
    const int j = min(left + me % LANES, n - 1);
    const bool mine = left + me % LANES < n;
    real u[NB];
#pragma unroll
    for (int q = 0; q < NB; ++q) {
      u[q] = a[(first + q) * n + j];
#pragma unroll
      for (int p = 0; p < q; ++p) u[q] = fma(-w[q * PITCH + p], u[p], u[q]);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (me < LANES && mine) {
#pragma unroll
      for (int q = 0; q < NB; ++q) a[(first + q) * n + j] = u[q];
    }
    for (int i = NB + me / LANES; i < rows && mine; i += ITEMS / LANES) {
      real x = a[(first + i) * n + j];
#pragma unroll
      for (int q = 0; q < NB; ++q) x = fma(-w[i * PITCH + q], u[q], x);
      a[(first + i) * n + j] = x;
    }
  }
  barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
}

inline int factor(__global real* a, __global int* ipiv, __global int* jpiv, int n,
                  __local scratch_of* shared) {
  const int me = get_local_id(0);
  int zero = 0;
  for (int first = 0; first < n; first += NB) {
    const int width = min(NB, n - first);
    load_block(a, n, first, width, shared);
    const int found = factor_block(n - first, width, shared);
    if (zero == 0 && found > 0) zero = first + found;
    store_block(a, n, first, width, shared);
    if (PIVOT == PARTIAL) {
      if (me < width) ipiv[first + me] = first + shared->pivots[me];
      interchange(a, n, first, width, shared);
    }
    update(a, n, first, shared);
  }
  return zero;
}

#endif

// As gpu/batch_blocked.cl's and gpu/batch_full.cl's.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  __local scratch_of scratch;
  const size_t matrix = get_group_id(0);
  const int zero =
      factor(matrices + matrix * n * n, ipiv + matrix * n, jpiv + matrix * n, n, &scratch);
  if (get_local_id(0) == 0) info[matrix] = zero;
}
