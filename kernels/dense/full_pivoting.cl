// LU with full pivoting: every step reads the trailing matrix once, to find the next pivot, but
// only every DELAY-th step writes it.
//
// Before step `first`, a multiple of DELAY, the source S is up to date. With r counted from there,
// step first + r has its pivot at (p_r, q_r) of S, a row u_r of U and a column l_r of multipliers,
// which are kept, in the places of S. For all other rows and columns,
//   S(i, j) - l_0(i) u_0(j) - ... - l_r(i) u_r(j)
// is what steps 0 to r of the block leave. All but the last only search it, and nothing is
// interchanged. The last one also writes it to the target, with the interchanges of the whole
// block. Rows and columns of pivots are left as dense/fused.cl leaves them, for dense/finish.clh;
// the next block copies them to the other surface (LU-GPU, Lemma 4.1, a block late).
//
// Build options: those of tiling.clh; CHOOSERS; TAKEN_AT_ONCE, elements of a row of U and a column
// of L that a CPU thread takes at once; DELAY, a multiple of PACK; LUGPU_PERTURB, for LAPACK's
// getc2: no pivot is smaller than the smallest that it allows.

#define SPECIALS DELAY
#include "dense/candidates.clh"
#include "dense/tiling.clh"

// Elements of a row of U, and of a column of L, that is kept; whole texels.
#define PADDED(n) (((n) + 3) / 4 * 4)

// Steps first : first + count.
typedef struct {
  int first, count, n;
  int2 place[DELAY];  // of the pivots among the rows and columns as interchanged until then
  const __global real *l, *u;  // l_r(i) and u_r(j) at r PADDED(n) + i and j
} steps_of;

// Those of the block of step k that come before step `end`.
inline steps_of steps_before(int end, int k, int n, const __global int2* places,
                             const __global real* l, const __global real* u) {
  steps_of s;
  s.first = k / DELAY * DELAY;
  s.count = end - s.first;
  s.n = n;
  s.l = l;
  s.u = u;
#pragma unroll
  for (int r = 0; r < DELAY; ++r) {
    const int step = s.first + r;
    s.place[r] = step < end ? places[step] : (int2)(step, step);
  }
  return s;
}

// Where the interchange of a and b brings i.
inline int exchanged(int i, int a, int b) { return i == a ? b : i == b ? a : i; }

// Where in S the row (or column) is that the interchanges bring to place i.
inline int source_row(const steps_of* s, int i) {
#pragma unroll
  for (int r = DELAY - 1; r >= 0; --r) i = exchanged(i, s->first + r, s->place[r].x);
  return i;
}
inline int source_column(const steps_of* s, int j) {
#pragma unroll
  for (int r = DELAY - 1; r >= 0; --r) j = exchanged(j, s->first + r, s->place[r].y);
  return j;
}

// The element of S at (i, j), less the products of the steps.
inline real element_after(SOURCE(source), const steps_of* s, int i, int j) {
  real element = LOAD(source, i, j);
#pragma unroll
  for (int r = 0; r < DELAY; ++r) {
    if (r < s->count)
      element = fma(-s->l[r * PADDED(s->n) + i], s->u[r * PADDED(s->n) + j], element);
  }
  return element;
}

// The pivot to divide by; `largest` is the first one found.
inline real pivot_of(real found, real largest) {
#ifdef LUGPU_PERTURB
  const real smin = fmax(EPSILON * fabs(largest), SMALLEST_NORMAL / EPSILON);
  return fabs(found) < smin ? smin : found;
#else
  return found;
#endif
}

