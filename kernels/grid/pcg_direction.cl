// The first half of step k of preconditioned conjugate gradients, u = M r: p_new = u + beta p with
// beta = rz(k) / rz(k-1), and the partial sums of p_new . A p_new.
//
// rz(k) = r . u is summed here from what the last smoothing has left, and kept in `rz_history`.
// Nothing is done once r . r is at most enough(), or when `ended` is not 0.

#define FIELD_PARAMETERS __global const real *restrict u, __global const real *restrict p, real beta
#define FIELD u, p, beta
#define FIELD_VECTOR(row, column) \
  (LOAD_FROM(u + (row).at + (column)) + beta * LOAD_FROM(p + (row).at + (column)))
#define FIELD_ELEMENT(row, column) (u[(row).at + (column)] + beta * p[(row).at + (column)])
#include "grid/cells.clh"

__kernel WORK_GROUP void pcg_direction(
    __global const real* restrict u, __global const real* restrict p, __global real* restrict p_new,
    __global const real* restrict rz_partials, __global real* restrict curvature_partials,
    __global const real* history, __global real* rz_history, __global const int* ended, real limit,
    int k, CELLS, int walk) {
  __local real scratch[GROUP];
  const cells_of g = CELLS_HERE;
  if (history[k] <= enough(limit, history) || *ended != 0) return;
  const int groups = get_num_groups(0) * get_num_groups(1);
  const real rz = sum_of_partials(rz_partials, groups, scratch);
  if (MY_GROUP == 0 && MY_LANE == 0) rz_history[k] = rz;
  const real beta = k == 0 ? 0 : rz / rz_history[k - 1];

  const int j = get_global_id(0) * PACK;
  pack curvature = 0;
  for (int w = 0; w < walk; ++w) {
    const place_of at = place_of_row(MY_ROW(w), g.ny);
    if (at.z < g.nz && j < g.nx) {
      const row_of row = row_at(&g, at.y, at.z);
      FETCH_FIELD(u, row.at + j + 3 * (size_t)g.pitch);
      FETCH_FIELD(p, row.at + j + 3 * (size_t)g.pitch);
      const pack own = FIELD_VECTOR(row, j);
      curvature += in_columns(j, g.nx, own * PRODUCT(at.y, at.z, j, own));
      STORE_TO(in_columns(j, g.nx, own), p_new + row.at + j);
    }
    IN_STEP;
  }
  const real sum = sum_of_group(sum_of_pack(curvature), scratch);
  if (MY_LANE == 0) curvature_partials[MY_GROUP] = sum;
}
