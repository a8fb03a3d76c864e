// One launch a step: the interchanges, the multipliers, the elimination and the search for the next
// pivot in one pass over the matrix, so that each element is read and written once.
//
// With (p, q) the pivot's place, row p of the source is taken for row k and vice versa, likewise
// columns q and k: nothing is moved beforehand. What a step leaves of row k and of column k is
// final but for the interchanges to come and for the division by the pivot; dense/finish.clh does
// both at the end. The next step copies row k and column k to the other surface (Lemma 4.1, a step
// late).
//
// Build options: those of tiling.clh; CHOOSERS. A CPU thread walks along the rows in vectors if
// they are in buffers, and in a loop that the compiler vectorizes if in images.

#define SPECIALS 2
#include "dense/candidates.clh"
#include "dense/tiling.clh"

// Which of the updated elements may become the next pivot; SEARCH_LATER: search_rook finds it.
enum search { SEARCH_NONE, SEARCH_COLUMN, SEARCH_LATER, SEARCH_ALL };

// Step k, for LU (LU-GPU, Algorithm 3) or Gauss-Jordan (Algorithm 1). It and the work-group's
// texels are passed by value: with pointers to them, PoCL's loops are slower by up to 15 %.
typedef struct {
  int k, p, q;  // the step and its pivot's place
  int n, end;   // order of A, and the columns of [A | B]
  bool jordan;
  real pivot;
} step_of;

// Where rows and columns that take part in the interchanges are in the source.
inline int source_row(const step_of s, int i) { return i == s.k ? s.p : i == s.p ? s.k : i; }
inline int source_column(const step_of s, int j) { return j == s.k ? s.q : j == s.q ? s.k : j; }

// What row i is reduced by: source(k, :) times the multiplier l(i) = source(i, k) / pivot for LU;
// the divided row k times source(i, k) for Gauss-Jordan.
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

// Texels that hold columns up to k, column q, or both A and B are special.
inline texels_of step_texels(const group_of own, const step_of s) {
  // LU copies column k-1 too; Gauss-Jordan no longer needs columns up to k.
  texels_of g = own_texels(own, s.jordan ? s.k + 1 : max(s.k - 1, 0), s.end);
  g.edge = s.k / PACK;
  if (s.q != s.k) g.swapped[0] = s.q / PACK;
  if (s.end > s.n && s.n % PACK != 0) g.swapped[1] = s.n / PACK;
  return g;
}

// Row k in texel t of the work-group.
inline pack pivot_texel(SOURCE(source), const step_of s, const texels_of g, int t) {
  if (!is_special(&g, t)) {
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

// The end of the texels of A alone; the last one of an A without B is padded with zeros.
inline int searched_texels(const step_of s) {
  return s.end > s.n ? s.n / PACK : (s.n + PACK - 1) / PACK;
}

#if LANES == 1
#ifndef LUGPU_IMAGE
#include "common/vector.clh"

// Elements of a row that are in registers at once.
#define VECTORS 2
#define RUN (VECTORS * VECTOR)

// target = source - factor u for `runs` times RUN elements. Returns the largest magnitude if it
// searches. (The compiler's own loops are at half this speed with some compilers.)
inline bits update_runs(const __global real* source, __global real* target, int runs, real factor,
                        const __local real* u, const bool searches) {
  vec largest[VECTORS];
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) largest[v] = 0;
  for (int j = 0; j < runs * RUN; j += RUN) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      const int at = j + v * VECTOR;
      const vec value = fma((vec)(-factor), VECTOR_LOAD(u + at), VECTOR_LOAD(source + at));
      VECTOR_STORE(value, target + at);
      if (!searches) continue;
      const vec magnitude = fabs(value);
      largest[v] = magnitude > largest[v] ? magnitude : largest[v];  // not so for NaN
    }
  }
  bits found = 0;
  if (!searches) return found;
  real elements[RUN];
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) VECTOR_STORE(largest[v], elements + v * VECTOR);
  for (int c = 0; c < RUN; ++c) found = max(found, AS_BITS(elements[c]));
  return found;
}
#endif

