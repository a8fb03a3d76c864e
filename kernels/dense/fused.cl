// One launch a step: the interchanges, the multipliers, the elimination and the search for the next
// pivot in one pass over the matrix, so that each element is read and written once.
//
// With (p, q) the pivot's place, row p of the source is taken for row k and vice versa, likewise columns q and k:
// nothing is moved beforehand. What a step leaves of row k and of column k is
// final but for the interchanges to come and for the division by the pivot; dense/finish.clh does both at the
// end. The next step copies row k and column k to the other surface (Lemma 4.1, a step late).
//
// Build options: a work-group of LANES work-items takes COLUMNS texels and any number of rows, ROWS at a
// time, LANES / COLUMNS of them at once. LANES is 1 where a work-item is a CPU thread that walks along
// the rows, in a loop that the compiler vectorizes.

#include "dense/candidates.clh"

// The first work-groups begin at boundaries of cache lines (128 bytes) and of image blocks (multiples of 8 rows).
// (Two rows share a piece of 32 bytes of an image on NVIDIA GPUs.)
#define LINE (128 / (int)sizeof(pack))
#define BLOCK_ROWS 8

// Texels of a tile that a work-item takes; a CPU thread need not keep them.
#define EACH (LANES == 1 ? 1 : ROWS * COLUMNS / LANES)

// Which of the updated elements may become the next pivot; SEARCH_LATER: search_rook finds it.
enum search { SEARCH_NONE, SEARCH_COLUMN, SEARCH_LATER, SEARCH_ALL };

// Step k, for LU (LU-GPU, Algorithm 3) or Gauss-Jordan (Algorithm 1).
typedef struct {
  int k, p, q;  // the step and its pivot's place
  int n, end;   // order of A, and the columns of [A | B]
  bool jordan;
  real pivot;
} step_of;

// Where rows and columns that take part in the interchanges are in the source.
inline int source_row(const step_of s, int i) { return i == s.k ? s.p : i == s.p ? s.k : i; }
inline int source_column(const step_of s, int j) { return j == s.k ? s.q : j == s.q ? s.k : j; }

// What row i is reduced by: source(k, :) times the multiplier l(i) = source(i, k) / pivot for LU; the
// divided row k times source(i, k) for Gauss-Jordan.
inline real multiplier(SOURCE(source), const step_of s, int i) {
  if (s.jordan) return i == s.k ? 0 : LOAD(source, source_row(s, i), s.q);
  if (i <= s.k || s.pivot == 0) return 0;
  return LOAD(source, source_row(s, i), s.q) / s.pivot;
}

// Row k at column j >= k: as it is for LU, divided by the pivot for Gauss-Jordan.
inline real pivot_row(SOURCE(source), const step_of s, int j) {
  const real element = LOAD(source, s.p, source_column(s, j));
  return s.jordan && s.pivot != 0 ? element / s.pivot : element;
}

// Texel t of target(i, :), wherever it is; l = multiplier(i), u = row k there.
inline pack updated_texel(SOURCE(source), const step_of s, int i, int t, real l, pack u) {
  const int from = source_row(s, i);
  const pack own = LOAD_PACK(source, i, t);
  const pack moved = from == i ? own : LOAD_PACK(source, from, t);
  real elements[PACK];
  for (int c = 0; c < PACK; ++c) {
    const int j = t * PACK + c;
    const int column = source_column(s, j);
    if (j >= s.end) {
      elements[c] = 0;
    } else if (s.jordan && i == s.k) {
      elements[c] = element_of(u, c);
    } else if (j < s.k || (i < s.k && !s.jordan)) {
      elements[c] = element_of(own, c);
    } else {
      const real element = column == j ? element_of(moved, c) : LOAD(source, from, column);
      elements[c] = i == s.k || j == s.k ? element : fma(-l, element_of(u, c), element);
    }
  }
  return pack_of(elements);
}

// The part of a work-group: texels first : last of its rows, but for those before `written`. Texels that
// hold columns up to k, column q, or both A and B are `special` and are updated element by element.
typedef struct {
  int first, last, written;
  int edge, swapped, seam;
} texels_of;

inline bool is_special(const texels_of g, int t) {
  return t <= g.edge || t == g.swapped || t == g.seam;
}

// The first special texel after t, or the end.
inline int next_special(const texels_of g, int t) {
  int stop = g.last;
  if (g.swapped > t) stop = min(stop, g.swapped);
  if (g.seam > t) stop = min(stop, g.seam);
  return stop;
}

