// Liquid and gas in 2D by a level set: phi, in cells the distance from the surface, negative in the
// gas; H, 0 in gas and 1 in liquid, smooth within WIDTH cells of the surface. Fields of a box with
// walls (simulation/staggered.hpp); beyond a wall stands what is beside it.

#include "grid/between.clh"

#define WIDTH ((real)1.5)
#define GROUP_OF_CELLS __attribute__((reqd_work_group_size(64, 4, 1)))
#define POINTS int nx, int ny
#define FOR_MY_POINT                                    \
  const int x = get_global_id(0), y = get_global_id(1); \
  if (x >= nx || y >= ny) return;
#define AT(s, x, y) LOAD(s, clamp(y, 0, ny - 1), clamp(x, 0, nx - 1))
#define PI ((real)3.14159265358979323846)

inline real liquid(real phi) {
  if (!(fabs(phi) < WIDTH)) return phi > 0 ? 1 : 0;
  return (1 + phi / WIDTH + sin(PI * phi / WIDTH) / PI) / 2;
}

// k = 1 / density, that of the liquid 1; h = H; curvature of the surface that is nearest: of the
// level set through the cell, kappa = div(grad phi / |grad phi|), and phi away from that of radius
// 1 / kappa.
__kernel GROUP_OF_CELLS void phases_of(SOURCE(phi), TARGET(k), TARGET(h), TARGET(kappa),
                                       real gas_density, POINTS) {
  FOR_MY_POINT
  const real own = LOAD(phi, y, x);
  const real indicator = liquid(own);
  const real dx = (AT(phi, x + 1, y) - AT(phi, x - 1, y)) / 2;
  const real dy = (AT(phi, x, y + 1) - AT(phi, x, y - 1)) / 2;
  const real dxx = AT(phi, x + 1, y) - 2 * own + AT(phi, x - 1, y);
  const real dyy = AT(phi, x, y + 1) - 2 * own + AT(phi, x, y - 1);
  const real dxy =
      (AT(phi, x + 1, y + 1) - AT(phi, x - 1, y + 1) - AT(phi, x + 1, y - 1) +
       AT(phi, x - 1, y - 1)) /
      4;
  const real square = dx * dx + dy * dy;
  real value = 0;
  if (square > (real)1e-6 && fabs(own) < 3) {
    value = (dxx * dy * dy - 2 * dx * dy * dxy + dyy * dx * dx) / (square * sqrt(square));
    value = clamp(value, (real)-1, (real)1);
    const real rest = 1 - own * value;
    value = clamp(value / fmax(rest, (real)0.25), (real)-1, (real)1);
  }
  STORE_PACK(k, y, x, 1 / (gas_density + (1 - gas_density) * indicator));
  STORE_PACK(h, y, x, indicator);
  STORE_PACK(kappa, y, x, value);
}

// u += step (-sigma kappa grad H / density - gravity) on the faces across an axis, with the
// difference and the density of the pressure's gradient (matrix/grid.hpp), so that a surface of
// constant curvature is at rest.
__kernel GROUP_OF_CELLS void add_forces(
    __global real* u, int u_pitch, SOURCE(k), SOURCE(h), SOURCE(kappa), real tension, real gravity,
    int axis, POINTS) {
  FOR_MY_POINT
  const int next_x = x + (axis == 0), next_y = y + (axis == 1);
  const real a = LOAD(k, y, x), b = LOAD(k, next_y, next_x);
  const real difference = LOAD(h, next_y, next_x) - LOAD(h, y, x);
  const real bend = (LOAD(kappa, y, x) + LOAD(kappa, next_y, next_x)) / 2;
  u[(size_t)y * u_pitch + x] -= between(a, b) * tension * bend * difference + gravity;
}

inline real minmod(real a, real b) { return a * b > 0 ? (fabs(a) < fabs(b) ? a : b) : 0; }

// The slope at c of second order, from b and either a or d, where the curvature is smaller (ENO).
inline real slope_before(real a, real b, real c, real d) {
  return c - b + minmod(a - 2 * b + c, b - 2 * c + d) / 2;
}

// |phi_x|^2 by the side from which the distance comes; side: the sign of phi.
inline real upwind_square(real side, real a, real b, real c, real d, real e) {
  const real before = fmax(side * slope_before(a, b, c, d), (real)0);
  const real after = fmax(side * slope_before(e, d, c, b), (real)0);
  const real most = fmax(before, after);
  return most * most;
}

// A step of phi_t = s (1 - |grad phi|), s = phi / sqrt(phi^2 + 1), which makes phi the distance
// from the surface (M. Sussman, P. Smereka, S. Osher, Journal of Computational Physics 114, 1994).
__kernel GROUP_OF_CELLS void redistance(SOURCE(phi), TARGET(result), POINTS) {
  FOR_MY_POINT
  const real own = LOAD(phi, y, x), side = own > 0 ? 1 : -1;
  const real along_x = upwind_square(
      side, AT(phi, x - 2, y), AT(phi, x - 1, y), own, AT(phi, x + 1, y), AT(phi, x + 2, y));
  const real along_y = upwind_square(
      side, AT(phi, x, y - 2), AT(phi, x, y - 1), own, AT(phi, x, y + 1), AT(phi, x, y + 2));
  const real smooth = own / sqrt(own * own + 1);
  STORE_PACK(result, y, x, own + (real)0.3 * smooth * (1 - sqrt(along_x + along_y)));
}

// gas = 1 - H, surface = the derivative of H.
__kernel GROUP_OF_CELLS void measure(SOURCE(phi), TARGET(gas), TARGET(surface), POINTS) {
  FOR_MY_POINT
  const real own = LOAD(phi, y, x);
  STORE_PACK(gas, y, x, 1 - liquid(own));
  STORE_PACK(surface, y, x, fabs(own) < WIDTH ? (1 + cos(PI * own / WIDTH)) / (2 * WIDTH) : 0);
}

// phi += (volume of the gas - what it was at first) / (length of the surface): scalars(0), (2) and
// (1). By at most half a cell.
__kernel GROUP_OF_CELLS void keep_volume(__global real* phi, int phi_pitch,
                                         __global const real* scalars, POINTS) {
  FOR_MY_POINT
  if (!(scalars[1] > 0)) return;
  const real shift = (scalars[0] - scalars[2]) / scalars[1];
  phi[(size_t)y * phi_pitch + x] += clamp(shift, (real)-0.5, (real)0.5);
}