// The first half of step k: its pivot, row of U and column of L, for the places begin,
// begin + stride ... before `end` of the row and the column. chosen: the pivot's place in S, or in
// the surface that the previous block has written;
// (-1, -1): it is at places(k) if that is known, or else at (k, k), for all are zero.
//
// NaN stands for l(p) and u(q), so that the searches to come find nothing in the row and column of
// the pivot.
inline void take(SOURCE(source), __global int2* places, __global real* pivots,
                 __global real* kept_l, __global real* kept_u, int k, int n, int2 chosen,
                 bool known, int begin, int end, int stride, bool leads) {
  const steps_of s = steps_before(k, k, n, places, kept_l, kept_u);
  int2 pivot = chosen;
  if (pivot.x < 0) {
    const int2 place = known ? places[k] : (int2)(k, k);
    pivot = (int2)(source_row(&s, place.x), source_column(&s, place.y));
  }
  const real found = element_after(PASS(source), &s, pivot.x, pivot.y);
  const real value = pivot_of(found, k == 0 ? found : pivots[0]);
  for (int i = begin; i < end; i += stride) {
    real l = 0, u = 0;
    if (i < n && value != 0) l = element_after(PASS(source), &s, i, pivot.y) / value;
    if (i < n) u = element_after(PASS(source), &s, pivot.x, i);
    kept_l[s.count * PADDED(n) + i] = i == pivot.x ? (real)NAN : l;
    kept_u[s.count * PADDED(n) + i] = i == pivot.y ? (real)NAN : u;
  }
  if (!leads) return;
  pivots[k] = value;
  if (known) return;
  int2 place = pivot;
#pragma unroll
  for (int r = 0; r < DELAY; ++r) {
    place.x = exchanged(place.x, s.first + r, s.place[r].x);
    place.y = exchanged(place.y, s.first + r, s.place[r].y);
  }
  places[k] = place;
}

// The first half of step k. The pivot is the first largest of `candidates`; places(k) is known if
// their count is 0.
__kernel __attribute__((reqd_work_group_size(CHOOSERS, 1, 1))) void take_pivot(
    SOURCE(source), const __global bits* magnitudes, const __global int2* candidates,
    __global int2* places, __global real* pivots, __global real* kept_l, __global real* kept_u,
    int k, int n, int count) {
  __local bits best[CHOOSERS];
  __local int where[CHOOSERS];
  __local int2 chosen;
  const int largest = first_largest(magnitudes, count, best, where);
  if (get_local_id(0) == 0) chosen = largest < count ? candidates[largest] : (int2)(-1, -1);
  barrier(CLK_LOCAL_MEM_FENCE);
  take(PASS(source), places, pivots, kept_l, kept_u, k, n, chosen, count == 0,
       k / DELAY * DELAY + get_global_id(0), PADDED(n), get_global_size(0), get_global_id(0) == 0);
}

// Texels that hold columns of pivots, before or after the interchanges, are special where they are
// written.
inline texels_of step_texels(const group_of own, const steps_of* s, int begin, const bool writes) {
  texels_of g = own_texels(own, begin, s->n);
  if (!writes) return g;
  g.edge = (s->first + s->count - 1) / PACK;
#pragma unroll
  for (int r = 0; r < DELAY; ++r) g.swapped[r] = s->place[r].y / PACK;
  return g;
}

// value - l_0 u_0 - ... - l_{DELAY-1} u_{DELAY-1}, u_r at r COLUMNS
inline pack subtract(pack value, const real* l, const __local pack* u) {
#pragma unroll
  for (int r = 0; r < DELAY; ++r) value = fma((pack)(-l[r]), u[r * COLUMNS], value);
  return value;
}

// A texel with columns from other places of S, and their elements of U, zero for the steps that no
// longer change a column.
typedef struct {
  int columns[PACK];  // or -1
  real u[PACK][DELAY];
} special_of;

inline special_of special_texel(const steps_of* s, int t) {
  special_of texel;
  for (int c = 0; c < PACK; ++c) {
    const int j = t * PACK + c;
    const int column = j < s->n ? source_column(s, j) : -1;
    texel.columns[c] = column;
#pragma unroll
    for (int r = 0; r < DELAY; ++r) {
      const bool changes = column >= 0 && r < s->count && r < j - s->first;
      texel.u[c][r] = changes ? s->u[r * PADDED(s->n) + column] : 0;
    }
  }
  return texel;
}

