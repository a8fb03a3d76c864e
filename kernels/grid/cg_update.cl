// The second half of step k of the conjugate gradients: with alpha = rr(k) / p . A p,
// x += alpha p and r -= alpha A p, and the partial sums of r . r.
//
// Nothing is done once rr(k) is at most `limit`, or when `ended` is not 0. If p . A p is not
// positive, A is not positive definite, and `ended` becomes k + 1.

#define FIELD_PARAMETERS SOURCE(p)
#define FIELD PASS(p)
#define FIELD_PACK(row, t) LOAD_PACK(p, row, t)
#define FIELD_ELEMENT(row, column) LOAD(p, row, column)
#include "grid/walk.clh"

__kernel WORK_GROUP void cg_update(
    UPDATED(x), UPDATED(r), SOURCE(p), __global const real* restrict curvature_partials,
    __global real* restrict rr_partials, __global const real* history, __global int* ended,
    real limit, int k, GRID) {
  __local real scratch[GROUP];
  const grid_of g = grid_from(sizes, walls, coefficients);
  const int groups = get_num_groups(0) * get_num_groups(1);
  const real rr = history[k];
  const int ended_before = *ended;
  if (rr <= limit || (ended_before != 0 && ended_before != k + 1)) return;
  const real curvature = sum_of_partials(curvature_partials, groups, scratch);
  if (!(curvature > 0 && curvature < INFINITY)) {
    if (MY_GROUP == 0 && MY_LANE == 0) *ended = k + 1;
    return;
  }
  const real alpha = rr / curvature;

  pack square = 0;
  walk_of w = walk_over(FIELD, &g);
  while (w.row >= 0) {
    FETCH(p, w.row + g.ahead + w.soon, w.t);
    FETCH(x, w.row + w.soon, w.t);
    FETCH(r, w.row + w.soon, w.t);
    const pack own = within(w.t, g.nx, w.own, 0);
    const pack residual =
        LOAD_PACK(r, w.row, w.t) - alpha * within(w.t, g.nx, product(FIELD, &g, &w), 0);
    STORE_PACK(x_new, w.row, w.t, LOAD_PACK(x, w.row, w.t) + alpha * own);
    STORE_PACK(r_new, w.row, w.t, residual);
    square += residual * residual;
    step(FIELD, &g, &w);
  }
  const real sum = sum_of_group(sum_of_pack(square), scratch);
  if (MY_LANE == 0) rr_partials[MY_GROUP] = sum;
}
