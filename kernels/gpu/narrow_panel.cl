// A narrow panel by itself, of NB = 32 columns, half as many as in gpu/lu_blocked.cl. Its rows of
// doubles leave room for two work-groups on a multiprocessor, so that panels may have twice as many
// rows.
//
// Build options: those of gpu/panel_partial.clh.

#include "gpu/panel_partial.clh"

typedef union {
  panel_scratch panel;
  stage rows;
} narrow_scratch;

// A(i, C) -= L(i, K) U(K, C) for the work-group's rows i from `row` on, C = first : first + width,
// K = before : first, a multiple of STAGED columns and NB at most.
inline void subtract_product(__global real* restrict a, int pitch, int m, int row, int before,
                             int first, int width, __local real (*u)[NB], __local stage* shared) {
  const int me = get_local_id(0);
  for (int i = me; i < (first - before) * NB; i += PANEL_ITEMS) {
    const int k = i / NB, c = i % NB;
    u[k][c] = c < width ? a[(size_t)(before + k) * pitch + first + c] : 0;
  }
  real x[NB];
  load_rows(a, pitch, m, row, first, width, x, shared);
#pragma unroll 1
  for (int k = 0; k < first - before; k += STAGED) {
    real l[STAGED];
    load_stage(a, pitch, m, row, before, k, first - before, l, shared);
#pragma unroll
    for (int i = 0; i < STAGED; ++i) {
#pragma unroll
      for (int c = 0; c < NB; ++c) x[c] = fma(-l[i], u[k + i][c], x[c]);
    }
  }
  store_rows(a, pitch, row + me < m ? row + me : -1, first, width, x, shared);
}

// Columns first : first + width, width <= NB, of rows first : m, once they have the products of
// columns before : first of L, if there are any. The rest is that of gpu/panel_partial.clh.
__kernel REQUIRE_SIZE(PANEL_ITEMS) void factor_narrow_panel(
    __global real* restrict a, int pitch, int m, int before, int first, int width,
    __global ulong* messages, __global int* pivots, __global int* row_for,
    __global int* row_goes_to, __global int* info) {
  __local narrow_scratch scratch;
  __local real u[NB][NB];
  const int group = get_group_id(0);
  if (before < first) {
    subtract_product(
        a, pitch, m, first + panel_rows_from(group), before, first, width, u, &scratch.rows);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  factor_panel(a, pitch, m, first, width, get_num_groups(0), group, messages, pivots, row_for,
               row_goes_to, info, &scratch.panel);
}