// The texel at row i of S.
inline pack special_value(SOURCE(source), const special_of* texel, int i, const real* l) {
  real elements[PACK];
  for (int c = 0; c < PACK; ++c) {
    elements[c] = 0;
    if (texel->columns[c] < 0) continue;
    elements[c] = LOAD(source, i, texel->columns[c]);
#pragma unroll
    for (int r = 0; r < DELAY; ++r) elements[c] = fma(-l[r], texel->u[c][r], elements[c]);
  }
  return pack_of(elements);
}

#if LANES == 1
#define BAND 2  // rows that a CPU thread takes at once

#ifndef LUGPU_IMAGE
#include "common/vector.clh"

// Elements of a row that are in registers at once.
#define VECTORS 4
#define RUN (VECTORS * VECTOR)

// BAND rows of `runs` times RUN elements, less `count` products; l(a, r) at a DELAY + r. largest:
// of each row.
inline void update_runs(const __global real* const* source, __global real* const* target, int runs,
                        const bool writes, const real* l, const __local real* u, int count,
                        bits* largest) {
  vec magnitudes[BAND];
#pragma unroll
  for (int a = 0; a < BAND; ++a) magnitudes[a] = 0;
  for (int j = 0; j < runs * RUN; j += RUN) {
    vec value[BAND][VECTORS];
#pragma unroll
    for (int a = 0; a < BAND; ++a) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) value[a][v] = VECTOR_LOAD(source[a] + j + v * VECTOR);
    }
    for (int r = 0; r < count; ++r) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        const vec row = VECTOR_LOAD(u + r * COLUMNS * PACK + j + v * VECTOR);
#pragma unroll
        for (int a = 0; a < BAND; ++a)
          value[a][v] = fma((vec)(-l[a * DELAY + r]), row, value[a][v]);
      }
    }
#pragma unroll
    for (int a = 0; a < BAND; ++a) {
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        if (writes) VECTOR_STORE(value[a][v], target[a] + j + v * VECTOR);
        const vec magnitude = fabs(value[a][v]);
        magnitudes[a] = magnitude > magnitudes[a] ? magnitude : magnitudes[a];  // not so for NaN
      }
    }
  }
#pragma unroll
  for (int a = 0; a < BAND; ++a) {
    real elements[VECTOR];
    VECTOR_STORE(magnitudes[a], elements);
    for (int c = 0; c < VECTOR; ++c) largest[a] = max(largest[a], AS_BITS(elements[c]));
  }
}
#endif

// Texels first : last of a row. Returns the largest magnitude.
inline bits update_row(SOURCE(source), TARGET(target), int i, int from, int first, int last,
                       const bool writes, const real* l, const __local pack* u) {
  pack_bits largest = 0;
  for (int t = first; t < last; ++t) {
    const pack value = subtract(LOAD_PACK(source, from, t), l, u + t - first);
    if (writes) STORE_PACK(target, i, t, value);
    largest = max(largest, magnitudes_of(value));
  }
  return LARGEST_BITS(largest);
}

