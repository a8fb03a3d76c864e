// Advection of a field by a velocity: backwards along the flow (J. Stam, "Stable Fluids", SIGGRAPH
// 1999), corrected by MacCormack's method (A. Selle, R. Fedkiw, B. Kim, Y. Liu, J. Rossignac, "An
// Unconditionally Stable MacCormack Method", Journal of Scientific Computing 35, 2008).
//
// time: of the step, in cells per unit of velocity. lid: the speed of the last wall across y.

#include "simulation/trace.clh"

// moved(x) = s(where the fluid at x came from)
__kernel WORK_GROUP void advect(VELOCITY, SOURCE(s), TARGET(moved), real time, real lid, CELLS) {
  const velocity_of velocity = VELOCITY_HERE;
  const field_of field = {s, s_pitch};
  FOR_POINTS {
    const points_of from = traced(&velocity, AT, &cells, x, y, z, -time, lid);
    const pack value = sample(field, AT, &cells, x, y, z, from, lid);
    STORE_PACK(moved, row, t, within(t, nx, value, 0));
  }
}

// The lowest and the highest of the corners, but for those that hardly count: from a point that is
// beside another by rounding alone, the result must not depend on the side.
#define HARDLY ((real)1 / 1024)
#define DEFINE_LIMIT(name, limit)                                                           \
  inline pack name(corners_of corners) {                                                    \
    _Pragma("unroll") for (int axis = 0; axis < DIMENSIONS; ++axis) {                       \
      const pack share = corners.share[axis];                                               \
      _Pragma("unroll") for (int i = 0; i < CORNERS >> (axis + 1); ++i) {                   \
        const pack low = corners.c[2 * i], high = corners.c[2 * i + 1];                     \
        corners.c[i] = limit(share > 1 - HARDLY ? high : low, share < HARDLY ? low : high); \
      }                                                                                     \
    }                                                                                       \
    return corners.c[0];                                                                    \
  }
DEFINE_LIMIT(lowest_of, fmin)
DEFINE_LIMIT(highest_of, fmax)

// corrected = moved + (s - moved traced back) / 2, but not beyond the values of s around the place
// where the fluid came from.
__kernel WORK_GROUP void correct(VELOCITY, SOURCE(s), SOURCE(moved), TARGET(corrected), real time,
                                 real lid, CELLS) {
  const velocity_of velocity = VELOCITY_HERE;
  const field_of field = {s, s_pitch}, moved_field = {moved, moved_pitch};
  FOR_POINTS {
    const points_of to = traced(&velocity, AT, &cells, x, y, z, time, lid);
    const pack back = sample(moved_field, AT, &cells, x, y, z, to, lid);
    const pack value = LOAD_PACK(moved, row, t) + (LOAD_PACK(s, row, t) - back) / 2;
    const points_of from = traced(&velocity, AT, &cells, x, y, z, -time, lid);
    const corners_of around = corners_around(field, AT, &cells, x, y, z, from, lid);
    const pack limited = fmin(fmax(value, lowest_of(around)), highest_of(around));
    STORE_PACK(corrected, row, t, within(t, nx, limited, 0));
  }
}
