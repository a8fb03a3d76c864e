// LU of many small matrices, for devices whose work-items are CPU threads; a work-group is one
// work-item. It takes VECTOR matrices at once, one in each element of its vectors: they are stored
// element by element, element (i, j) of all of them in vector i * n + j. So the operations on a
// matrix do not depend on the others.
//
// Build options: VECTOR (common/vector.clh); PIVOT, as below.

#include "common/vector.clh"
#include "dense/batch_pivots.clh"

#define NB 4  // columns that are eliminated before the others are brought up to date

// Rows (or columns) k and where[lane] of each matrix, `count` elements `step` vectors apart that
// begin at vectors k * stride and where[lane] * stride.
inline void interchange(__global vec* a, int k, ivec where, size_t stride, size_t step, int count) {
  __global real* elements = (__global real*)a;
  for (int lane = 0; lane < VECTOR; ++lane) {
    const size_t other = ((const index*)&where)[lane];
    if (other == k) continue;
    __global real* x = elements + k * stride * VECTOR + lane;
    __global real* y = elements + other * stride * VECTOR + lane;
    for (int j = 0; j < count; ++j) {
      const real element = x[j * step * VECTOR];
      x[j * step * VECTOR] = y[j * step * VECTOR];
      y[j * step * VECTOR] = element;
    }
  }
}

// where = the row from k on in which |A(:, k)| is largest, the first of several
inline ivec largest_of_column(const __global vec* a, int n, int k) {
  vec best = fabs(a[(size_t)k * n + k]);
  best = best >= 0 ? best : (vec)(-1);  // a NaN is never chosen
  ivec where = k;
  for (int i = k + 1; i < n; ++i) {
    const vec magnitude = fabs(a[(size_t)i * n + k]);
    const ivec better = magnitude > best;
    best = better ? magnitude : best;
    where = better ? (ivec)i : where;
  }
  return where;
}

// L(k+1:n, k) = A(k+1:n, k) / A(k, k), where that is not zero; the matrices in which it is the
// first that is get info = k + 1
inline void divide_column(__global vec* a, int n, int k, ivec* info) {
  const vec pivot = a[(size_t)k * n + k];
  const ivec zero = pivot == 0;
  *info = zero && *info == 0 ? (ivec)(k + 1) : *info;
  const vec divisor = zero ? (vec)1 : pivot;
  for (int i = k + 1; i < n; ++i) a[(size_t)i * n + k] /= divisor;
}

// A(k+1:n, k+1:end) -= L(k+1:n, k) U(k, k+1:end)
inline void update_columns(__global vec* a, int n, int k, int end) {
  const __global vec* u = a + (size_t)k * n;
  for (int i = k + 1; i < n; ++i) {
    __global vec* row = a + (size_t)i * n;
    const vec l = -row[k];
    for (int j = k + 1; j < end; ++j) row[j] = fma(l, u[j], row[j]);
  }
}

// The rows first : last of U right of their block: U(:, last:n) = inv(L11) A(first:last, last:n)
inline void solve_rows(__global vec* a, int n, int first, int last) {
  for (int i = first + 1; i < last; ++i) {
    __global vec* row = a + (size_t)i * n;
    for (int k = first; k < i; ++k) {
      const vec l = -row[k];
      const __global vec* u = a + (size_t)k * n;
      for (int j = last; j < n; ++j) row[j] = fma(l, u[j], row[j]);
    }
  }
}

// A(k+NB:n, k+NB:n) -= L(k+NB:n, k:k+NB) U(k:k+NB, k+NB:n), two rows at a time
inline void update_trailing(__global vec* a, int n, int k) {
  const __global vec* u = a + (size_t)k * n;
  for (int i = k + NB; i < n; i += 2) {
    __global vec* row = a + (size_t)i * n;
    __global vec* next = i + 1 < n ? row + n : row;  // the last one of an odd number twice
    vec l[NB], m[NB];
#pragma unroll
    for (int q = 0; q < NB; ++q) {
      l[q] = -row[k + q];
      m[q] = -next[k + q];
    }
    for (int j = k + NB; j < n; ++j) {
      vec x = row[j], y = next[j];
#pragma unroll
      for (int q = 0; q < NB; ++q) {
        const vec factor = u[(size_t)q * n + j];
        x = fma(l[q], factor, x);
        y = fma(m[q], factor, y);
      }
      row[j] = x;
      next[j] = y;
    }
  }
}

inline void store_places(ivec where, __global int* places, int n, int k) {
  for (int lane = 0; lane < VECTOR; ++lane) {
    places[(size_t)lane * n + k] = ((const index*)&where)[lane];
  }
}