inline texels_of own_texels(const step_of s) {
  texels_of g;
  // LU copies column k-1 too; Gauss-Jordan no longer needs columns up to k.
  g.written = (s.jordan ? s.k + 1 : max(s.k - 1, 0)) / PACK;
  g.first = g.written / LINE * LINE + get_group_id(0) * COLUMNS;
  g.last = min(g.first + COLUMNS, (s.end + PACK - 1) / PACK);
  g.edge = s.k / PACK;
  g.swapped = s.q == s.k ? -1 : s.q / PACK;
  g.seam = s.end > s.n && s.n % PACK != 0 ? s.n / PACK : -1;
  return g;
}

// Row k in texel t of the work-group.
inline pack pivot_texel(SOURCE(source), const step_of s, const texels_of g, int t) {
  if (!is_special(g, t)) {
    const pack row = LOAD_PACK(source, s.p, t);
    return s.jordan && s.pivot != 0 ? row / s.pivot : row;
  }
  real elements[PACK];
  for (int c = 0; c < PACK; ++c) {
    const int j = t * PACK + c;
    elements[c] = j >= s.k && j < s.end ? pivot_row(PASS(source), s, j) : 0;
  }
  return pack_of(elements);
}

// The plain texels of rows top : bottom that a work-item takes. All of them are loaded before the first
// is needed; a CPU thread loads them as it comes to them.
inline void load_plain(SOURCE(source), const step_of s, const texels_of g, int top, int bottom,
                       pack* own) {
#if LANES > 1
  const int t = g.first + (int)get_local_id(0) % COLUMNS;
  if (t >= g.last || is_special(g, t)) return;
#pragma unroll
  for (int a = 0; a < EACH; ++a) {
    const int i = top + (int)get_local_id(0) / COLUMNS + a * (LANES / COLUMNS);
    if (i < bottom) own[a] = LOAD_PACK(source, source_row(s, i), t);
  }
#endif
}

// Rows top : bottom of the plain texels, `own` after load_plain. Returns the largest magnitude below row
// k, and its row.
inline void update_plain(SOURCE(source), TARGET(target), const step_of s, const texels_of g, int top,
                         int bottom, const enum search search, const __local real* l,
                         const __local pack* u, const pack* own, bits* best, int* best_row) {
  // Texels of A alone; the last one of an A without B is padded with zeros.
  const int searched = s.end > s.n ? s.n / PACK : (s.n + PACK - 1) / PACK;
#if LANES == 1
  for (int i = top; i < bottom; ++i) {
    const int from = source_row(s, i);
    const real factor = l[i - top];
    pack_bits largest = 0;
    int t = g.first;
    while (t < g.last) {
      if (is_special(g, t)) {
        ++t;
        continue;
      }
      const bool searches = search == SEARCH_ALL && i > s.k && t < searched;
      const int stop = searches ? min(next_special(g, t), searched) : next_special(g, t);
      if (s.jordan && i == s.k) {
        for (; t < stop; ++t) STORE_PACK(target, i, t, u[t - g.first]);
      } else if (searches) {
        for (; t < stop; ++t) {
          const pack value = fma((pack)(-factor), u[t - g.first], LOAD_PACK(source, from, t));
          STORE_PACK(target, i, t, value);
          largest = max(largest, magnitudes_of(value));
        }
      } else {
        for (; t < stop; ++t) {
          STORE_PACK(target, i, t,
                     fma((pack)(-factor), u[t - g.first], LOAD_PACK(source, from, t)));
        }
      }
    }
    if (LARGEST_BITS(largest) > *best) {
      *best = LARGEST_BITS(largest);
      *best_row = i;
    }
  }
#else
  const int column = (int)get_local_id(0) % COLUMNS;
  const int t = g.first + column;
  if (t >= g.last || is_special(g, t)) return;
  const pack mine = u[column];
#pragma unroll
  for (int a = 0; a < EACH; ++a) {
    const int i = top + (int)get_local_id(0) / COLUMNS + a * (LANES / COLUMNS);
    if (i >= bottom) break;
    const pack value = s.jordan && i == s.k ? mine : fma((pack)(-l[i - top]), mine, own[a]);
    STORE_PACK(target, i, t, value);
    if (search == SEARCH_ALL && i > s.k && t < searched) {
      const pack_bits magnitudes = magnitudes_of(value);
      if (LARGEST_BITS(magnitudes) > *best) {
        *best = LARGEST_BITS(magnitudes);
        *best_row = i;
      }
    }
  }
#endif
}