// Rows top : bottom of the plain texels. `best` becomes the largest below row k. A CPU thread has
// no texels of its `own`.
inline void update_plain(SOURCE(source), TARGET(target), const step_of s, const texels_of g,
                         int top, int bottom, const enum search search, const __local real* l,
                         const __local pack* u, const pack* own, candidate* best) {
  const int searched = searched_texels(s);
  for (int i = top; i < bottom; ++i) {
    const int from = source_row(s, i);
    const real factor = l[i - top];
    bits largest = 0;
    int t = g.first;
    while (t < g.last) {
      if (is_special(&g, t)) {
        ++t;
        continue;
      }
      const bool searches = search == SEARCH_ALL && i > s.k && t < searched;
      const int stop = searches ? min(next_special(&g, t), searched) : next_special(&g, t);
      if (s.jordan && i == s.k) {
        for (; t < stop; ++t) STORE_PACK(target, i, t, u[t - g.first]);
        continue;
      }
#ifndef LUGPU_IMAGE
      const int runs = (stop - t) * PACK / RUN;
      const __global real* old = source + (size_t)from * source_pitch + t * PACK;
      __global real* updated = target + (size_t)i * target_pitch + t * PACK;
      const __local real* row = (const __local real*)(u + t - g.first);
      if (searches) {
        largest = max(largest, update_runs(old, updated, runs, factor, row, true));
      } else {
        update_runs(old, updated, runs, factor, row, false);
      }
      t += runs * (RUN / PACK);
#endif
      pack_bits largest_of_rest = 0;
      for (; t < stop; ++t) {
        const pack value = fma((pack)(-factor), u[t - g.first], LOAD_PACK(source, from, t));
        STORE_PACK(target, i, t, value);
        if (searches) largest_of_rest = max(largest_of_rest, magnitudes_of(value));
      }
      largest = max(largest, LARGEST_BITS(largest_of_rest));
    }
    consider(largest, i, best);
  }
}
#else

// Rows top : bottom of the plain texels, which are the work-item's `own`. `best` becomes the
// largest below row k.
inline void update_plain(SOURCE(source), TARGET(target), const step_of s, const texels_of g,
                         int top, int bottom, const enum search search, const __local real* l,
                         const __local pack* u, const pack* own, candidate* best) {
  const int searched = searched_texels(s);
  const int column = (int)get_local_id(0) % COLUMNS;
  const int t = g.first + column;
  if (!is_plain(&g, t)) return;
  const pack mine = u[column];
#pragma unroll
  for (int a = 0; a < EACH; ++a) {
    const int i = tile_row(top, a);
    if (i >= bottom) break;
    const pack value = s.jordan && i == s.k ? mine : fma((pack)(-l[i - top]), mine, own[a]);
    STORE_PACK(target, i, t, value);
    if (search == SEARCH_ALL && i > s.k && t < searched) {
      const pack_bits magnitudes = magnitudes_of(value);
      consider(LARGEST_BITS(magnitudes), i, best);
    }
  }
}
#endif

// Rows top : bottom of special texel t.
inline void update_special(SOURCE(source), TARGET(target), const step_of s, int t, int top,
                           int bottom, const enum search search, const __local real* l, pack u,
                           candidate* best) {
  for (int i = top + (int)get_local_id(0); i < bottom; i += LANES) {
    const pack value = updated_texel(PASS(source), s, i, t, l[i - top], u);
    STORE_PACK(target, i, t, value);
    if (search == SEARCH_ALL && i > s.k) consider(candidate_of(t, value, s.k + 1, s.n), i, best);
  }
}

// The first column of the work-group where row i has the magnitude `wanted`; every work-item gets
// it.
inline int column_of(SOURCE(source), const step_of s, const texels_of g, int i, bits wanted,
                     const __local pack* u, __local int* column) {
  if (get_local_id(0) == 0) *column = s.n - 1;
  TOGETHER;
  const real l = multiplier(PASS(source), s, i);
  for (int t = max(g.first, g.begin) + (int)get_local_id(0); t < g.last; t += LANES) {
    const pack value = updated_texel(PASS(source), s, i, t, l, u[t - g.first]);
    find_column(t, value, s.k + 1, s.n, wanted, column);
  }
  TOGETHER;
  return *column;
}

// The local memory of a work-group.
typedef struct {
  real l[ROWS];     // multipliers of ROWS rows
  pack u[COLUMNS];  // row k
  candidates_scratch candidates;
} scratch_of;