#if PIVOT == FULL

// A(k+1:n, k+1:n) -= L(k+1:n, k) U(k, k+1:n), and (row, column) = where the largest magnitude is
// then, the first column of several, and the first row there; k = -1: of A as it is
inline void update_and_search(__global vec* a, int n, int k, ivec* row, ivec* column) {
  vec best = -1;
  *row = *column = k + 1;
  for (int j = k + 1; j < n; ++j) {
    const vec u = k < 0 ? (vec)0 : a[(size_t)k * n + j];
    for (int i = k + 1; i < n; ++i) {
      __global vec* x = a + (size_t)i * n + j;
      const vec updated = k < 0 ? *x : fma(-a[(size_t)i * n + k], u, *x);
      *x = updated;
      const vec magnitude = fabs(updated);
      const ivec better = magnitude > best;
      best = better ? magnitude : best;
      *row = better ? (ivec)i : *row;
      *column = better ? (ivec)j : *column;
    }
  }
}

inline ivec factor(__global vec* a, __global int* ipiv, __global int* jpiv, int n) {
  ivec info = 0, row, column;
  update_and_search(a, n, -1, &row, &column);
  for (int k = 0; k < n; ++k) {
    interchange(a, k, row, n, 1, n);
    interchange(a, k, column, 1, n, n);
    store_places(row, ipiv, n, k);
    store_places(column, jpiv, n, k);
    divide_column(a, n, k, &info);
    update_and_search(a, n, k, &row, &column);
  }
  return info;
}

#else

inline ivec factor(__global vec* a, __global int* ipiv, __global int* jpiv, int n) {
  ivec info = 0;
  for (int first = 0; first < n; first += NB) {
    const int last = min(first + NB, n);
    for (int k = first; k < last; ++k) {
      if (PIVOT == PARTIAL) {
        const ivec where = largest_of_column(a, n, k);
        store_places(where, ipiv, n, k);
        interchange(a, k, where, n, 1, n);
      }
      divide_column(a, n, k, &info);
      update_columns(a, n, k, last);
    }
    solve_rows(a, n, first, last);
    if (last < n) update_trailing(a, n, first);
  }
  return info;
}

#endif

// P A Q = L U of the matrices of a work-group: unit lower L below the diagonal, U on and above it.
// ipiv, jpiv: n of each matrix, 0-based: row (column) k was interchanged with that one. info: of
// each, the first pivot (1-based) that is exactly zero, 0 if there is none. All of them have room
// for whole groups, whatever `count` is.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void factor_batch(
    __global vec* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  const size_t group = get_group_id(0), first = group * VECTOR * n;
  const ivec found = factor(matrices + group * n * n, ipiv + first, jpiv + first, n);
  for (int lane = 0; lane < VECTOR; ++lane) {
    info[group * VECTOR + lane] = ((const index*)&found)[lane];
  }
}

inline ivec places_of(const __global int* places, int n, int k) {
  index where[VECTOR];
  for (int lane = 0; lane < VECTOR; ++lane) where[lane] = places[(size_t)lane * n + k];
  return *(const ivec*)where;
}

// X = Q inv(U) inv(L) P B in the place of B, n x columns, stored as the matrices are; of those from
// `begin` on, a multiple of VECTOR.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void solve_batch(
    const __global vec* matrices, const __global int* ipiv, const __global int* jpiv,
    __global vec* right_hand_sides, int begin, int n, int columns) {
  const size_t group = get_group_id(0), matrix = begin + group * VECTOR, first = matrix * n;
  const __global vec* a = matrices + matrix / VECTOR * n * n;
  __global vec* x = right_hand_sides + group * n * columns;
  for (int k = 0; PIVOT != NONE && k < n; ++k) {
    interchange(x, k, places_of(ipiv + first, n, k), columns, 1, columns);
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) {
      const vec l = -a[(size_t)i * n + k];
      for (int j = 0; j < columns; ++j) {
        x[(size_t)i * columns + j] = fma(l, x[(size_t)k * columns + j], x[(size_t)i * columns + j]);
      }
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) {
      const vec u = -a[(size_t)i * n + k];
      for (int j = 0; j < columns; ++j) {
        x[(size_t)i * columns + j] = fma(u, x[(size_t)k * columns + j], x[(size_t)i * columns + j]);
      }
    }
    const vec pivot = a[(size_t)i * n + i];
    for (int j = 0; j < columns; ++j) x[(size_t)i * columns + j] /= pivot;
  }
  for (int k = n - 1; PIVOT == FULL && k >= 0; --k) {
    interchange(x, k, places_of(jpiv + first, n, k), columns, 1, columns);
  }
}
