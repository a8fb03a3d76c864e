// LU of many small matrices, for devices whose work-items are CPU threads; a work-group is one
// work-item. It takes VECTOR matrices at once, one in each element of its vectors: they are stored
// element by element, element (i, j) of all of them in vector i * PITCH(n) + j. So the operations
// on a matrix do not depend on the others.
//
// Build options: VECTOR (common/vector.clh); PIVOT, as below.

#include "common/vector.clh"
#include "dense/batch_pivots.clh"

#define PITCH(n) ((n) | 1)  // vectors from row to row: odd, so that columns use all of a cache
#define NB 8                // columns that are eliminated before others are brought up to date
#define MOST_OUTER 64  // those of a whole panel, many so that large matrices are read less often
// A tile whose sums are in registers: 16 of 32, or 8 of 16.
#define TILE_ROWS 4
#if (defined(LUGPU_DOUBLE) && VECTOR == 8) || VECTOR == 16
#define TILE_COLUMNS 4
#else
#define TILE_COLUMNS 2
#endif

// Rows (or columns) k and where[lane] of each matrix, `count` elements `step` vectors apart that
// begin at vectors k * stride and where[lane] * stride.
inline void interchange(__global vec* a, int k, const index* where, size_t stride, size_t step,
                        int count) {
  __global real* elements = (__global real*)a;
  size_t other[VECTOR];
#pragma unroll
  for (int lane = 0; lane < VECTOR; ++lane) {
    other[lane] = (size_t)where[lane] * stride * VECTOR + lane;
  }
  for (int j = 0; j < count; ++j) {
    __global vec* top = a + k * stride + j * step;
    __global real* line = elements + j * step * VECTOR;
    const vec leaving = *top;
    vec arriving;
#pragma unroll
    for (int lane = 0; lane < VECTOR; ++lane) ((real*)&arriving)[lane] = line[other[lane]];
#pragma unroll
    for (int lane = 0; lane < VECTOR; ++lane) line[other[lane]] = ((const real*)&leaving)[lane];
    *top = arriving;
  }
}

// where = the row from k on in which |A(:, k)| is largest, the first of several
inline ivec largest_of_column(const __global vec* a, int n, int k) {
  vec best = fabs(a[(size_t)k * PITCH(n) + k]);
  best = best >= 0 ? best : (vec)(-1);  // a NaN is never chosen
  ivec where = k;
  for (int i = k + 1; i < n; ++i) {
    const vec magnitude = fabs(a[(size_t)i * PITCH(n) + k]);
    const ivec better = magnitude > best;
    best = better ? magnitude : best;
    where = better ? (ivec)i : where;
  }
  return where;
}

// L(k+1:n, k) = A(k+1:n, k) / A(k, k), where that is not zero; the matrices in which it is the
// first that is get info = k + 1
inline void divide_column(__global vec* a, int n, int k, ivec* info) {
  const vec pivot = a[(size_t)k * PITCH(n) + k];
  const ivec zero = pivot == 0;
  *info = zero && *info == 0 ? (ivec)(k + 1) : *info;
  const vec divisor = zero ? (vec)1 : pivot;
  for (int i = k + 1; i < n; ++i) a[(size_t)i * PITCH(n) + k] /= divisor;
}

// A(k+1:n, k+1:end) -= L(k+1:n, k) U(k, k+1:end)
inline void update_columns(__global vec* a, int n, int k, int end) {
  const __global vec* u = a + (size_t)k * PITCH(n);
  for (int i = k + 1; i < n; ++i) {
    __global vec* row = a + (size_t)i * PITCH(n);
    const vec l = -row[k];
    for (int j = k + 1; j < end; ++j) row[j] = fma(l, u[j], row[j]);
  }
}