inline void eliminate(SOURCE(source), TARGET(target), __global const int2* places,
                      __global real* pivots, __global bits* magnitudes, __global int2* candidates,
                      const group_of group, int k, int n, int end, const bool jordan,
                      const enum search search, __local scratch_of* local_) {
  const int me = get_local_id(0);
  const int2 place = search == SEARCH_NONE ? (int2)(k, k) : places[k];
  const real pivot = LOAD(source, place.x, place.y);
  const step_of s = {k, place.x, place.y, n, end, jordan, pivot};
  if (me == 0 && group.x == 0 && group.y == 0) pivots[k] = pivot;

  const texels_of g = step_texels(group, s);
  // LU copies row k-1 too.
  const rows_of own_part = own_rows(group, k, jordan ? 0 : max(k - 1, 0), n);
  const bool has_next_column =
      search == SEARCH_COLUMN && (k + 1) / PACK >= g.first && (k + 1) / PACK < g.last && k + 1 < n;

  for (int t = g.first + me; t < g.last; t += LANES) {
    local_->u[t - g.first] = pivot_texel(PASS(source), s, g, t);
  }
  candidate best = {0, k + 1};
  const real next_in_row_k = has_next_column ? pivot_row(PASS(source), s, k + 1) : 0;
  for (int top = own_part.first; top < own_part.last; top += ROWS) {
    const int bottom = min(top + ROWS, own_part.last);
    pack own[EACH];
    int from[EACH];
#pragma unroll
    for (int a = 0; a < EACH; ++a) from[a] = source_row(s, tile_row(top, a));
    load_plain(PASS(source), &g, top, bottom, from, own);
    TOGETHER;
    for (int i = top + me; i < bottom; i += LANES) {
      const real l = multiplier(PASS(source), s, i);
      local_->l[i - top] = l;
      if (has_next_column && i > k) {
        const real element = LOAD(source, source_row(s, i), source_column(s, k + 1));
        const bits magnitude = AS_BITS(fabs(fma(-l, next_in_row_k, element)));
        if (magnitude <= INFINITY_BITS) consider(magnitude, i, &best);
      }
    }
    TOGETHER;
    update_plain(
        PASS(source), PASS(target), s, g, top, bottom, search, local_->l, local_->u, own, &best);
    for (int t = next_special(&g, max(g.first, g.begin) - 1); t < g.last; t = next_special(&g, t)) {
      update_special(PASS(source), PASS(target), s, t, top, bottom, search, local_->l,
                     local_->u[t - g.first], &best);
    }
  }
  if (k + 1 >= n || !(search == SEARCH_ALL || has_next_column)) return;

  const candidate largest = largest_of_group(best, &local_->candidates);
  int column = k + 1;
  if (search == SEARCH_ALL && largest.magnitude > 0) {
    column = column_of(
        PASS(source), s, g, largest.row, largest.magnitude, local_->u, &local_->candidates.column);
  }
  if (me == 0) {
    const int number = own_part.part + (search == SEARCH_ALL ? group.x * group.down : 0);
    magnitudes[number] = largest.magnitude;
    candidates[number] = (int2)(largest.row, column);
  }
}

