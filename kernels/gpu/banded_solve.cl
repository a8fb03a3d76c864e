// X = inv(U) inv(L) P X with the factors of gpu/banded_lu.cl: a work-group for each column, a
// window of which moves along the band.
//
// A step takes NB rows: the first work-item solves with their triangle, alone and without barriers,
// while the others' elements of the band, a row of NB for each, are on their way.
//
// Build options: NB and LUGPU_NVIDIA as there; ITEMS, work-items of a work-group, at least NB.

#include "gpu/reciprocal.clh"

#define ME ((int)get_local_id(0))

struct window {
  real4 t[NB][NB / 4];          // a triangle by columns
  real4 y[NB / 4];              // the NB elements of x at its rows
  real scale[NB], inverse[NB];  // of the diagonal of U
  real top[NB];                 // the elements of x before interchanges
};

// A triangle of `steps` columns at a, a piece of it in each work-item; zeros right of them.
#define PIECES ((NB * NB + ITEMS - 1) / ITEMS)

inline void fetch_triangle(const __global real* a, int ld, int steps, real* pieces) {
#pragma unroll
  for (int p = 0; p < PIECES; ++p) {
    const int e = p * ITEMS + ME, c = e / NB, i = e % NB;
    pieces[p] = c < min(NB, steps) ? a[(size_t)c * ld + i] : 0;
  }
}
inline void put_triangle(const real* pieces, __local struct window* w) {
#pragma unroll
  for (int p = 0; p < PIECES; ++p) {
    const int e = p * ITEMS + ME, c = e / NB, i = e % NB;
    if (c >= NB) continue;
    ((__local real*)w->t[c])[i] = pieces[p];
    if (c == i) {
      real scale, inverse;
      reciprocal(pieces[p], &scale, &inverse);
      w->scale[i] = scale;
      w->inverse[i] = inverse;
    }
  }
}

inline void load_y(const __local struct window* w, real* y) {
#pragma unroll
  for (int i = 0; i < NB; i += 4) {
    const real4 v = w->y[i / 4];
    y[i] = v.x, y[i + 1] = v.y, y[i + 2] = v.z, y[i + 3] = v.w;
  }
}
inline void store_y(const real* y, __local struct window* w) {
#pragma unroll
  for (int i = 0; i < NB; i += 4) w->y[i / 4] = (real4)(y[i], y[i + 1], y[i + 2], y[i + 3]);
}

// y(i) -= T(i, q) y(q) for from <= i < to
inline void eliminate(const __local struct window* w, real* y, int q, int from, int to) {
#pragma unroll
  for (int i = from / 4 * 4; i < to; i += 4) {
    const real4 t = w->t[q][i / 4];
    if (i >= from) y[i] = fma(-t.x, y[q], y[i]);
    if (i + 1 >= from && i + 1 < to) y[i + 1] = fma(-t.y, y[q], y[i + 1]);
    if (i + 2 >= from && i + 2 < to) y[i + 2] = fma(-t.z, y[q], y[i + 2]);
    if (i + 3 >= from && i + 3 < to) y[i + 3] = fma(-t.w, y[q], y[i + 3]);
  }
}

// y = inv(L) y
inline void solve_lower(__local struct window* w) {
  real y[NB];
  load_y(w, y);
#pragma unroll
  for (int q = 0; q < NB; ++q) eliminate(w, y, q, q + 1, NB);
  store_y(y, w);
}

// y = inv(U) y
inline void solve_upper(__local struct window* w) {
  real y[NB];
  load_y(w, y);
#pragma unroll
  for (int q = NB - 1; q >= 0; --q) {
    y[q] = y[q] * w->scale[q] * w->inverse[q];
    eliminate(w, y, q, 0, q);
  }
  store_y(y, w);
}

// Row i of NB columns of a matrix, its first column at t.
inline void load_row(const __global real* t, int ld, int i, real* row) {
#pragma unroll
  for (int q = 0; q < NB; ++q) row[q] = t[(size_t)q * ld + i];
}

// x - row y
inline real without_products(real x, const real* row, const __local struct window* w) {
  real4 sum = 0;
#pragma unroll
  for (int q = 0; q < NB; q += 4) {
    const real4 y = w->y[q / 4];
    sum = fma((real4)(row[q], row[q + 1], row[q + 2], row[q + 3]), y, sum);
  }
  return x - (sum.x + sum.y + (sum.z + sum.w));
}

