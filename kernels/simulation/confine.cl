// Vorticity confinement (R. Fedkiw, J. Stam, H. W. Jensen, "Visual Simulation of Smoke", SIGGRAPH
// 2001, section 5): a force that turns around where the vorticity is largest.

#include "simulation/trace.clh"

// The velocity `step` cells along an axis from value (x, y, z) at AT.
inline points_of velocity_beside(const velocity_of* velocity, const cells_of* cells, int x, int y,
                                 int z, int axis, int step, real lid) {
  points_of d = {{0, 0, 0}};
  d.c[axis] = step;
  return velocity_at(velocity, AT, cells, x, y, z, d, lid);
}

// At centres: the curl of the velocity, per cell, along one axis. AXIS: which.
#ifdef AXIS
__kernel WORK_GROUP void curl(VELOCITY, TARGET(omega), real lid, CELLS) {
  const velocity_of velocity = VELOCITY_HERE;
  const int first = (AXIS + 1) % 3, second = (AXIS + 2) % 3;
  FOR_POINTS {
    const pack ahead = velocity_beside(&velocity, &cells, x, y, z, first, 1, lid).c[second] -
                       velocity_beside(&velocity, &cells, x, y, z, first, -1, lid).c[second];
    const pack aside = velocity_beside(&velocity, &cells, x, y, z, second, 1, lid).c[first] -
                       velocity_beside(&velocity, &cells, x, y, z, second, -1, lid).c[first];
    STORE_PACK(omega, row, t, within(t, nx, (ahead - aside) / 2, 0));
  }
}
#endif

#if AT != CENTRES
#if DIMENSIONS == 3
#define OMEGA SOURCE(omega_x), SOURCE(omega_y), SOURCE(omega_z)
#define OMEGA_HERE                                                                   \
  {                                                                                  \
    {                                                                                \
      {omega_x, omega_x_pitch}, {omega_y, omega_y_pitch}, { omega_z, omega_z_pitch } \
    }                                                                                \
  }
#else
#define OMEGA SOURCE(omega_z)
#define OMEGA_HERE                                                                   \
  {                                                                                  \
    {                                                                                \
      {omega_z, omega_z_pitch}, {omega_z, omega_z_pitch}, { omega_z, omega_z_pitch } \
    }                                                                                \
  }
#endif

// The curl at the place `step` cells along an axis from value (x, y, z) at AT.
inline points_of omega_beside(const velocity_of* omega, const cells_of* cells, int x, int y, int z,
                              int axis, int step) {
  points_of g = {{0, 0, 0}}, result = {{0, 0, 0}};
#pragma unroll
  for (int a = 0; a < DIMENSIONS; ++a)
    g.c[a] = (offset_of(AT, a) - offset_of(CENTRES, a)) + (a == axis ? step : 0);
#pragma unroll
  for (int of = DIMENSIONS == 3 ? 0 : 2; of < 3; ++of)
    result.c[of] = sample(omega->c[of], CENTRES, cells, x, y, z, g, 0);
  return result;
}

inline pack length_of(points_of v) {
  return sqrt(v.c[0] * v.c[0] + v.c[1] * v.c[1] + v.c[2] * v.c[2]);
}

// u += strength (N x omega) along AT, N the direction in which |omega| grows.
__kernel WORK_GROUP void confine(TARGET(u), OMEGA, real strength, CELLS) {
  const velocity_of omega = OMEGA_HERE;
  FOR_POINTS {
    points_of direction = {{0, 0, 0}};
#pragma unroll
    for (int axis = 0; axis < DIMENSIONS; ++axis)
      direction.c[axis] = length_of(omega_beside(&omega, &cells, x, y, z, axis, 1)) -
                          length_of(omega_beside(&omega, &cells, x, y, z, axis, -1));
    const points_of here = omega_beside(&omega, &cells, x, y, z, 0, 0);
    const int second = (AT + 1) % 3, third = (AT + 2) % 3;
    const pack length = length_of(direction) + SMALLEST_NORMAL;
    const pack force = direction.c[second] * here.c[third] - direction.c[third] * here.c[second];
    const pack value = LOAD_PACK(u, row, t) + strength * force / length;
    STORE_PACK(u, row, t, within(t, nx, value, 0));
  }
}
#endif