// The step with its pivoting, for LU: source and target are n x n.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void lu_step_none(
    SOURCE(source), TARGET(target), __global const int2* places, __global real* pivots,
    __global bits* magnitudes, __global int2* candidates, int k, int n, int end, int rows) {
  __local scratch_of scratch;
  eliminate(PASS(source), PASS(target), places, pivots, magnitudes, candidates, own_group(rows), k,
            n, end, false, SEARCH_NONE, &scratch);
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void lu_step_partial(
    SOURCE(source), TARGET(target), __global const int2* places, __global real* pivots,
    __global bits* magnitudes, __global int2* candidates, int k, int n, int end, int rows) {
  __local scratch_of scratch;
  eliminate(PASS(source), PASS(target), places, pivots, magnitudes, candidates, own_group(rows), k,
            n, end, false, SEARCH_COLUMN, &scratch);
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void lu_step_rook(
    SOURCE(source), TARGET(target), __global const int2* places, __global real* pivots,
    __global bits* magnitudes, __global int2* candidates, int k, int n, int end, int rows) {
  __local scratch_of scratch;
  eliminate(PASS(source), PASS(target), places, pivots, magnitudes, candidates, own_group(rows), k,
            n, end, false, SEARCH_LATER, &scratch);
}

// The same for Gauss-Jordan: source and target are n x end, [A | B].
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void gauss_jordan_step_none(
    SOURCE(source), TARGET(target), __global const int2* places, __global real* pivots,
    __global bits* magnitudes, __global int2* candidates, int k, int n, int end, int rows) {
  __local scratch_of scratch;
  eliminate(PASS(source), PASS(target), places, pivots, magnitudes, candidates, own_group(rows), k,
            n, end, true, SEARCH_NONE, &scratch);
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void gauss_jordan_step_partial(
    SOURCE(source), TARGET(target), __global const int2* places, __global real* pivots,
    __global bits* magnitudes, __global int2* candidates, int k, int n, int end, int rows) {
  __local scratch_of scratch;
  eliminate(PASS(source), PASS(target), places, pivots, magnitudes, candidates, own_group(rows), k,
            n, end, true, SEARCH_COLUMN, &scratch);
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void gauss_jordan_step_full(
    SOURCE(source), TARGET(target), __global const int2* places, __global real* pivots,
    __global bits* magnitudes, __global int2* candidates, int k, int n, int end, int rows) {
  __local scratch_of scratch;
  eliminate(PASS(source), PASS(target), places, pivots, magnitudes, candidates, own_group(rows), k,
            n, end, true, SEARCH_ALL, &scratch);
}

// places(k) = the first candidate of the largest magnitude; (k, k) if all are zero. One
// work-group.
__kernel __attribute__((reqd_work_group_size(CHOOSERS, 1, 1))) void choose_pivot(
    const __global bits* magnitudes, const __global int2* candidates, __global int2* places, int k,
    int count) {
  __local bits best[CHOOSERS];
  __local int where[CHOOSERS];
  const int largest = first_largest(magnitudes, count, best, where);
  if (get_local_id(0) == 0) places[k] = largest < count ? candidates[largest] : (int2)(k, k);
}

#ifdef SEVERAL_STEPS
// The steps first : last, each cut into about `most` pieces. The first one's source is `even`.
inline void eliminate_all(TARGET(even), TARGET(odd), __global int2* places, __global real* pivots,
                          __global bits* magnitudes, __global int2* candidates, int first, int last,
                          int n, int end, int most, volatile __global int* work, const bool jordan,
                          const enum search search, __local scratch_of* local_) {
  phases_of p = first_phase(work);
  int most_pieces = 0;
  for (int k = first; k < last; ++k) {
    const bool is_even = (k - first) % 2 == 0;
    const __global real* source = is_even ? even : odd;
    __global real* target = is_even ? odd : even;
    const int before = max(k - 1, 0);
    const group_of all = cut(jordan ? 0 : before, jordan ? k + 1 : before, n, end, most);
    begin_phase(&p, all.across * all.down, k % 2 == 1);
    most_pieces = max(most_pieces, p.pieces);
    for (int piece; (piece = next_piece(&p)) >= 0;) {
      eliminate(source, even_pitch, target, odd_pitch, places, pivots, magnitudes, candidates,
                numbered(all, piece, k), k, n, end, jordan, search, local_);
    }
    if (completes_phase(&p)) {
      if (search != SEARCH_NONE && k + 1 < n) {
        const int count = search == SEARCH_ALL ? p.pieces : all.down;
        const int largest = first_of_largest(magnitudes, count);
        places[k + 1] = largest < count ? candidates[largest] : (int2)(k + 1, k + 1);
      }
      end_phase(&p);
    }
    wait_for_phase(&p);
  }
  leave_phases(&p, most_pieces);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void lu_steps_none(
    TARGET(even), TARGET(odd), __global int2* places, __global real* pivots,
    __global bits* magnitudes, __global int2* candidates, int first, int last, int n, int end,
    int most, volatile __global int* work) {
  __local scratch_of scratch;
  eliminate_all(PASS(even), PASS(odd), places, pivots, magnitudes, candidates, first, last, n, end,
                most, work, false, SEARCH_NONE, &scratch);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void lu_steps_partial(
    TARGET(even), TARGET(odd), __global int2* places, __global real* pivots,
    __global bits* magnitudes, __global int2* candidates, int first, int last, int n, int end,
    int most, volatile __global int* work) {
  __local scratch_of scratch;
  eliminate_all(PASS(even), PASS(odd), places, pivots, magnitudes, candidates, first, last, n, end,
                most, work, false, SEARCH_COLUMN, &scratch);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gauss_jordan_steps_none(
    TARGET(even), TARGET(odd), __global int2* places, __global real* pivots,
    __global bits* magnitudes, __global int2* candidates, int first, int last, int n, int end,
    int most, volatile __global int* work) {
  __local scratch_of scratch;
  eliminate_all(PASS(even), PASS(odd), places, pivots, magnitudes, candidates, first, last, n, end,
                most, work, true, SEARCH_NONE, &scratch);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gauss_jordan_steps_partial(
    TARGET(even), TARGET(odd), __global int2* places, __global real* pivots,
    __global bits* magnitudes, __global int2* candidates, int first, int last, int n, int end,
    int most, volatile __global int* work) {
  __local scratch_of scratch;
  eliminate_all(PASS(even), PASS(odd), places, pivots, magnitudes, candidates, first, last, n, end,
                most, work, true, SEARCH_COLUMN, &scratch);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gauss_jordan_steps_full(
    TARGET(even), TARGET(odd), __global int2* places, __global real* pivots,
    __global bits* magnitudes, __global int2* candidates, int first, int last, int n, int end,
    int most, volatile __global int* work) {
  __local scratch_of scratch;
  eliminate_all(PASS(even), PASS(odd), places, pivots, magnitudes, candidates, first, last, n, end,
                most, work, true, SEARCH_ALL, &scratch);
}
#endif