// U(first:first+NB, begin:end) = inv(L11) A(first:first+NB, begin:end), fewer rows up to `last`
inline void solve_rows(__global vec* a, int n, int first, int last, int begin, int end) {
  for (int j = begin; j < end; ++j) {
    vec x[NB];
    __global vec* top = a + (size_t)first * PITCH(n);
#pragma unroll
    for (int q = 0; q < NB; ++q) {
      const __global vec* row = top + q * PITCH(n);
      if (first + q < last) {
        x[q] = row[j];
#pragma unroll
        for (int p = 0; p < q; ++p) x[q] = fma(-row[first + p], x[p], x[q]);
        top[q * PITCH(n) + j] = x[q];
      }
    }
  }
}

// C -= A(i:i+TILE_ROWS, k:k+depth) A(k:k+depth, j:j+TILE_COLUMNS), C = A(i:i+TILE_ROWS,
// j:j+TILE_COLUMNS)
inline void update_tile(__global vec* a, int n, int i, int j, int k, int depth) {
  vec c[TILE_ROWS][TILE_COLUMNS];
  __global vec* target = a + (size_t)i * PITCH(n) + j;
  const __global vec* left = a + (size_t)i * PITCH(n) + k;
  const __global vec* right = a + (size_t)k * PITCH(n) + j;
#pragma unroll
  for (int r = 0; r < TILE_ROWS; ++r) {
#pragma unroll
    for (int s = 0; s < TILE_COLUMNS; ++s) c[r][s] = target[r * PITCH(n) + s];
  }
  for (int q = 0; q < depth; ++q) {
#pragma unroll
    for (int r = 0; r < TILE_ROWS; ++r) {
      const vec l = -left[r * PITCH(n) + q];
#pragma unroll
      for (int s = 0; s < TILE_COLUMNS; ++s) c[r][s] = fma(l, right[s], c[r][s]);
    }
    right += PITCH(n);
  }
#pragma unroll
  for (int r = 0; r < TILE_ROWS; ++r) {
#pragma unroll
    for (int s = 0; s < TILE_COLUMNS; ++s) target[r * PITCH(n) + s] = c[r][s];
  }
}

// The same for one element.
inline void update_element(__global vec* a, int n, int i, int j, int k, int depth) {
  vec c = a[(size_t)i * PITCH(n) + j];
  for (int q = k; q < k + depth; ++q) {
    c = fma(-a[(size_t)i * PITCH(n) + q], a[(size_t)q * PITCH(n) + j], c);
  }
  a[(size_t)i * PITCH(n) + j] = c;
}

