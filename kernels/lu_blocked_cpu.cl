// Blocked LU for devices whose work-items are CPU threads with vector registers: a work-group is one
// work-item, and its inner loop is a tile of ROWS x 2 vectors of C that stays in registers.
//
// The matrix A is row-major in place. A panel of NB columns, from row k down, is factored in a
// workspace W of its own, a row of NB elements after the other, so that it stays in the caches; U(k:k+NB,
// :), which the update reads, is kept in strips of two vectors in a workspace V. Rows of A are padded to
// whole strips; what is in the padding is never used for anything else.
//
// Build options: NB (a multiple of STRIP), VECTOR (elements of a vector register), ROWS.

#if VECTOR == 2
typedef double2 vec;
#elif defined(LUGPU_DOUBLE) && VECTOR == 4
typedef double4 vec;
#elif defined(LUGPU_DOUBLE)
typedef double8 vec;
#elif VECTOR == 4
typedef float4 vec;
#elif VECTOR == 8
typedef float8 vec;
#else
typedef float16 vec;
#endif
#define STRIP (2 * VECTOR)

// target(0:rows, 0:STRIP) = C(0:rows, 0:STRIP) - L(0:rows, 0:depth) U(0:depth, 0:STRIP), with rows a
// constant up to ROWS. target and C may be the same.
inline void subtract_product(const int rows, const __global real* l, int l_pitch,
                             const __global real* u, int u_pitch, const __global real* c,
                             size_t c_pitch, __global real* target, size_t target_pitch,
                             int depth) {
  vec sum[ROWS][2];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const __global vec* row = (const __global vec*)(c + r * c_pitch);
    sum[r][0] = row[0];
    sum[r][1] = row[1];
  }
  for (int q = 0; q < depth; ++q) {
    const __global vec* row = (const __global vec*)(u + (size_t)q * u_pitch);
    const vec u0 = row[0], u1 = row[1];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const vec factor = (vec)(-l[r * l_pitch + q]);
      sum[r][0] = fma(factor, u0, sum[r][0]);
      sum[r][1] = fma(factor, u1, sum[r][1]);
    }
  }
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    __global vec* row = (__global vec*)(target + r * target_pitch);
    row[0] = sum[r][0];
    row[1] = sum[r][1];
  }
}

// The same for any number of rows and of strips; strip s of U is at u + s * u_strip.
inline void subtract_products(int rows, int strips, const __global real* l, int l_pitch,
                              const __global real* u, int u_pitch, size_t u_strip,
                              const __global real* c, size_t c_pitch, __global real* target,
                              size_t target_pitch, int depth) {
  int i = 0;
  for (; i + ROWS <= rows; i += ROWS) {
    for (int s = 0; s < strips; ++s) {
      subtract_product(ROWS, l + (size_t)i * l_pitch, l_pitch, u + s * u_strip, u_pitch,
                       c + i * c_pitch + s * STRIP, c_pitch, target + i * target_pitch + s * STRIP,
                       target_pitch, depth);
    }
  }
  for (; i < rows; ++i) {
    for (int s = 0; s < strips; ++s) {
      subtract_product(1, l + (size_t)i * l_pitch, l_pitch, u + s * u_strip, u_pitch,
                       c + i * c_pitch + s * STRIP, c_pitch, target + i * target_pitch + s * STRIP,
                       target_pitch, depth);
    }
  }
}

// Two rows interchanged, `vectors` vectors of them.
inline void exchange(__global real* row, __global real* other, int vectors) {
  __global vec* row_v = (__global vec*)row;
  __global vec* other_v = (__global vec*)other;
  for (int v = 0; v < vectors; ++v) {
    const vec element = row_v[v];
    row_v[v] = other_v[v];
    other_v[v] = element;
  }
}

// The row of the largest magnitude in W(first:rows, column); first if there is none above zero.
inline int search_column(const __global real* w, int first, int rows, int column) {
  real best = 0;
  int place = first;
  for (int i = first; i < rows; ++i) {
    const real magnitude = fabs(w[(size_t)i * NB + column]);
    if (magnitude > best) {
      best = magnitude;
      place = i;
    }
  }
  return place;
}

