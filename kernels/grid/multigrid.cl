// Conjugate gradients preconditioned by a multigrid cycle, src/iterative/multigrid.cpp: what has
// the field u itself.

#define FIELD_PARAMETERS __global const real* restrict u
#define FIELD u
#define FIELD_VECTOR(row, column) LOAD_FROM(u + (row).at + (column))
#define FIELD_ELEMENT(row, column) u[(row).at + (column)]
#include "grid/cells.clh"

// Adds up pairs of neighbours, a and then b, to one pack.
inline pack sums_of_pairs(pack a, pack b) {
#ifdef LUGPU_WIDE
  return (pack)(a.even + a.odd, b.even + b.odd);
#else
  return a + b;
#endif
}

// r(coarse) = the sum of r - A u over the cells that are part of the coarse cell.
__kernel WORK_GROUP void restrict_residual(__global const real* restrict r, FIELD_PARAMETERS,
                                           __global real* restrict r_coarse, CELLS, int walk) {
  const cells_of g = CELLS_HERE;
  const int j = get_global_id(0) * PACK;
  for (int w = 0; w < walk; ++w) {
    const place_of at = place_of_row(MY_ROW(w), g.coarse_ny);
    if (at.z < g.coarse_nz && j < g.coarse_nx) {
      pack sum = 0;
      for (int z = (at.z << g.sz) - g.oz; z <= (at.z << g.sz) - g.oz + g.sz; ++z) {
        for (int y = (at.y << g.sy) - g.oy; y <= (at.y << g.sy) - g.oy + g.sy; ++y) {
          if (y < 0 || y >= g.ny || z < 0 || z >= g.nz) continue;
          const size_t row = row_at(&g, y, z).at;
          pack residual[2];
          for (int part = 0; part <= g.sx; ++part) {
            const int i = (j << g.sx) - g.ox + part * PACK;
            residual[part] = 0;
            if (i >= g.nx) continue;
            const pack own = LOAD_FROM(u + row + i);
            residual[part] = in_columns(i, g.nx, LOAD_FROM(r + row + i) - PRODUCT(y, z, i, own));
          }
          sum += g.sx ? sums_of_pairs(residual[0], residual[1]) : residual[0];
        }
      }
      STORE_TO(sum, r_coarse + LEAD + (size_t)(at.y + g.coarse_ny * at.z) * g.coarse_pitch + j);
    }
    IN_STEP;
  }
}

// z = u + weight (r - A u) / d, and the partial sums of r . z.
__kernel WORK_GROUP void smooth(__global const real* restrict r, FIELD_PARAMETERS,
                                __global real* restrict z, __global real* restrict partials,
                                real weight, CELLS, int walk) {
  __local real scratch[GROUP];
  const cells_of g = CELLS_HERE;
  const int j = get_global_id(0) * PACK;
  pack dot = 0;
  for (int w = 0; w < walk; ++w) {
    const place_of at = place_of_row(MY_ROW(w), g.ny);
    if (at.z < g.nz && j < g.nx) {
      const size_t i = row_at(&g, at.y, at.z).at + j;
      FETCH_FIELD(r, i + 2 * (size_t)g.pitch);
      FETCH_FIELD(u, i + 3 * (size_t)g.pitch);
      const pack own = LOAD_FROM(u + i), b = LOAD_FROM(r + i);
      const pack change = INVERSE_DIAGONAL(i) * (b - PRODUCT(at.y, at.z, j, own));
      const pack value = in_columns(j, g.nx, own + weight * change);
      STORE_TO(value, z + i);
      dot += b * value;
    }
    IN_STEP;
  }
  const real sum = sum_of_group(sum_of_pack(dot), scratch);
  if (MY_LANE == 0) partials[MY_GROUP] = sum;
}

// The partial sums of r . u.
__kernel WORK_GROUP void dot_fields(__global const real* restrict r, FIELD_PARAMETERS,
                                    __global real* restrict partials, CELLS, int walk) {
  __local real scratch[GROUP];
  const cells_of g = CELLS_HERE;
  const int j = get_global_id(0) * PACK;
  pack dot = 0;
  for (int w = 0; w < walk; ++w) {
    const place_of at = place_of_row(MY_ROW(w), g.ny);
    if (at.z < g.nz && j < g.nx) {
      const size_t i = row_at(&g, at.y, at.z).at + j;
      dot += LOAD_FROM(r + i) * LOAD_FROM(u + i);
    }
    IN_STEP;
  }
  const real sum = sum_of_group(sum_of_pack(dot), scratch);
  if (MY_LANE == 0) partials[MY_GROUP] = sum;
}

