// The projection of a velocity on those without divergence: q solves A q = b, b the negative
// divergence and A the matrix of the cells (matrix/grid.hpp), then u -= the gradient of q. With
// u in units of cells a step, q is the pressure times the time step over the density. Build option
// CONDUCTIVITY: cells have a conductivity k, 0 in solid ones.

#include "grid/between.clh"
#include "simulation/staggered.clh"

#ifdef CONDUCTIVITY
#define K_PARAMETER SOURCE(k),
#else
#define K_PARAMETER
#endif

// b = what flows into the cell; 0 in solid ones.
__kernel WORK_GROUP void inflow(SOURCE(u), SOURCE(v), SOURCE(w), K_PARAMETER TARGET(b), CELLS) {
  const field_of velocity[3] = {{u, u_pitch}, {v, v_pitch}, {w, w_pitch}};
  FOR_POINTS {
    pack sum = 0;
#pragma unroll
    for (int axis = 0; axis < DIMENSIONS; ++axis)
      sum += beside(velocity[axis], axis, &cells, x, y, z, axis, -1) -
             beside(velocity[axis], axis, &cells, x, y, z, axis, 0);
#ifdef CONDUCTIVITY
    sum = LOAD_PACK(k, row, t) > 0 ? sum : (pack)0;
#endif
    STORE_PACK(b, row, t, within(t, nx, sum, 0));
  }
}

#if AT != CENTRES
// u -= the difference of q across the face
__kernel WORK_GROUP void subtract_gradient(TARGET(u), SOURCE(q), K_PARAMETER CELLS) {
  const field_of of_q = {q, q_pitch};
  FOR_POINTS {
    pack difference =
        beside(of_q, CENTRES, &cells, x, y, z, AT, 1) - LOAD_PACK(q, row_of_cell(&cells, y, z), t);
#ifdef CONDUCTIVITY
    const field_of of_k = {k, k_pitch};
    difference *= between(
        LOAD_PACK(k, row_of_cell(&cells, y, z), t), beside(of_k, CENTRES, &cells, x, y, z, AT, 1));
#endif
    STORE_PACK(u, row, t, within(t, nx, LOAD_PACK(u, row, t) - difference, 0));
  }
}
#endif