// Rows top : bottom of special texel t.
inline void update_special(SOURCE(source), TARGET(target), const step_of s, int t, int top,
                           int bottom, const enum search search, const __local real* l, pack u,
                           bits* best, int* best_row) {
  for (int i = top + (int)get_local_id(0); i < bottom; i += LANES) {
    const pack value = updated_texel(PASS(source), s, i, t, l[i - top], u);
    STORE_PACK(target, i, t, value);
    if (search == SEARCH_ALL && i > s.k) {
      const bits candidate = candidate_of(t, value, s.k + 1, s.n);
      if (candidate > *best) {
        *best = candidate;
        *best_row = i;
      }
    }
  }
}

// The first column of the work-group where row i has the magnitude `wanted`; every work-item gets it.
inline int column_of(SOURCE(source), const step_of s, const texels_of g, int i, bits wanted,
                     const __local pack* u, __local int* column) {
  if (get_local_id(0) == 0) *column = s.n - 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  const real l = multiplier(PASS(source), s, i);
  for (int t = max(g.first, g.written) + (int)get_local_id(0); t < g.last; t += LANES) {
    const pack value = updated_texel(PASS(source), s, i, t, l, u[t - g.first]);
    for (int c = 0; c < PACK; ++c) {
      const int j = t * PACK + c;
      const bool found = j > s.k && j < s.n && AS_BITS(fabs(element_of(value, c))) == wanted;
      if (found) atomic_min(column, j);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return *column;
}

// The local memory of a work-group.
typedef struct {
  real l[ROWS];       // multipliers of ROWS rows
  pack u[COLUMNS];    // row k
  bits best[LANES];   // largest magnitudes and their rows
  int best_row[LANES];
  int column;
} scratch_of;

inline void eliminate(SOURCE(source), TARGET(target), __global const int2* places,
                      __global real* pivots, __global bits* magnitudes,
                      __global int2* candidates, int k, int n, int end, int rows,
                      const bool jordan, const enum search search, __local scratch_of* local_) {
  const int me = get_local_id(0);
  const int2 place = search == SEARCH_NONE ? (int2)(k, k) : places[k];
  const real pivot = LOAD(source, place.x, place.y);
  const step_of s = {k, place.x, place.y, n, end, jordan, pivot};
  if (me == 0 && get_group_id(0) == 0 && get_group_id(1) == 0) pivots[k] = s.pivot;

  const texels_of g = own_texels(s);
  // Every other step takes the rows backwards: it begins with those that are still in the caches.
  const int part = k % 2 == 0 ? get_group_id(1) : get_num_groups(1) - 1 - get_group_id(1);
  // LU copies row k-1 too.
  const int written_row = jordan ? 0 : max(k - 1, 0);
  const int block_row = written_row / BLOCK_ROWS * BLOCK_ROWS + part * rows;
  const int first_row = max(block_row, written_row);
  const int last_row = min(block_row + rows, n);
  const bool has_next_column =
      search == SEARCH_COLUMN && (k + 1) / PACK >= g.first && (k + 1) / PACK < g.last && k + 1 < n;

  for (int t = g.first + me; t < g.last; t += LANES) {
    local_->u[t - g.first] = pivot_texel(PASS(source), s, g, t);
  }
  bits best = 0;
  int best_row = k + 1;
  const real next_in_row_k = has_next_column ? pivot_row(PASS(source), s, k + 1) : 0;
  for (int top = first_row; top < last_row; top += ROWS) {
    const int bottom = min(top + ROWS, last_row);
    pack own[EACH];
    load_plain(PASS(source), s, g, top, bottom, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = top + me; i < bottom; i += LANES) {
      const real l = multiplier(PASS(source), s, i);
      local_->l[i - top] = l;
      if (has_next_column && i > k) {
        const real element = LOAD(source, source_row(s, i), source_column(s, k + 1));
        const bits magnitude = AS_BITS(fabs(fma(-l, next_in_row_k, element)));
        if (magnitude <= INFINITY_BITS && magnitude > best) {
          best = magnitude;
          best_row = i;
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    update_plain(PASS(source), PASS(target), s, g, top, bottom, search, local_->l, local_->u, own,
                 &best, &best_row);
    for (int t = max(g.first, g.written); t < g.last && t <= g.edge; ++t) {
      update_special(PASS(source), PASS(target), s, t, top, bottom, search, local_->l,
                     local_->u[t - g.first], &best, &best_row);
    }
    if (g.swapped >= g.first && g.swapped < g.last && g.swapped > g.edge) {
      update_special(PASS(source), PASS(target), s, g.swapped, top, bottom, search, local_->l,
                     local_->u[g.swapped - g.first], &best, &best_row);
    }
    if (g.seam >= g.first && g.seam < g.last && g.seam > g.edge && g.seam != g.swapped) {
      update_special(PASS(source), PASS(target), s, g.seam, top, bottom, search, local_->l,
                     local_->u[g.seam - g.first], &best, &best_row);
    }
  }
  if (k + 1 >= n || !(search == SEARCH_ALL || has_next_column)) return;

  local_->best[me] = best;
  local_->best_row[me] = best_row;
  reduce_candidates(local_->best, local_->best_row);
  const int row = local_->best_row[0];
  int column = k + 1;
  if (search == SEARCH_ALL && local_->best[0] > 0) {
    column = column_of(PASS(source), s, g, row, local_->best[0], local_->u, &local_->column);
  }
  if (me == 0) {
    const int group = part + (search == SEARCH_ALL ? get_group_id(0) * get_num_groups(1) : 0);
    magnitudes[group] = local_->best[0];
    candidates[group] = (int2)(row, column);
  }
}

// The step with its pivoting, for LU: source and target are n x n.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void lu_step_none(SOURCE(source), TARGET(target), __global const int2* places,
                  __global real* pivots, __global bits* magnitudes, __global int2* candidates, int k,
                  int n, int end, int rows) {
  __local scratch_of scratch;
  eliminate(PASS(source), PASS(target), places, pivots, magnitudes, candidates, k, n, end, rows,
            false, SEARCH_NONE, &scratch);
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void lu_step_partial(SOURCE(source), TARGET(target), __global const int2* places,
                     __global real* pivots, __global bits* magnitudes, __global int2* candidates,
                     int k, int n, int end, int rows) {
  __local scratch_of scratch;
  eliminate(PASS(source), PASS(target), places, pivots, magnitudes, candidates, k, n, end, rows,
            false, SEARCH_COLUMN, &scratch);
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void lu_step_rook(SOURCE(source), TARGET(target), __global const int2* places,
                  __global real* pivots, __global bits* magnitudes, __global int2* candidates, int k,
                  int n, int end, int rows) {
  __local scratch_of scratch;
  eliminate(PASS(source), PASS(target), places, pivots, magnitudes, candidates, k, n, end, rows,
            false, SEARCH_LATER, &scratch);
}

// The same for Gauss-Jordan: source and target are n x end, [A | B].
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void gauss_jordan_step_none(SOURCE(source), TARGET(target), __global const int2* places,
                            __global real* pivots, __global bits* magnitudes,
                            __global int2* candidates, int k, int n, int end, int rows) {
  __local scratch_of scratch;
  eliminate(PASS(source), PASS(target), places, pivots, magnitudes, candidates, k, n, end, rows, true,
            SEARCH_NONE, &scratch);
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void gauss_jordan_step_partial(SOURCE(source), TARGET(target), __global const int2* places,
                               __global real* pivots, __global bits* magnitudes,
                               __global int2* candidates, int k, int n, int end, int rows) {
  __local scratch_of scratch;
  eliminate(PASS(source), PASS(target), places, pivots, magnitudes, candidates, k, n, end, rows, true,
            SEARCH_COLUMN, &scratch);
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void gauss_jordan_step_full(SOURCE(source), TARGET(target), __global const int2* places,
                            __global real* pivots, __global bits* magnitudes,
                            __global int2* candidates, int k, int n, int end, int rows) {
  __local scratch_of scratch;
  eliminate(PASS(source), PASS(target), places, pivots, magnitudes, candidates, k, n, end, rows, true,
            SEARCH_ALL, &scratch);
}

// places(k) = the first candidate of the largest magnitude; (k, k) if all are zero. One
// work-group.
__kernel __attribute__((reqd_work_group_size(CHOOSERS, 1, 1)))
void choose_pivot(const __global bits* magnitudes, const __global int2* candidates,
                  __global int2* places, int k, int count) {
  __local bits best[CHOOSERS];
  __local int where[CHOOSERS];
  const int largest = first_largest(magnitudes, count, best, where);
  if (get_local_id(0) == 0) places[k] = largest < count ? candidates[largest] : (int2)(k, k);
}
