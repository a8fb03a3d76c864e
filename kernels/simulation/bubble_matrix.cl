// The dense system of one cell of a dilute bubbly flow (simulation/inclusions.hpp): m circles of
// radius R with k points each, point i at centre(i / k) + R normal(i % k).
//
// Row j of `system` is column j of A, the last row is b. Build options: GROUP_X, GROUP_Y; on CPUs
// LUGPU_WIDE and VECTOR, which divides k.

#ifdef LUGPU_WIDE
#define LOAD_POINTS(p, i) VECTOR_LOAD((p) + (i))
#else
#define LOAD_POINTS(p, i) ((p)[i])
#endif

// A number of [0, 1) from `key` (the last steps of MurmurHash3).
inline real hashed(uint key) {
  key = (key ^ (key >> 16)) * 0x85ebca6bu;
  key = (key ^ (key >> 13)) * 0xc2b2ae35u;
  return (real)((key ^ (key >> 16)) >> 8) * (real)0x1p-24f;
}

// The centres of m bubbles in the unit square, x and y of each: on a lattice of side x side places,
// each moved by at most a fifth of their distance; a sample of its own for each cell.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void place_bubbles(
    __global real* restrict centres, int m, int side, int cell) {
  const int i = get_global_id(0);
  if (i >= m) return;
  const uint key = ((uint)cell * (uint)m + (uint)i) * 2654435761u;
  centres[2 * i] = (i % side + (real)0.3 + (real)0.4 * hashed(key)) / side;
  centres[2 * i + 1] = (i / side + (real)0.3 + (real)0.4 * hashed(~key)) / side;
}

// x(i), y(i), and the centres of their circles, for all n = m k points: four rows of n.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void place_points(
    __global const real* restrict centres, __global const real* restrict normals,
    __global const real* restrict radius, __global real* restrict points, int n, int k) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const real x = centres[2 * (i / k)], y = centres[2 * (i / k) + 1];
  points[i] = x + radius[0] * normals[2 * (i % k)];
  points[n + i] = y + radius[0] * normals[2 * (i % k) + 1];
  points[2 * n + i] = x;
  points[3 * n + i] = y;
}

// What a unit of q at the point with this normal adds at a place that is (x, y) from the centre of
// its circle: the double layer, (y - x) . normal / |y - x|^2, less twice that of its first
// harmonic.
inline pack influence(pack x, pack y, real normal_x, real normal_y, real r) {
  const pack s = x * normal_x + y * normal_y;
  const pack square = x * x + y * y;
  return (r - s) / (square - 2 * r * s + r * r) + 2 * s / square;
}

// A(i, j) = (2 R / k) (influence of point j at point i, less that at the centre of i's circle);
// of two points of the same circle the identity. b(i) = 2 W . normal(i), W upwards.
__kernel __attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1))) void bubble_matrix(
    __global const real* restrict points, __global const real* restrict normals,
    __global const real* restrict radius, __global real* restrict matrix, int n, int k,
    real rise_speed) {
  const int j = get_global_id(1);
  if (j > n) return;
  const real r = radius[0];
  const real centre_x = j < n ? points[2 * n + j] : 0, centre_y = j < n ? points[3 * n + j] : 0;
  const real normal_x = normals[2 * (j % k)], normal_y = normals[2 * (j % k) + 1];
  for (int i = get_global_id(0) * PACK; i < n; i += get_global_size(0) * PACK) {
    pack value;
    if (j == n || i / k == j / k) {
      real elements[PACK];
      for (int c = 0; c < PACK; ++c) {
        elements[c] = j == n ? 2 * rise_speed * normals[2 * ((i + c) % k) + 1] : i + c == j;
      }
      value = pack_of(elements);
    } else {
      const pack at_point = influence(LOAD_POINTS(points, i) - centre_x,
                                      LOAD_POINTS(points + n, i) - centre_y, normal_x, normal_y, r);
      const pack at_centre = influence(
          LOAD_POINTS(points + 2 * n, i) - centre_x, LOAD_POINTS(points + 3 * n, i) - centre_y,
          normal_x, normal_y, r);
      value = 2 * r / k * (at_point - at_centre);
    }
    *(__global pack*)(matrix + (size_t)j * n + i) = value;
  }
}
