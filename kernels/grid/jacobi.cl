// One sweep of Jacobi's method: x_new = (b + c . neighbours of x) / diagonal.

#define FIELD_PARAMETERS SOURCE(x)
#define FIELD PASS(x)
#define FIELD_PACK(row, t) LOAD_PACK(x, row, t)
#define FIELD_ELEMENT(row, column) LOAD(x, row, column)
#include "grid/walk.clh"

__kernel WORK_GROUP void jacobi(SOURCE(x), SOURCE(b), TARGET(x_new), GRID) {
  const grid_of g = grid_from(sizes, walls, coefficients);
  walk_of w = walk_over(FIELD, &g);
  while (w.row >= 0) {
    FETCH(x, w.row + g.ahead + w.soon, w.t);
    FETCH(b, w.row + w.soon, w.t);
    const pack value =
        inverse_diagonal(&g, &w) * (LOAD_PACK(b, w.row, w.t) + neighbours(FIELD, &g, &w));
    STORE_PACK(x_new, w.row, w.t, within(w.t, g.nx, value, 0));
    step(FIELD, &g, &w);
  }
}