// Rows top : bottom of the plain texels. `best` becomes the largest that may be the next pivot. A
// CPU thread has no texels of its `own`.
inline void update_plain(SOURCE(source), TARGET(target), const steps_of* s, const texels_of* g,
                         int top, int bottom, const bool writes, const __local real* l,
                         const __local pack* u, const pack* own, candidate* best) {
  for (int i = top; i < bottom; i += BAND) {
    int row[BAND], from[BAND];
    bits largest[BAND];
    real factors[BAND * DELAY];
#pragma unroll
    for (int a = 0; a < BAND; ++a) {
      row[a] = min(i + a, bottom - 1);
      from[a] = writes ? source_row(s, row[a]) : row[a];
      largest[a] = 0;
#pragma unroll
      for (int r = 0; r < DELAY; ++r) factors[a * DELAY + r] = l[(row[a] - top) * DELAY + r];
    }
    for (int t = max(g->first, g->begin); t < g->last; ++t) {
      if (is_special(g, t)) continue;
      const int stop = next_special(g, t);
#ifndef LUGPU_IMAGE
      const int begin = min((t + LINE - 1) / LINE * LINE, stop);
      const int runs = (stop - begin) * PACK / RUN;
      const int rest = begin + runs * (RUN / PACK);
      const __global real* sources[BAND];
      __global real* targets[BAND];
#pragma unroll
      for (int a = 0; a < BAND; ++a) {
        sources[a] = source + (size_t)from[a] * source_pitch + begin * PACK;
        targets[a] = target + (size_t)row[a] * target_pitch + begin * PACK;
      }
      update_runs(sources, targets, runs, writes, factors,
                  (const __local real*)(u + begin - g->first), s->count, largest);
#else
      const int begin = stop, rest = stop;
#endif
#pragma unroll
      for (int a = 0; a < BAND; ++a) {
        const bits head = update_row(PASS(source), PASS(target), row[a], from[a], t, begin, writes,
                                     factors + a * DELAY, u + t - g->first);
        const bits tail = update_row(PASS(source), PASS(target), row[a], from[a], rest, stop,
                                     writes, factors + a * DELAY, u + rest - g->first);
        largest[a] = max(largest[a], max(head, tail));
      }
      t = stop;
    }
    for (int a = 0; a < BAND; ++a) {
      if (!writes || row[a] >= s->first + s->count) consider(largest[a], row[a], best);
    }
  }
}
#else

// Rows top : bottom of the plain texels, which are the work-item's `own`. `best` becomes the
// largest that may be the next pivot.
inline void update_plain(SOURCE(source), TARGET(target), const steps_of* s, const texels_of* g,
                         int top, int bottom, const bool writes, const __local real* l,
                         const __local pack* u, const pack* own, candidate* best) {
  const int column = (int)get_local_id(0) % COLUMNS;
  const int t = g->first + column;
  if (!is_plain(g, t)) return;
#pragma unroll
  for (int a = 0; a < EACH; ++a) {
    const int i = tile_row(top, a);
    if (i >= bottom) break;
    real factors[DELAY];
#pragma unroll
    for (int r = 0; r < DELAY; ++r) factors[r] = l[(i - top) * DELAY + r];
    const pack value = subtract(own[a], factors, u + column);
    if (writes) STORE_PACK(target, i, t, value);
    const pack_bits magnitudes = magnitudes_of(value);
    if (!writes || i >= s->first + s->count) consider(LARGEST_BITS(magnitudes), i, best);
  }
}
#endif

// Rows top : bottom of special texel t.
inline void update_special(SOURCE(source), TARGET(target), const steps_of* s, int t, int top,
                           int bottom, const __local real* l, candidate* best) {
  const special_of texel = special_texel(s, t);
  for (int i = top + (int)get_local_id(0); i < bottom; i += LANES) {
    real factors[DELAY];
#pragma unroll
    for (int r = 0; r < DELAY; ++r) factors[r] = l[(i - top) * DELAY + r];
    // The block before this is copied.
    const pack value =
        min(i, t * PACK) < s->first
            ? LOAD_PACK(source, i, t)
            : special_value(PASS(source), &texel, source_row(s, i), factors);
    STORE_PACK(target, i, t, value);
    const int next = s->first + s->count;
    if (i >= next) consider(candidate_of(t, value, next, s->n), i, best);
  }
}

// l_r(i) for a row i of S; zero for the steps to come.
inline void load_multipliers(const steps_of* s, int i, real* l) {
#pragma unroll
  for (int r = 0; r < DELAY; ++r) l[r] = r < s->count ? s->l[r * PADDED(s->n) + i] : 0;
}

