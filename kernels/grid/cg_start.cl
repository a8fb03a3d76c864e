// What comes before the first step of the conjugate gradients: r = alpha b - A x, and the partial
// sums of r . r.

#define FIELD_PARAMETERS SOURCE(x)
#define FIELD PASS(x)
#define FIELD_PACK(row, t) LOAD_PACK(x, row, t)
#define FIELD_ELEMENT(row, column) LOAD(x, row, column)
#include "grid/walk.clh"

__kernel WORK_GROUP void cg_start(SOURCE(x), SOURCE(b), TARGET(r),
                                  __global real* restrict rr_partials, real alpha, GRID) {
  __local real scratch[GROUP];
  const grid_of g = grid_from(sizes, coefficients, inverse);
  pack square = 0;
  walk_of w = walk_over(FIELD, &g);
  while (w.row >= 0) {
    FETCH(x, w.row + g.ahead + w.soon, w.t);
    FETCH(b, w.row + w.soon, w.t);
    const pack value = alpha * LOAD_PACK(b, w.row, w.t) - product(FIELD, &g, &w);
    const pack residual = within(w.t, g.nx, value, 0);
    STORE_PACK(r, w.row, w.t, residual);
    square += residual * residual;
    step(FIELD, &g, &w);
  }
  const real sum = sum_of_group(sum_of_pack(square), scratch);
  if (MY_LANE == 0) rr_partials[MY_GROUP] = sum;
}
