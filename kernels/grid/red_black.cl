// Half a sweep of the Gauss-Seidel method: x = (b + c . neighbours of x) / diagonal at the points
// of one colour, whose neighbours all have the other. x and b are those of this colour alone, and
// the field that of the other one (grid/colours.cl), so that nothing is loaded that is not needed.
//
// Element k of a row stands for column 2 k + `odd`, element k of the other colour for 2 k + 1 -
// odd: one neighbour along x is element k too, and the other one the element before it, or after
// it if odd. Across, the neighbours of element k are elements k.

#define FIELD_PARAMETERS SOURCE(other)
#define FIELD PASS(other)
#define FIELD_PACK(row, t) LOAD_PACK(other, row, t)
#define FIELD_ELEMENT(row, column) LOAD(other, row, column)
#include "grid/colours.clh"
#include "grid/walk.clh"

__kernel WORK_GROUP void red_black(SOURCE(other), SOURCE(b), TARGET(x), int colour, GRID) {
  const int nx = sizes.x;
  grid_of g = grid_from((int4)(HALF(nx), sizes.yzw), walls, coefficients);
  g.wall_x = wall_of(nx, walls.x);
  walk_of w = walk_over(FIELD, &g);
  while (w.row >= 0) {
    FETCH(other, w.row + g.ahead + w.soon, w.t);
    FETCH(b, w.row + w.soon, w.t);
    const int odd = ODD(w.y, w.z, colour), count = COUNT(nx, odd);
    g.at_west = odd ? -1 : 0;
    g.at_east = 2 * (count - 1) + odd == nx - 1 ? count - 1 : -1;
    const pack beside = odd ? east_of(FIELD, &g, &w) : west_of(FIELD, &g, &w);
    const pack sum = plus_across(FIELD, &g, &w, g.cx * (w.own + beside));
    const pack value = inverse_diagonal(&g, &w) * (LOAD_PACK(b, w.row, w.t) + sum);
    STORE_PACK(x, w.row, w.t, within(w.t, count, value, 0));
    step(FIELD, &g, &w);
  }
}
