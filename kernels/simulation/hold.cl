// The velocity of solids in the fluid. solid: of every cell, the number of the solid that it is
// part of, from 1 on, or 0. velocities: four numbers for each solid, along x, y, z.

#include "simulation/staggered.clh"

// s = the velocity of the solid along AT on the faces of its cells; 0 in them if AT is the
// centres.
__kernel WORK_GROUP void hold(TARGET(s), SOURCE(solid), __global const real* velocities, CELLS) {
  const field_of field = {solid, solid_pitch};
  FOR_POINTS {
    const pack own = LOAD_PACK(solid, row_of_cell(&cells, y, z), t), old = LOAD_PACK(s, row, t);
#if AT == CENTRES
    const pack value = own > 0 ? (pack)0 : old;
#else
    const pack next = beside(field, CENTRES, &cells, x, y, z, AT, 1);
    const ipack which = TO_INDEX(own > 0 ? own : next);
    const pack held = gathered(velocities, max(4 * (which - 1) + AT, (ipack)0));
    const pack value = which > 0 ? held : old;
#endif
    STORE_PACK(s, row, t, within(t, nx, value, 0));
  }
}
