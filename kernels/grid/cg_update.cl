// The second half of step k of the conjugate gradients: with alpha = rr(k) / p . A p,
// x += alpha p and r -= alpha A p, and the partial sums of r . r.
//
// Nothing is done once rr(k) is at most `limit`, or when `ended` is not 0. If p . A p is not
// positive, A is not positive definite, and `ended` becomes k + 1.

#define FIELD_PARAMETERS SOURCE(p)
#define FIELD PASS(p)
#define FIELD_PACK(row, t) LOAD_PACK(p, row, t)
#define FIELD_ELEMENT(row, column) LOAD(p, row, column)
#define FIELD_VECTOR(row, column) VECTOR_LOAD(PLACE(p, row, column))
#include "grid/stencil.clh"

__kernel WORK_GROUP void cg_update(
    UPDATED(x), UPDATED(r), SOURCE(p), __global const real* restrict curvature_partials,
    __global real* restrict rr_partials, __global const real* history, __global int* ended,
    real limit, int k, GRID, int walk) {
  __local real scratch[GROUP];
  const grid_of g = grid_from(sizes, walls, coefficients);
  const int groups = get_num_groups(0) * get_num_groups(1);
  const real rr = history[k];
  const int ended_before = *ended;
  if (rr <= limit || (ended_before != 0 && ended_before != k + 1)) return;
  const real curvature = sum_of_partials(curvature_partials, groups, scratch);
  if (!(curvature > 0)) {
    if (MY_GROUP == 0 && MY_LANE == 0) *ended = k + 1;
    return;
  }
  const real alpha = rr / curvature;

  const int t = get_global_id(0);
  place_of at = place_of_row(&g, MY_FIRST_ROW);
  pack square = 0;
  for (int w = 0; w < walk; ++w) {
    const int i = at.row;
    if (at.z < g.nz && t * PACK < g.nx) {
      FETCH(p, i + 2, t);
      FETCH(x, i + 1, t);
      FETCH(r, i + 1, t);
      const pack own = LOAD_PACK(p, i, t);
      const pack residual =
          LOAD_PACK(r, i, t) - alpha * within(t, g.nx, stencil(FIELD, &g, &at, t, own), 0);
      STORE_PACK(x_new, i, t, LOAD_PACK(x, i, t) + alpha * own);
      STORE_PACK(r_new, i, t, residual);
      square += residual * residual;
    }
    next_row(&g, &at);
    IN_STEP;
  }
  const real sum = sum_of_group(sum_of_pack(square), scratch);
  if (MY_LANE == 0) rr_partials[MY_GROUP] = sum;
}
