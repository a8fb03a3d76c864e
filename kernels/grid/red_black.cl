// Half a sweep of the Gauss-Seidel method: x = (b + c . neighbours of x) / diagonal at the points
// of one colour, whose neighbours all have the other. Point (x, y, z) has colour (x + y + z) mod 2.
// Only the places begin : end along the walk.

#define FIELD_PARAMETERS OLD(x)
#define FIELD PASS(x)
#define FIELD_PACK(row, t) LOAD_PACK(x, row, t)
#define FIELD_ELEMENT(row, column) LOAD(x, row, column)
#include "grid/walk.clh"

// The elements of `value` that stand at even or at odd places, the others of `own`.
inline pack with_places(pack own, pack value, bool even) {
#if PACK == 1
  return even ? value : own;
#else
  if (even) {
    own.even = value.even;
  } else {
    own.odd = value.odd;
  }
  return own;
#endif
}

__kernel WORK_GROUP void red_black(UPDATED(x), SOURCE(b), int colour, int begin, int end, GRID) {
  const grid_of g = grid_from(sizes, walls, coefficients);
  walk_of w = walk_over(FIELD, &g, begin, end);
  while (w.row >= 0) {
    FETCH(x, w.row + g.along.stride + w.soon, w.t);
    FETCH(b, w.row + w.soon, w.t);
    const bool even = ((w.t * PACK + w.at + w.across + colour) & 1) == 0;
    const pack value =
        inverse_diagonal(&g, &w) * (LOAD_PACK(b, w.row, w.t) + neighbours(FIELD, &g, &w));
    STORE_PACK(x_new, w.row, w.t, within(w.t, g.nx, with_places(w.own, value, even), 0));
    step(FIELD, &g, &w);
  }
}