// The rows top:bottom and columns left:right of A -= A(top:bottom, k:k+depth) A(k:k+depth,
// left:right)
inline void update(__global vec* a, int n, int top, int bottom, int left, int right, int k,
                   int depth) {
  for (int i = top; i < bottom; i += TILE_ROWS) {
    int j = left;
    if (i + TILE_ROWS <= bottom) {
      for (; j + TILE_COLUMNS <= right; j += TILE_COLUMNS) update_tile(a, n, i, j, k, depth);
    }
    for (int row = i; row < min(i + TILE_ROWS, bottom); ++row) {
      for (int column = j; column < right; ++column) update_element(a, n, row, column, k, depth);
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
    const vec u = k < 0 ? (vec)0 : a[(size_t)k * PITCH(n) + j];
    for (int i = k + 1; i < n; ++i) {
      __global vec* x = a + (size_t)i * PITCH(n) + j;
      const vec updated = k < 0 ? *x : fma(-a[(size_t)i * PITCH(n) + k], u, *x);
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
    interchange(a, k, (const index*)&row, PITCH(n), 1, n);
    interchange(a, k, (const index*)&column, 1, PITCH(n), n);
    store_places(row, ipiv, n, k);
    store_places(column, jpiv, n, k);
    divide_column(a, n, k, &info);
    update_and_search(a, n, k, &row, &column);
  }
  return info;
}

#else

// The interchanges of steps first : last in the columns begin : end.
inline void interchange_columns(__global vec* a, int n, const index* places, int first, int last,
                                int begin, int end) {
  for (int k = first; k < last; ++k) {
    interchange(a + begin, k, places + (k - first) * VECTOR, PITCH(n), 1, end - begin);
  }
}

// P A = L U of the columns first : last, which are up to date; the other columns are not touched.
// `places` get VECTOR rows for each step.
inline void factor_columns(__global vec* a, __global int* ipiv, int n, int first, int last,
                           index* places, ivec* info) {
  for (int k = first; k < last; ++k) {
    if (PIVOT == PARTIAL) {
      const ivec where = largest_of_column(a, n, k);
      store_places(where, ipiv, n, k);
      *(ivec*)(places + (k - first) * VECTOR) = where;
      interchange(a + first, k, places + (k - first) * VECTOR, PITCH(n), 1, last - first);
    }
    divide_column(a, n, k, info);
    update_columns(a, n, k, last);
  }
}

inline ivec factor(__global vec* a, __global int* ipiv, __global int* jpiv, int n) {
  ivec info = 0, rows[MOST_OUTER];
  index* places = (index*)rows;
  const int outer = n < 256 ? 2 * NB : MOST_OUTER;
  for (int left = 0; left < n; left += outer) {
    const int right = min(left + outer, n);
    for (int first = left; first < right; first += NB) {
      const int last = min(first + NB, right);
      index* own = places + (first - left) * VECTOR;
      factor_columns(a, ipiv, n, first, last, own, &info);
      if (PIVOT == PARTIAL) {
        interchange_columns(a, n, own, first, last, left, first);
        interchange_columns(a, n, own, first, last, last, right);
      }
      solve_rows(a, n, first, last, last, right);
      update(a, n, last, n, last, right, first, last - first);
    }
    if (PIVOT == PARTIAL) {
      interchange_columns(a, n, places, left, right, 0, left);
      interchange_columns(a, n, places, left, right, right, n);
    }
    for (int first = left; first < right; first += NB) {
      const int last = min(first + NB, right);
      solve_rows(a, n, first, last, right, n);
      update(a, n, last, right, right, n, first, last - first);
    }
    update(a, n, right, n, right, n, left, right - left);
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
  const ivec found = factor(matrices + group * n * PITCH(n), ipiv + first, jpiv + first, n);
  for (int lane = 0; lane < VECTOR; ++lane) {
    info[group * VECTOR + lane] = ((const index*)&found)[lane];
  }
}

// Interchange k of the rows of X.
inline void interchange_rows(__global vec* x, const __global int* places, int n, int k,
                             int columns) {
  index where[VECTOR];
  for (int lane = 0; lane < VECTOR; ++lane) where[lane] = places[(size_t)lane * n + k];
  interchange(x, k, where, columns, 1, columns);
}

// X = Q inv(U) inv(L) P B in the place of B, n x columns, stored as the matrices are; of those from
// `begin` on, a multiple of VECTOR.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void solve_batch(
    const __global vec* matrices, const __global int* ipiv, const __global int* jpiv,
    __global vec* right_hand_sides, int begin, int n, int columns) {
  const size_t group = get_group_id(0), matrix = begin + group * VECTOR, first = matrix * n;
  const __global vec* a = matrices + matrix / VECTOR * n * PITCH(n);
  __global vec* x = right_hand_sides + group * n * columns;
  for (int k = 0; PIVOT != NONE && k < n; ++k) {
    interchange_rows(x, ipiv + first, n, k, columns);
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) {
      const vec l = -a[(size_t)i * PITCH(n) + k];
      for (int j = 0; j < columns; ++j) {
        x[(size_t)i * columns + j] = fma(l, x[(size_t)k * columns + j], x[(size_t)i * columns + j]);
      }
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) {
      const vec u = -a[(size_t)i * PITCH(n) + k];
      for (int j = 0; j < columns; ++j) {
        x[(size_t)i * columns + j] = fma(u, x[(size_t)k * columns + j], x[(size_t)i * columns + j]);
      }
    }
    const vec pivot = a[(size_t)i * PITCH(n) + i];
    for (int j = 0; j < columns; ++j) x[(size_t)i * columns + j] /= pivot;
  }
  for (int k = n - 1; PIVOT == FULL && k >= 0; --k) {
    interchange_rows(x, jpiv + first, n, k, columns);
  }
}
