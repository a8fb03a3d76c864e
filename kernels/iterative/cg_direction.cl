// The first pass of step k of the conjugate gradients for any matrix: x += alpha p with the alpha
// and p of the step before, then p = r + beta p with beta = rr(k) / rr(k-1). So p is read once for
// both. The product A p and iterative/cg_update.cl come after it.
//
// rr(k) = r . r is summed here from what the last step has left, and kept in `history`. `over`
// becomes 1 when there is nothing left to do: rr(k) is at most `limit`, or cg_update() has found
// that the iteration cannot go on. x is up to date then; later steps do nothing.

#include "common/vectors.clh"

__kernel WORK_GROUP void cg_direction(
    UPDATED(x), SOURCE(r), UPDATED(p), __global const real* restrict rr_partials,
    __global const real* restrict alpha, __global real* history, __global const int* ended,
    __global int* over, real limit, int k, int rows, int columns, int walk) {
  __local real scratch[GROUP];
  const real rr = sum_of_partials(rr_partials, get_num_groups(0) * get_num_groups(1), scratch);
  const real rr_before = k == 0 ? 0 : history[k - 1];
  const bool fails = *ended != 0, ends = rr <= limit;
  if (MY_GROUP == 0 && MY_LANE == 0) {
    history[k] = rr;
    if (fails || ends) *over = 1;
  }
  if (fails || (k > 0 && rr_before <= limit)) return;
  const real step = k == 0 ? 0 : *alpha;
  const real beta = rr / rr_before;

  const int t = get_global_id(0);
  for (int w = 0; w < walk; ++w) {
    const int i = MY_ROW(w);
    if (i < rows && t * PACK < columns) {
      FETCH(x, i + 1, t);
      FETCH(r, i + 1, t);
      FETCH(p, i + 1, t);
      if (k == 0) {
        if (!ends) STORE_PACK(p_new, i, t, LOAD_PACK(r, i, t));
      } else {
        const pack own = LOAD_PACK(p, i, t);
        STORE_PACK(x_new, i, t, LOAD_PACK(x, i, t) + step * own);
        if (!ends) STORE_PACK(p_new, i, t, LOAD_PACK(r, i, t) + beta * own);
      }
    }
    IN_STEP;
  }
}
