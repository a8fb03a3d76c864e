// The first half of step k of the conjugate gradients: p_new = r + beta p with beta = rr(k) /
// rr(k-1), and the partial sums of p_new . A p_new. A p_new is not stored: grid/cg_update.cl
// computes it again, which takes less time than storing and loading it.
//
// rr(k) = r . r is summed here from what the last step has left, and kept in `history`. Nothing is
// done once it is at most `limit`, or when `ended` is not 0.

#define FIELD_PARAMETERS SOURCE(r), SOURCE(p), real beta
#define FIELD PASS(r), PASS(p), beta
#define FIELD_PACK(row, t) (LOAD_PACK(r, row, t) + beta * LOAD_PACK(p, row, t))
#define FIELD_ELEMENT(row, column) (LOAD(r, row, column) + beta * LOAD(p, row, column))
#include "grid/walk.clh"

__kernel WORK_GROUP void cg_direction(
    SOURCE(r), SOURCE(p), TARGET(p_new), __global const real* restrict rr_partials,
    __global real* restrict curvature_partials, __global real* history, __global const int* ended,
    real limit, int k, GRID) {
  __local real scratch[GROUP];
  const grid_of g = grid_from(sizes, walls, coefficients);
  const int groups = get_num_groups(0) * get_num_groups(1);
  const real rr = sum_of_partials(rr_partials, groups, scratch);
  if (MY_GROUP == 0 && MY_LANE == 0) history[k] = rr;
  if (rr <= limit || *ended != 0) return;
  const real beta = k == 0 ? 0 : rr / history[k - 1];

  pack curvature = 0;
  walk_of w = walk_over(FIELD, &g);
  while (w.row >= 0) {
    FETCH(r, w.row + g.ahead + w.soon, w.t);
    FETCH(p, w.row + g.ahead + w.soon, w.t);
    const pack own = within(w.t, g.nx, w.own, 0);
    curvature += own * product(FIELD, &g, &w);
    STORE_PACK(p_new, w.row, w.t, own);
    step(FIELD, &g, &w);
  }
  const real sum = sum_of_group(sum_of_pack(curvature), scratch);
  if (MY_LANE == 0) curvature_partials[MY_GROUP] = sum;
}
