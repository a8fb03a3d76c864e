// A X = B for many small matrices by their factors, a work-group for each, by blocks of NB rows.
//
// Build option: PIVOT (dense/batch_pivots.clh).

#include "dense/batch_pivots.clh"

#define ITEMS 64
#define NB 8

// The interchanges of rows of X, in this order or back.
inline void interchange(__global real* x, const __global int* places, int n, int columns,
                        bool back) {
  for (int j = get_local_id(0); j < columns; j += ITEMS) {
    for (int step = 0; step < n; ++step) {
      const int k = back ? n - 1 - step : step, other = places[k];
      if (other == k) continue;
      const real element = x[(size_t)k * columns + j];
      x[(size_t)k * columns + j] = x[(size_t)other * columns + j];
      x[(size_t)other * columns + j] = element;
    }
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
}

// X(first:last, :) = inv(T11) X(first:last, :), T11 that block of the diagonal of L or U
inline void solve_block(const __global real* a, __global real* x, int n, int columns, int first,
                        int last, bool upper) {
  for (int j = get_local_id(0); j < columns; j += ITEMS) {
    for (int step = 0; step < last - first; ++step) {
      const int i = upper ? last - 1 - step : first + step;
      const int begin = upper ? i + 1 : first, end = upper ? last : i;
      real element = x[(size_t)i * columns + j];
      for (int k = begin; k < end; ++k) {
        element = fma(-a[i * n + k], x[(size_t)k * columns + j], element);
      }
      x[(size_t)i * columns + j] = upper ? element / a[i * n + i] : element;
    }
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
}

// X(top:end, :) -= T(top:end, first:last) X(first:last, :)
inline void subtract(const __global real* a, __global real* x, int n, int columns, int top, int end,
                     int first, int last) {
  const size_t elements = (size_t)max(end - top, 0) * columns;
  for (size_t e = get_local_id(0); e < elements; e += ITEMS) {
    const int i = top + (int)(e / columns);
    const size_t j = e % columns;
    real element = x[(size_t)i * columns + j];
    for (int k = first; k < last; ++k) {
      element = fma(-a[i * n + k], x[(size_t)k * columns + j], element);
    }
    x[(size_t)i * columns + j] = element;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
}

// X = Q inv(U) inv(L) P B in the place of B, n x columns, by rows; of the matrices from `begin` on.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void solve_batch(
    const __global real* matrices, const __global int* ipiv, const __global int* jpiv,
    __global real* right_hand_sides, int begin, int n, int columns) {
  const size_t group = get_group_id(0), matrix = begin + group;
  const __global real* a = matrices + matrix * n * n;
  __global real* x = right_hand_sides + group * n * columns;
  if (PIVOT != NONE) interchange(x, ipiv + matrix * n, n, columns, false);
  for (int first = 0; first < n; first += NB) {
    const int last = min(first + NB, n);
    solve_block(a, x, n, columns, first, last, false);
    subtract(a, x, n, columns, last, n, first, last);
  }
  for (int first = (n - 1) / NB * NB; first >= 0; first -= NB) {
    const int last = min(first + NB, n);
    solve_block(a, x, n, columns, first, last, true);
    subtract(a, x, n, columns, 0, first, first, last);
  }
  if (PIVOT == FULL) interchange(x, jpiv + matrix * n, n, columns, true);
}