// Factors the columns first : first + count of W(first:rows, :), unblocked, and applies the row
// interchanges to all of W; first + count <= rows, count <= STRIP. The columns after them in the strip
// are updated too. top: the row of A that is row 0 of W.
inline void factor_strip(__global real* w, int rows, int first, int count, int pivoted, int top,
                         __global int* ipiv, __global int* info) {
  int place = pivoted ? search_column(w, first, rows, first) : first;
  for (int c = 0; c < count; ++c) {
    const int j = first + c;
    ipiv[top + j] = top + place;
    if (place != j) exchange(w + (size_t)j * NB, w + (size_t)place * NB, NB / VECTOR);
    const real pivot = w[(size_t)j * NB + j];
    if (pivot == 0 && *info == 0) *info = top + j + 1;
    // l = W(i, j) / pivot, by the reciprocal unless that may overflow
    const bool divides = fabs(pivot) < SMALLEST_NORMAL && pivot != 0;
    const real reciprocal = pivot == 0 ? 1 : 1 / pivot;
    real u[STRIP];  // the pivot's row right of it
    for (int s = 0; s < STRIP; ++s) u[s] = s > c ? w[(size_t)j * NB + first + s] : 0;
    const vec u0 = ((const vec*)u)[0], u1 = ((const vec*)u)[1];
    const int next = min(first + c + 1, first + STRIP - 1);
    real best = 0;
    place = j + 1;
    for (int i = j + 1; i < rows; ++i) {
      __global real* start = w + (size_t)i * NB;
      __global vec* row = (__global vec*)(start + first);
      const real element = start[j];
      const real l = divides ? element / pivot : element * reciprocal;
      row[0] = fma((vec)(-l), u0, row[0]);
      row[1] = fma((vec)(-l), u1, row[1]);
      start[j] = l;
      const real magnitude = fabs(start[next]);
      if (magnitude > best) {
        best = magnitude;
        place = i;
      }
    }
    if (!pivoted) place = j + 1;
  }
}

// P W = L U for the rows x width panel W; L and U overwrite it. ipiv(top + j) = the row of A that was
// interchanged with row top + j, *info = the first zero pivot (1-based) unless it was set before
// (LAPACK's getrf). The columns from width on, up to a whole strip, are used as scratch.
inline void factor_panel(__global real* w, int rows, int width, int pivoted, int top,
                         __global int* ipiv, __global int* info) {
  const int steps = min(rows, width);
  const int strips = (width + STRIP - 1) / STRIP;
  for (int first = 0; first < steps; first += STRIP) {
    factor_strip(w, rows, first, min(STRIP, steps - first), pivoted, top, ipiv, info);
    const int right = first + STRIP;
    const int strips_right = strips - right / STRIP;
    // W(first:right, right:) = inv(L) W(first:right, right:)
    for (int i = first + 1; i < min(right, rows); ++i) {
      for (int q = first; q < i; ++q) {
        const vec factor = (vec)(-w[(size_t)i * NB + q]);
        const __global vec* u = (const __global vec*)(w + (size_t)q * NB + right);
        __global vec* row = (__global vec*)(w + (size_t)i * NB + right);
        for (int t = 0; t < 2 * strips_right; ++t) row[t] = fma(factor, u[t], row[t]);
      }
    }
    if (right >= steps) return;
    // W(right:, right:) -= W(right:, first:right) W(first:right, right:)
    __global real* rest = w + (size_t)right * NB + right;
    subtract_products(rows - right, strips_right, w + (size_t)right * NB + first, NB,
                      w + (size_t)first * NB + right, NB, STRIP, rest, NB, rest, NB, STRIP);
  }
}

// A(k:k+rows, k:k+width) = W(0:rows, 0:width)
inline void store_panel(__global real* a, int pitch, const __global real* w, int k, int rows,
                        int width) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < width; ++j) {
      a[(size_t)(k + i) * pitch + k + j] = w[(size_t)i * NB + j];
    }
  }
}

// The first panel: A(0:m, 0:width) = L U, also left in W.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void factor_first(__global real* a, int pitch, __global real* w, __global int* ipiv,
                  __global int* info, int m, int width, int pivoted) {
  *info = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < width; ++j) w[(size_t)i * NB + j] = a[(size_t)i * pitch + j];
  }
  factor_panel(w, m, width, pivoted, 0, ipiv, info);
  store_panel(a, pitch, w, 0, m, width);
}

