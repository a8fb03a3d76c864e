// A sweep of the Gauss-Seidel method on a grid without planes, both colours in one pass from x to
// x_new: x = (b + c . neighbours of x) / diagonal at the red points, x + y even, then at the black
// ones.
//
// A work-item walks along y with a texel. The red points of row y + 1 take the black ones around
// them from x; then the black points of row y have their red neighbours. Those beside the texel,
// and in the rows before and after the strip, are computed again by every work-item that needs
// them, so that nothing is waited for. Beyond a wall, points are zero and stay so: the inverse of
// their diagonal is zero.

#define FIELD_PARAMETERS SOURCE(x)
#define FIELD PASS(x)
#define FIELD_PACK(row, t) LOAD_PACK(x, row, t)
#define FIELD_ELEMENT(row, column) LOAD(x, row, column)
#include "grid/walk.clh"

#define NEAR (PACK + 2)  // a texel's columns and one on either side
#define WIDE (PACK + 4)  // two on either side
#define SHORTEST 4       // rows of a strip

// Place `at`, up to two steps outside an axis; -1 where zero stands.
inline int place_near(int at, int count, int wall) {
  if (at >= 0 && at < count) return at;
  return wall == PERIODIC ? (at % count + count) % count : -1;
}

// x in the columns around texel t of place `at` along the walk. is_inner: all of them are inside.
inline void load_wide(SOURCE(x), const grid_of* g, int at, int t, bool is_inner, real* values) {
  const int place = place_near(at, g->along.count, g->along.wall);
  const int row = place * g->along.stride;
#if PACK > 1
  if (is_inner && place >= 0) {
    const pack west = LOAD_PACK(x, row, t - 1), own = LOAD_PACK(x, row, t),
               east = LOAD_PACK(x, row, t + 1);
    values[0] = element_of(west, PACK - 2);
    values[1] = element_of(west, PACK - 1);
    for (int c = 0; c < PACK; ++c) values[2 + c] = element_of(own, c);
    values[PACK + 2] = element_of(east, 0);
    values[PACK + 3] = element_of(east, 1);
    return;
  }
#endif
  for (int c = 0; c < WIDE; ++c) {
    const int j = t * PACK + c - 2;
    const int column = is_inner ? j : place_near(j, g->nx, g->wall_x);
    values[c] = column < 0 || place < 0 ? 0 : LOAD(x, row, column);
  }
}

// b in the columns beside texel t too.
inline void load_near(SOURCE(b), const grid_of* g, int at, int t, bool is_inner, real* values) {
  const int place = place_near(at, g->along.count, g->along.wall);
  const int row = place * g->along.stride;
  if (is_inner && place >= 0) {
    const pack own = LOAD_PACK(b, row, t);
    values[0] = LOAD(b, row, t * PACK - 1);
    for (int c = 0; c < PACK; ++c) values[1 + c] = element_of(own, c);
    values[PACK + 1] = LOAD(b, row, t * PACK + PACK);
    return;
  }
  for (int c = 0; c < NEAR; ++c) {
    const int column = place_near(t * PACK + c - 1, g->nx, g->wall_x);
    values[c] = column < 0 || place < 0 ? 0 : LOAD(b, row, column);
  }
}

// Columns t PACK - 1 : t PACK + PACK + 1 of rows; those called wide have one more on either side.
typedef struct {
  real before[NEAR], now[NEAR];            // rows at - 1 and at, red points new
  real next[WIDE], ahead[WIDE];            // rows at + 1 and at + 2 of x
  real b_now[NEAR], b_next[NEAR];          // rows at and at + 1 of b
  real inverse[NEAR], inverse_next[NEAR];  // of their diagonals
  real row_diagonal;                       // of row at + 1, but for walls along x
} rows_of;

// The inverse diagonals of row `at` for those of row at + 1; zero outside.
inline void set_inverse(const grid_of* g, int at, int t, rows_of* r) {
  const bool outside = place_near(at, g->along.count, g->along.wall) < 0;
  const real d =
      outside ? INFINITY
              : g->diagonal - share_of_walls(&g->along, at) - share_of_walls(&g->across, 0);
  if (d == r->row_diagonal) return;
  r->row_diagonal = d;
  for (int c = 0; c < NEAR; ++c) {
    const int column = place_near(t * PACK + c - 1, g->nx, g->wall_x);
    const int ends = g->wall_x == NEUMANN ? (column == 0) + (column == g->nx - 1) : 0;
    r->inverse_next[c] = column < 0 ? 0 : 1 / (d - g->cx * ends);
  }
}

// Columns `first`, first + 2, ...: the red points of row at + 1, in `fresh`, and after them the
// black ones of row `at` in the texel.
inline void relax_columns(const grid_of* g, int first, rows_of* r, real* fresh) {
#pragma unroll
  for (int c = 0; c < NEAR; ++c) {
    fresh[c] = r->next[c + 1];
    if ((c & 1) == first) {
      fresh[c] = r->inverse_next[c] * (r->b_next[c] + g->cx * (r->next[c] + r->next[c + 2]) +
                                       g->along.c * (r->now[c] + r->ahead[c + 1]));
    }
  }
#pragma unroll
  for (int c = 1; c <= PACK; ++c) {
    if ((c & 1) == first) {
      r->now[c] = r->inverse[c] * (r->b_now[c] + g->cx * (r->now[c - 1] + r->now[c + 1]) +
                                   g->along.c * (r->before[c] + fresh[c]));
    }
  }
}

// Row at + 1 becomes row `at`.
inline void advance(rows_of* r, const real* fresh) {
#pragma unroll
  for (int c = 0; c < NEAR; ++c) {
    r->before[c] = r->now[c];
    r->now[c] = fresh[c];
    r->b_now[c] = r->b_next[c];
    r->inverse[c] = r->inverse_next[c];
  }
#pragma unroll
  for (int c = 0; c < WIDE; ++c) r->next[c] = r->ahead[c];
}

__kernel WORK_GROUP void gauss_seidel(SOURCE(x), SOURCE(b), TARGET(x_new), GRID) {
  const grid_of g = grid_from(sizes, walls, coefficients);
  const int t = get_global_id(0), count = g.along.count;
  const int strips = get_global_size(1);
  const int length = max(SHORTEST, 2 * ((count + strips - 1) / strips));
  const int begin = (int)get_global_id(1) * length, end = min(begin + length, count);
  if (t > g.last || begin >= count) return;
  const bool is_inner = t * PACK >= 2 && (t + 1) * PACK + 2 <= g.nx;

  rows_of r = {{0}};
  real fresh[NEAR];
  r.row_diagonal = NAN;
  load_wide(FIELD, &g, begin - 2, t, is_inner, r.next);
  load_wide(FIELD, &g, begin - 1, t, is_inner, r.ahead);
  for (int c = 0; c < NEAR; ++c) fresh[c] = r.next[c + 1];
  for (int at = begin - 2; at < end; ++at) {
    advance(&r, fresh);
    load_wide(FIELD, &g, at + 2, t, is_inner, r.ahead);
    load_near(PASS(b), &g, at + 1, t, is_inner, r.b_next);
    set_inverse(&g, at + 1, t, &r);
    // Red: t PACK + c - 1 + at + 1 is even.
    if (((t * PACK + at) & 1) == 0) {
      relax_columns(&g, 0, &r, fresh);
    } else {
      relax_columns(&g, 1, &r, fresh);
    }
    if (at >= begin) {
      const pack value = pack_of(r.now + 1);
      STORE_PACK(x_new, at * g.along.stride, t, within(t, g.nx, value, 0));
    }
  }
}