// The first column of the work-group where row i, of S or of the target, has the magnitude
// `wanted`; every work-item gets it.
inline int column_of(SOURCE(source), const steps_of* s, const texels_of* g, int i,
                     const bool writes, bits wanted, const __local pack* u, __local int* column) {
  if (get_local_id(0) == 0) *column = s->n - 1;
  TOGETHER;
  const int from = writes ? source_row(s, i) : i;
  real l[DELAY];
  load_multipliers(s, from, l);
  for (int t = max(g->first, g->begin) + (int)get_local_id(0); t < g->last; t += LANES) {
    pack value;
    if (is_special(g, t)) {
      const special_of texel = special_texel(s, t);
      value = special_value(PASS(source), &texel, from, l);
    } else {
      value = subtract(LOAD_PACK(source, from, t), l, u + t - g->first);
    }
    find_column(t, value, writes ? s->first + s->count : s->first, s->n, wanted, column);
  }
  TOGETHER;
  return *column;
}

// The local memory of a work-group.
typedef struct {
  real l[ROWS * DELAY];     // multipliers of ROWS rows
  pack u[DELAY * COLUMNS];  // rows of U
  candidates_scratch candidates;
} scratch_of;

// The second half of step k by a work-group, which leaves the place of its largest element, in S
// or, if that `writes`, in the target.
inline void eliminate(SOURCE(source), TARGET(target), const __global int2* places,
                      const __global real* kept_l, const __global real* kept_u,
                      __global bits* magnitudes, __global int2* candidates, const group_of group,
                      int k, int n, const bool writes, __local scratch_of* local_) {
  const int me = get_local_id(0);
  const steps_of s = steps_before(k + 1, k, n, places, kept_l, kept_u);
  // The rows and columns of the block before this are copied to the target too.
  const int begin = writes ? max(s.first - DELAY, 0) : s.first;
  const texels_of g = step_texels(group, &s, begin, writes);
  const rows_of own_part = own_rows(group, k, begin, n);

  for (int t = max(g.first, g.begin) + me; t < g.last; t += LANES) {
#pragma unroll
    for (int r = 0; r < DELAY; ++r) {
      local_->u[r * COLUMNS + t - g.first] =
          r < s.count ? ((const __global pack*)(kept_u + r * PADDED(n)))[t] : (pack)0;
    }
  }
  candidate best = {0, k + 1};
  for (int top = own_part.first; top < own_part.last; top += ROWS) {
    const int bottom = min(top + ROWS, own_part.last);
    pack own[EACH];
    int from[EACH];
#pragma unroll
    for (int a = 0; a < EACH; ++a) {
      from[a] = writes ? source_row(&s, tile_row(top, a)) : tile_row(top, a);
    }
    load_plain(PASS(source), &g, top, bottom, from, own);
    TOGETHER;
    for (int i = top + me; i < bottom; i += LANES) {
      real l[DELAY];
      load_multipliers(&s, writes ? source_row(&s, i) : i, l);
#pragma unroll
      for (int r = 0; r < DELAY; ++r) {
        // A row of U has had its last step.
        local_->l[(i - top) * DELAY + r] = writes && r >= i - s.first ? 0 : l[r];
      }
    }
    TOGETHER;
    update_plain(
        PASS(source), PASS(target), &s, &g, top, bottom, writes, local_->l, local_->u, own, &best);
    if (!writes) continue;
    for (int t = next_special(&g, max(g.first, g.begin) - 1); t < g.last; t = next_special(&g, t)) {
      update_special(PASS(source), PASS(target), &s, t, top, bottom, local_->l, &best);
    }
  }
  if (k + 1 >= n) return;

  const candidate largest = largest_of_group(best, &local_->candidates);
  int column = k + 1;
  if (largest.magnitude > 0) {
    column = column_of(PASS(source), &s, &g, largest.row, writes, largest.magnitude, local_->u,
                       &local_->candidates.column);
  }
  if (me == 0) {
    const int number = own_part.part + group.x * group.down;
    magnitudes[number] = largest.magnitude;
    candidates[number] = (int2)(largest.row, column);
  }
}