// What is read ahead of a step: its triangle while the one before is solved, then the first rows
// below it or above it.
struct ahead {
  real pieces[PIECES], row[NB];
  int from_top, from_row;  // forward: where the rows were before interchanges
  int last;                // backward: of the row's panel
};

// Those below, of `rows` in the window of a panel.
inline void fetch_below(const __global real* panel, int ld, const __global int* from, int rows,
                        struct ahead* next) {
  next->from_top = ME < min(NB, rows) ? from[ME] : 0;
  if (NB + ME < rows) {
    next->from_row = from[NB + ME];
    load_row(panel, ld, NB + ME, next->row);
  }
}

// x = inv(L) P x
inline void forward(const __global real* a, int ld, int n, int lower, const __global int* origin,
                    __global real* x, __local struct window* w) {
  struct ahead next;
  fetch_triangle(a, ld, n, next.pieces);
  put_triangle(next.pieces, w);
  fetch_below(a, ld, origin, min(lower + NB, n), &next);
  for (int k = 0; k < n; k += NB) {
    const int rows = min(lower + NB, n - k), rows_after = min(lower + NB, n - k - NB);
    const __global real* panel = a + (size_t)k * (ld + 1);
    const __global real* panel_after = panel + (size_t)NB * (ld + 1);
    fetch_triangle(panel_after, ld, n - k - NB, next.pieces);
    if (ME < NB) {
      w->top[ME] = ME < rows ? x[k + ME] : 0;
      ((__local real*)w->y)[ME] = ME < rows ? x[k + next.from_top] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (ME == 0) solve_lower(w);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = NB + ME; i < rows; i += ITEMS) {
      if (i >= NB + ITEMS) {
        next.from_row = origin[i];
        load_row(panel, ld, i, next.row);
      }
      const real old = next.from_row < NB ? w->top[next.from_row] : x[k + i];
      x[k + i] = without_products(old, next.row, w);
    }
    if (ME < min(NB, rows)) x[k + ME] = ((const __local real*)w->y)[ME];
    put_triangle(next.pieces, w);
    origin += lower + NB;
    fetch_below(panel_after, ld, origin, rows_after, &next);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}

// The first rows above block column k.
inline void fetch_above(const __global real* a, int ld, int k, int reach, const __global int* last,
                        struct ahead* next) {
  const int i = k - 1 - ME;
  if (i >= max(k - reach, 0)) {
    next->last = last[i / NB];
    load_row(a + (size_t)k * ld, ld, i, next->row);
  }
}

// x = inv(U) x. Only rows of panels that reach these columns are changed.
inline void backward(const __global real* a, int ld, int n, int reach, const __global int* last,
                     __global real* x, __local struct window* w) {
  const int end = (n - 1) / NB * NB;
  struct ahead next;
  fetch_triangle(a + (size_t)end * (ld + 1), ld, n - end, next.pieces);
  put_triangle(next.pieces, w);
  fetch_above(a, ld, end, reach, last, &next);
  for (int k = end; k >= 0; k -= NB) {
    const int before = max(k - NB, 0), steps = min(NB, n - k);
    fetch_triangle(a + (size_t)before * (ld + 1), ld, n - before, next.pieces);
    if (ME < NB) ((__local real*)w->y)[ME] = ME < steps ? x[k + ME] : 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (ME == 0) solve_upper(w);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = k - 1 - ME; i >= max(k - reach, 0); i -= ITEMS) {
      const bool ahead = i >= k - ITEMS;
      if ((ahead ? next.last : last[i / NB]) < k) continue;
      if (!ahead) load_row(a + (size_t)k * ld, ld, i, next.row);
      x[i] = without_products(x[i], next.row, w);
    }
    if (ME < steps) x[k + ME] = ((const __local real*)w->y)[ME];
    put_triangle(next.pieces, w);
    fetch_above(a, ld, before, reach, last, &next);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void solve_columns(
    const __global real* a, int ld, int n, int lower, int upper, const __global int* origin,
    const __global int* last, __global real* x) {
  __local struct window w;
  x += (size_t)get_group_id(0) * n;
  forward(a, ld, n, lower, origin, x, &w);
  backward(a, ld, n, lower + upper + NB, last, x, &w);
}
