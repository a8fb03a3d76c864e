// The last pass of step k of the conjugate gradients for any matrix: with q = A p and alpha = rr(k)
// / p . q, r -= alpha q, and the partial sums of r . r. The next iterative/cg_direction.cl does
// x += alpha p.
//
// Nothing is done when `over` is not 0. `ended` becomes k + 1 if p . q is not positive, for then A
// is not positive definite, or not finite.

#include "common/vectors.clh"

__kernel WORK_GROUP void cg_update(
    UPDATED(r), SOURCE(q), __global const real* restrict curvature_partials,
    __global const real* restrict history, __global real* restrict rr_partials,
    __global real* restrict alpha, __global int* ended, __global const int* over, int k, int rows,
    int columns, int walk) {
  __local real scratch[GROUP];
  if (*over != 0) return;
  const real curvature =
      sum_of_partials(curvature_partials, get_num_groups(0) * get_num_groups(1), scratch);
  const bool is_first = MY_GROUP == 0 && MY_LANE == 0;
  if (!(curvature > 0 && curvature < INFINITY)) {
    if (is_first) *ended = k + 1;
    return;
  }
  const real step = history[k] / curvature;
  if (is_first) *alpha = step;

  const int t = get_global_id(0);
  pack square = 0;
  for (int w = 0; w < walk; ++w) {
    const int i = MY_ROW(w);
    if (i < rows && t * PACK < columns) {
      FETCH(r, i + 1, t);
      FETCH(q, i + 1, t);
      const pack residual = LOAD_PACK(r, i, t) - step * LOAD_PACK(q, i, t);
      STORE_PACK(r_new, i, t, residual);
      square += residual * residual;
    }
    IN_STEP;
  }
  const real sum = sum_of_group(sum_of_pack(square), scratch);
  if (MY_LANE == 0) rr_partials[MY_GROUP] = sum;
}
