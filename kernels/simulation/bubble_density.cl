// The macroscopic level of a dilute bubbly flow: the density n of bubbles on a coarse, periodic
// grid of columns x rows cells.

#define GROUP_OF_CELLS __attribute__((reqd_work_group_size(16, 4, 1)))

inline int after(int i, int count) { return i + 1 < count ? i + 1 : 0; }
inline int before(int i, int count) { return i > 0 ? i - 1 : count - 1; }

// Lists the cells whose density is not within `threshold` of the one that their velocity was
// computed with, which becomes n; clears the norms of the others. list(0): how many.
__kernel GROUP_OF_CELLS void select_cells(
    SOURCE(n), __global real* solved, TARGET(r_norm), TARGET(b_norm), __global int* restrict list,
    int columns, int rows, real threshold) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= columns || y >= rows) return;
  const int cell = y * columns + x;
  const real now = LOAD(n, y, x);
  STORE_PACK(r_norm, y, x, 0);
  STORE_PACK(b_norm, y, x, 0);
  if (fabs(now - solved[cell]) <= threshold) return;
  solved[cell] = now;
  list[1 + atomic_inc(list)] = cell;
}

// radius = sqrt(void fraction / (pi m)), with `dilute` of the void for a density of 1, twice that
// at most.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void bubble_radius(
    __global const real* restrict solved, __global real* restrict radius, int cell, real dilute,
    int m) {
  if (get_global_id(0) > 0) return;
  const real n = solved[cell];
  const real within = n > 2 ? 2 : n < 0 ? 0 : n;  // NaN stays
  radius[0] = sqrt(within * dilute / ((real)M_PI_F * m));
}

// The velocity through the east or north side of a cell: the mean of both cells', and the stream
// of the liquid by the differences of its stream function at the corners.
inline real upwind(real velocity, real here, real there) {
  return velocity > 0 ? velocity * here : velocity * there;
}

#define EAST(x, y)                                                                                 \
  upwind((LOAD(u, y, x) + LOAD(u, y, after(x, columns))) / 2 +                                     \
             (LOAD(psi, after(y, rows), after(x, columns)) - LOAD(psi, y, after(x, columns))) / h, \
         LOAD(n, y, x), LOAD(n, y, after(x, columns)))
#define NORTH(x, y)                                                                             \
  upwind((LOAD(v, y, x) + LOAD(v, after(y, rows), x)) / 2 -                                     \
             (LOAD(psi, after(y, rows), after(x, columns)) - LOAD(psi, after(y, rows), x)) / h, \
         LOAD(n, y, x), LOAD(n, after(y, rows), x))

// n_new = n - dt div(n velocity), by upwind fluxes through the sides: what leaves one cell enters
// its neighbour.
__kernel GROUP_OF_CELLS void advect_density(
    SOURCE(n), SOURCE(u), SOURCE(v), SOURCE(psi), TARGET(n_new), int columns, int rows, real h,
    real time_step) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= columns || y >= rows) return;
  const real west = EAST(before(x, columns), y), south = NORTH(x, before(y, rows));
  const real outflow = (EAST(x, y) - west) + (NORTH(x, y) - south);
  STORE_PACK(n_new, y, x, LOAD(n, y, x) - time_step / h * outflow);
}

// n += exp(-(distance to the segment / radius)^2); places in cells.
__kernel GROUP_OF_CELLS void add_bubbles(
    SOURCE(n), TARGET(n_new), int columns, int rows, real from_x, real from_y, real to_x, real to_y,
    real radius) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= columns || y >= rows) return;
  const real along_x = to_x - from_x, along_y = to_y - from_y;
  const real dx = x + (real)0.5 - from_x, dy = y + (real)0.5 - from_y;
  const real length = along_x * along_x + along_y * along_y;
  const real t = length > 0 ? clamp((dx * along_x + dy * along_y) / length, (real)0, (real)1) : 0;
  const real far_x = dx - t * along_x, far_y = dy - t * along_y;
  const real square = (far_x * far_x + far_y * far_y) / (radius * radius);
  STORE_PACK(n_new, y, x, LOAD(n, y, x) + exp(-square));
}