// Panel k to the other columns of A, of which a work-group takes `columns`, the ones left of the panel
// first: the row interchanges of its `steps` pivots for all of them, and for those right of it
//   A(k:k+steps, :) = inv(L11) A(k:k+steps, :),
// also left in V.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void exchange_and_solve(__global real* a, int pitch, const __global real* w, __global real* v,
                        const __global int* ipiv, int k, int steps, int n, int columns,
                        int pivoted) {
  const int left_groups = (k + columns - 1) / columns;
  const int group = get_group_id(0);
  const bool right = group >= left_groups;
  const int begin = right ? k + NB + (group - left_groups) * columns : group * columns;
  const int end = right ? min(begin + columns, n) : min(begin + columns, k);
  const int vectors = (end - begin + STRIP - 1) / STRIP * 2;
  for (int j = 0; pivoted && j < steps; ++j) {
    const int p = ipiv[k + j];
    __global real* start = a + begin;
    if (p != k + j) exchange(start + (size_t)(k + j) * pitch, start + (size_t)p * pitch, vectors);
  }
  if (!right) return;
  for (int c = begin; c < end; c += STRIP) {
    __global real* u = v + (size_t)(c / STRIP) * NB * STRIP;
    for (int i = 0; i < steps; i += ROWS) {
      const int rows = min(ROWS, steps - i);
      __global real* top = a + (size_t)(k + i) * pitch + c;
      subtract_products(rows, 1, w + (size_t)i * NB, NB, u, STRIP, 0, top, pitch, u + i * STRIP, STRIP,
                        i);
      for (int r = 0; r < rows; ++r) {
        __global vec* row = (__global vec*)(u + (i + r) * STRIP);
        vec sum0 = row[0], sum1 = row[1];
        for (int q = 0; q < r; ++q) {
          const vec factor = (vec)(-w[(size_t)(i + r) * NB + i + q]);
          const __global vec* solved = (const __global vec*)(u + (i + q) * STRIP);
          sum0 = fma(factor, solved[0], sum0);
          sum1 = fma(factor, solved[1], sum1);
        }
        row[0] = sum0;
        row[1] = sum1;
        __global vec* result = (__global vec*)(top + (size_t)r * pitch);
        result[0] = sum0;
        result[1] = sum1;
      }
    }
  }
}

// A(k+NB:m, k+NB:n) -= L21 U12, from W and V, in blocks of block_rows x block_columns; and meanwhile the
// first work-group, which takes the next panel's columns, factors that panel in W_next.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void update_and_factor(__global real* a, int pitch, const __global real* w, const __global real* v,
                       __global real* w_next, __global int* ipiv, __global int* info, int k, int m,
                       int n, int next_width, int block_rows, int block_columns, int pivoted) {
  const int next = k + NB;
  const __global real* l21 = w + (size_t)NB * NB;
  if (get_group_id(0) == 0) {
    const int rows = m - next;
    const int strips = (next_width + STRIP - 1) / STRIP;
    subtract_products(rows, strips, l21, NB, v + (size_t)next * NB, STRIP, NB * STRIP,
                      a + (size_t)next * pitch + next, pitch, w_next, NB, NB);
    factor_panel(w_next, rows, next_width, pivoted, next, ipiv, info);
    store_panel(a, pitch, w_next, next, rows, next_width);
    return;
  }
  const int right = next + NB;
  const int row_blocks = (m - next + block_rows - 1) / block_rows;
  const int block = get_group_id(0) - 1;
  const int top = next + block % row_blocks * block_rows;
  const int left = right + block / row_blocks * block_columns;
  const int rows = min(block_rows, m - top);
  const int strips = (min(block_columns, n - left) + STRIP - 1) / STRIP;
  __global real* c = a + (size_t)top * pitch + left;
  subtract_products(rows, strips, w + (size_t)(top - k) * NB, NB, v + (size_t)left * NB, STRIP,
                    NB * STRIP, c, pitch, c, pitch, NB);
}
