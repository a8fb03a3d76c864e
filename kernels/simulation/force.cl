// What changes a field from outside.

#include "simulation/staggered.clh"

#ifdef LUGPU_WIDE
#ifdef LUGPU_DOUBLE
#define TO_PACK(value) JOINED(convert_double, VECTOR)(value)
#else
#define TO_PACK(value) JOINED(convert_float, VECTOR)(value)
#endif
#else
#define TO_PACK(value) ((real)(value))
#endif

// s += share (value - s) with a share that falls with the distance from a line between two points:
// strength exp(-(distance / radius)^2). from, to: the points, in cells; w of `from`: the radius; w
// of `to`: the strength.
__kernel WORK_GROUP void blend(TARGET(s), real4 from, real4 to, real value, CELLS) {
  const real4 along = {to.x - from.x, to.y - from.y, to.z - from.z, 0};
  const real length2 = dot(along, along);
  FOR_POINTS {
    const pack px = TO_PACK(lanes_from(x)) + (offset_of(AT, 0) - from.x);
    const real py = y + offset_of(AT, 1) - from.y, pz = z + offset_of(AT, 2) - from.z;
    pack there = length2 > 0 ? (px * along.x + (py * along.y + pz * along.z)) / length2 : (pack)0;
    there = fmin(fmax(there, (pack)0), (pack)1);
    const pack dx = px - there * along.x, dy = py - there * along.y, dz = pz - there * along.z;
    const pack away = DIMENSIONS == 3 ? dx * dx + dy * dy + dz * dz : dx * dx + dy * dy;
    const pack share = to.w * exp(-away / (from.w * from.w));
    const pack old = LOAD_PACK(s, row, t);
    STORE_PACK(s, row, t, within(t, nx, old + share * (value - old), 0));
  }
}

// Along y: v += lift times the mean of the smoke in the cells on both sides of the face.
__kernel WORK_GROUP void rise(TARGET(v), SOURCE(smoke), real lift, CELLS) {
  FOR_POINTS {
    const int cell = row_of_cell(&cells, y, z);
    const int above = y + 1 < cells.c[1] ? cell + 1 : cell - y;
    const pack both = LOAD_PACK(smoke, cell, t) + LOAD_PACK(smoke, above, t);
    STORE_PACK(v, row, t, within(t, nx, LOAD_PACK(v, row, t) + lift / 2 * both, 0));
  }
}

// s += value in the last row along y.
__kernel WORK_GROUP void add_at_last_wall(TARGET(s), real value, CELLS) {
  FOR_POINTS {
    if (y == ny - 1) STORE_PACK(s, row, t, within(t, nx, LOAD_PACK(s, row, t) + value, 0));
  }
}