// A step that only searches; `target` is not touched.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void delay_update(
    SOURCE(source), TARGET(target), const __global int2* places, const __global real* kept_l,
    const __global real* kept_u, __global bits* magnitudes, __global int2* candidates, int k, int n,
    int rows) {
  __local scratch_of scratch;
  eliminate(PASS(source), PASS(target), places, kept_l, kept_u, magnitudes, candidates,
            own_group(rows), k, n, false, &scratch);
}

// A step that also writes what the steps of its block leave; the last of DELAY, or of the matrix.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void write_updates(
    SOURCE(source), TARGET(target), const __global int2* places, const __global real* kept_l,
    const __global real* kept_u, __global bits* magnitudes, __global int2* candidates, int k, int n,
    int rows) {
  __local scratch_of scratch;
  eliminate(PASS(source), PASS(target), places, kept_l, kept_u, magnitudes, candidates,
            own_group(rows), k, n, true, &scratch);
}

#ifdef SEVERAL_STEPS
inline int2 choice(const __global bits* magnitudes, const __global int2* candidates, int count) {
  const int largest = first_of_largest(magnitudes, count);
  return largest < count ? candidates[largest] : (int2)(-1, -1);
}

// The steps first : last, each cut into about `most` pieces. The first one's source is `even`, and
// the candidates for its pivot are as for take_pivot.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void full_steps(
    TARGET(even), TARGET(odd), __global int2* places, __global real* pivots, __global real* kept_l,
    __global real* kept_u, __global bits* magnitudes, __global int2* candidates, int first,
    int last, int n, int count, int most, volatile __global int* work) {
  __local scratch_of scratch;
  phases_of p = first_phase(work);
  int most_pieces = 0;
  int2 chosen = choice(magnitudes, candidates, count);
  const __global real* source = even;
  __global real* target = odd;
  for (int k = first; k < last; ++k) {
    const int block = k / DELAY * DELAY;
    begin_phase(&p, (PADDED(n) - block + TAKEN_AT_ONCE - 1) / TAKEN_AT_ONCE, false);
    most_pieces = max(most_pieces, p.pieces);
    for (int piece; (piece = next_piece(&p)) >= 0;) {
      const int begin = block + piece * TAKEN_AT_ONCE;
      take(source, even_pitch, places, pivots, kept_l, kept_u, k, n, chosen,
           k == first && count == 0, begin, min(begin + TAKEN_AT_ONCE, PADDED(n)), 1, piece == 0);
    }
    if (completes_phase(&p)) end_phase(&p);
    wait_for_phase(&p);

    const bool writes = k + 1 == block + DELAY || k + 1 == n;
    const int begin = writes ? max(block - DELAY, 0) : block;
    const group_of all = cut(begin, begin, n, n, most);
    begin_phase(&p, all.across * all.down, k % 2 == 1);
    most_pieces = max(most_pieces, p.pieces);
    for (int piece; (piece = next_piece(&p)) >= 0;) {
      const group_of group = numbered(all, piece, k);
      if (writes) {
        eliminate(source, even_pitch, target, odd_pitch, places, kept_l, kept_u, magnitudes,
                  candidates, group, k, n, true, &scratch);
      } else {
        eliminate(source, even_pitch, target, odd_pitch, places, kept_l, kept_u, magnitudes,
                  candidates, group, k, n, false, &scratch);
      }
    }
    if (completes_phase(&p)) {
      const int2 next = choice(magnitudes, candidates, p.pieces);
      work[PHASE_PLACE] = next.x;
      work[PHASE_PLACE + 1] = next.y;
      end_phase(&p);
    }
    wait_for_phase(&p);
    chosen = (int2)(work[PHASE_PLACE], work[PHASE_PLACE + 1]);
    if (!writes) continue;
    __global real* written = target;
    target = (__global real*)source;
    source = written;
  }
  leave_phases(&p, most_pieces);
}
#endif