// history(k) = r . r, what the work-groups of an earlier launch have left; one work-group.
__kernel WORK_GROUP void record_square(__global const real* restrict partials, int count,
                                       __global real* restrict history, int k) {
  __local real scratch[GROUP];
  const real square = sum_of_partials(partials, count, scratch);
  if (MY_LANE == 0) history[k] = square;
}

// start = x and r = b as fields; x = b where A has the row of an obstacle, and 0 where it has none.
__kernel WORK_GROUP void import_vectors(UPDATED(x), SOURCE(b), __global real* restrict start,
                                        __global real* restrict r, CELLS, int walk) {
  const cells_of g = CELLS_HERE;
  const int t = get_global_id(0), j = t * PACK;
  for (int w = 0; w < walk; ++w) {
    const place_of at = place_of_row(MY_ROW(w), g.ny);
    if (at.z < g.nz && j < g.nx) {
      const int row = at.y + g.ny * at.z;
      const size_t i = row_at(&g, at.y, at.z).at + j;
      const pack right = LOAD_PACK(b, row, t);
      pack value = LOAD_PACK(x, row, t);
#ifndef UNIFORM
      value = INVERSE_DIAGONAL(i) != 0 ? value : HELD(i) * right;
#endif
      value = in_columns(j, g.nx, value);
      STORE_PACK(x_new, row, t, value);
      STORE_TO(value, start + i);
      STORE_TO(in_columns(j, g.nx, right), r + i);
    }
    IN_STEP;
  }
}

// r -= A u, and the partial sums of r . r.
__kernel WORK_GROUP void subtract_product(__global real* r, FIELD_PARAMETERS,
                                          __global real* restrict partials, CELLS, int walk) {
  __local real scratch[GROUP];
  const cells_of g = CELLS_HERE;
  const int j = get_global_id(0) * PACK;
  pack square = 0;
  for (int w = 0; w < walk; ++w) {
    const place_of at = place_of_row(MY_ROW(w), g.ny);
    if (at.z < g.nz && j < g.nx) {
      const size_t i = row_at(&g, at.y, at.z).at + j;
      const pack own = LOAD_FROM(u + i);
      const pack value = in_columns(j, g.nx, LOAD_FROM(r + i) - PRODUCT(at.y, at.z, j, own));
      STORE_TO(value, r + i);
      square += value * value;
    }
    IN_STEP;
  }
  const real sum = sum_of_group(sum_of_pack(square), scratch);
  if (MY_LANE == 0) partials[MY_GROUP] = sum;
}

// The second part of step k, as in grid/cg_update.cl, where u is p: alpha = rz(k) / p . A p,
// x += alpha p, r -= alpha A p, and the partial sums of r . r.
__kernel WORK_GROUP void pcg_update(
    UPDATED(x), __global real* r, FIELD_PARAMETERS,
    __global const real* restrict curvature_partials, __global real* restrict rr_partials,
    __global const real* history, __global const real* rz_history, __global int* ended, real limit,
    int k, CELLS, int walk) {
  __local real scratch[GROUP];
  const cells_of g = CELLS_HERE;
  const int groups = get_num_groups(0) * get_num_groups(1);
  const int ended_before = *ended;
  if (history[k] <= enough(limit, history) || (ended_before != 0 && ended_before != k + 1)) return;
  const real curvature = sum_of_partials(curvature_partials, groups, scratch);
  const real rz = rz_history[k];
  if (!(curvature > 0 && rz > 0)) {
    if (MY_GROUP == 0 && MY_LANE == 0) *ended = k + 1;
    return;
  }
  const real alpha = rz / curvature;

  const int t = get_global_id(0), j = t * PACK;
  pack square = 0;
  for (int w = 0; w < walk; ++w) {
    const place_of at = place_of_row(MY_ROW(w), g.ny);
    if (at.z < g.nz && j < g.nx) {
      const int row = at.y + g.ny * at.z;
      const size_t i = row_at(&g, at.y, at.z).at + j;
      FETCH_FIELD(r, i + 2 * (size_t)g.pitch);
      FETCH_FIELD(u, i + 3 * (size_t)g.pitch);
      FETCH(x, row + 2, t);
      const pack own = LOAD_FROM(u + i);
      STORE_PACK(x_new, row, t, LOAD_PACK(x, row, t) + alpha * own);
      const pack product = in_columns(j, g.nx, PRODUCT(at.y, at.z, j, own));
      const pack residual = LOAD_FROM(r + i) - alpha * product;
      STORE_TO(residual, r + i);
      square += residual * residual;
    }
    IN_STEP;
  }
  const real sum = sum_of_group(sum_of_pack(square), scratch);
  if (MY_LANE == 0) rr_partials[MY_GROUP] = sum;
}
