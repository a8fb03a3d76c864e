// The multigrid cycle on the small grids, by one work-group: the same steps as those of the large
// ones (grid/multigrid_presmooth.cl, grid/multigrid.cl, grid/multigrid_correct.cl), cell by cell;
// and the inverse of the last one.

#include "common/vectors.clh"

#define LEAD 32

// A grid: its sizes; which axes are periodic; how its cells become coarse ones; where its numbers
// are in `arena`.
typedef struct {
  int nx, ny, nz, pitch;
  int wraps_x, wraps_y, wraps_z;
  int sx, sy, sz, ox, oy, oz;
  int held, inverse, links_x, links_y, links_z, r, z, work;
} small_grid;

inline int cells_in(const small_grid* g) { return g->nx * g->ny * g->nz; }

typedef struct {
  int x, y, z, at;  // at: in a field
} small_place;

inline small_place small_place_of(const small_grid* g, int x, int y, int z) {
  const small_place place = {x, y, z, LEAD + (y + g->ny * z) * g->pitch + x};
  return place;
}
inline small_place small_cell(const small_grid* g, int i) {
  return small_place_of(g, i % g->nx, i / g->nx % g->ny, i / (g->nx * g->ny));
}

// The flow from both neighbours along an axis whose cells are `stride` apart.
inline real along(__global const real* links, __global const real* u, int at, int place, int count,
                  int stride, int wraps) {
  const int before = place > 0 ? at - stride : at + (count - 1) * stride;
  const int after = place < count - 1 ? at + stride : at - (count - 1) * stride;
  real sum = 0;
  if (place > 0 || wraps) sum += links[before] * (u[before] - u[at]);
  if (place < count - 1 || wraps) sum += links[at] * (u[after] - u[at]);
  return sum;
}

// A u at a cell.
inline real small_product(__global const real* arena, const small_grid* g, __global const real* u,
                          small_place p) {
  real sum = 0;
  if (g->nx > 1) sum += along(arena + g->links_x, u, p.at, p.x, g->nx, 1, g->wraps_x);
  if (g->ny > 1) sum += along(arena + g->links_y, u, p.at, p.y, g->ny, g->pitch, g->wraps_y);
  if (g->nz > 1)
    sum += along(arena + g->links_z, u, p.at, p.z, g->nz, g->ny * g->pitch, g->wraps_z);
  return arena[g->held + p.at] * u[p.at] - sum;
}

// The sum of r - A z over the cells that are part of a coarse one.
inline real small_residual(__global const real* arena, const small_grid* g, __global const real* r,
                           __global const real* z, small_place coarse) {
  real sum = 0;
  const int x0 = (coarse.x << g->sx) - g->ox, y0 = (coarse.y << g->sy) - g->oy;
  const int z0 = (coarse.z << g->sz) - g->oz;
  for (int c = max(z0, 0); c <= min(z0 + g->sz, g->nz - 1); ++c) {
    for (int b = max(y0, 0); b <= min(y0 + g->sy, g->ny - 1); ++b) {
      for (int a = max(x0, 0); a <= min(x0 + g->sx, g->nx - 1); ++a) {
        const small_place p = small_place_of(g, a, b, c);
        sum += r[p.at] - small_product(arena, g, z, p);
      }
    }
  }
  return sum;
}

#define EACH_CELL(i, grid) for (int i = MY_LANE; i < cells_in(&(grid)); i += GROUP)
#define TOGETHER barrier(CLK_GLOBAL_MEM_FENCE)

// z_new = u + weight inv(D) (r - A u)
inline void small_smooth(__global const real* arena, const small_grid* g, __global const real* r,
                         __global const real* u, __global real* z_new, real weight) {
  EACH_CELL(i, *g) {
    const int at = small_cell(g, i).at;
    const real residual = r[at] - small_product(arena, g, u, small_cell(g, i));
    z_new[at] = u[at] + weight * arena[g->inverse + at] * residual;
  }
}

// z = M r on grids(0), whose r and z are buffers of their own; weights: v + w, v w, v and w
// of every grid; inverse: that of the last grid, column by column; is_diagonal: use inv(D) for it.
__kernel WORK_GROUP void small_cycle(
    __global const real* top_r, __global real* top_z, __global real* arena,
    __global const small_grid* grids, __global const real* weights, __global const real* inverse,
    int count, int is_diagonal) {
  for (int l = 0; l + 1 < count; ++l) {
    const small_grid g = grids[l], coarse = grids[l + 1];
    __global const real* r = l == 0 ? top_r : arena + g.r;
    __global real* z = l == 0 ? top_z : arena + g.z;
    __global real* q = arena + g.work;
    EACH_CELL(i, g) {
      const int at = small_cell(&g, i).at;
      q[at] = arena[g.inverse + at] * r[at];
    }
    TOGETHER;
    EACH_CELL(i, g) {
      const int at = small_cell(&g, i).at;
      const real change = arena[g.inverse + at] * small_product(arena, &g, q, small_cell(&g, i));
      z[at] = weights[4 * l] * q[at] - weights[4 * l + 1] * change;
    }
    TOGETHER;
    EACH_CELL(i, coarse) {
      const small_place to = small_cell(&coarse, i);
      arena[coarse.r + to.at] = small_residual(arena, &g, r, z, to);
    }
    TOGETHER;
  }
  const small_grid last = grids[count - 1];
  __global const real* last_r = count == 1 ? top_r : arena + last.r;
  __global real* last_z = count == 1 ? top_z : arena + last.z;
  EACH_CELL(i, last) {
    const int n = cells_in(&last), at = small_cell(&last, i).at;
    real sum = is_diagonal ? arena[last.inverse + at] * last_r[at] : 0;
    for (int j = 0; j < n && !is_diagonal; ++j)
      sum += inverse[i + n * j] * last_r[small_cell(&last, j).at];
    last_z[at] = sum;
  }
  TOGETHER;
  for (int l = count - 2; l >= 0; --l) {
    const small_grid g = grids[l], coarse = grids[l + 1];
    __global const real* r = l == 0 ? top_r : arena + g.r;
    __global real* z = l == 0 ? top_z : arena + g.z;
    __global real* u = arena + g.work;
    EACH_CELL(i, g) {
      const small_place p = small_cell(&g, i);
      const small_place from =
          small_place_of(&coarse, (p.x + g.ox) >> g.sx, (p.y + g.oy) >> g.sy, (p.z + g.oz) >> g.sz);
      if (arena[g.inverse + p.at] != 0) z[p.at] += arena[coarse.z + from.at];
    }
    TOGETHER;
    small_smooth(arena, &g, r, z, u, weights[4 * l + 3]);
    TOGETHER;
    small_smooth(arena, &g, r, u, z, weights[4 * l + 2]);
    TOGETHER;
  }
}

// l(i, j) becomes the link of cells i and j of a grid, row by row.
inline void collect_links(__global const real* arena, const small_grid* g, __global real* l) {
  const int n = cells_in(g), counts[3] = {g->nx, g->ny, g->nz};
  const int strides[3] = {1, g->nx, g->nx * g->ny}, wraps[3] = {g->wraps_x, g->wraps_y, g->wraps_z};
  const int links[3] = {g->links_x, g->links_y, g->links_z};
  EACH_CELL(i, *g) {
    for (int j = 0; j < n; ++j) l[i * n + j] = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const int count = counts[axis], place = i / strides[axis] % count,
                here = i - place * strides[axis];
      if (count == 1) continue;
      const int after = here + (place + 1) % count * strides[axis];
      const int before = here + (place + count - 1) % count * strides[axis];
      if (place + 1 < count || wraps[axis])
        l[i * n + after] += arena[links[axis] + small_cell(g, i).at];
      if (place > 0 || wraps[axis])
        l[i * n + before] += arena[links[axis] + small_cell(g, before).at];
    }
  }
}

// x = inv(L') x for L(i, k) = -l(i, k) / d(k).
inline void divide_by_transposed(__global const real* l, __global const real* d, int n,
                                 __global real* x) {
  for (int k = n - 1; k >= 0; --k) {
    real sum = 0;
    for (int i = k + 1; i < n; ++i) sum += l[i * n + k] * x[i];
    if (d[k] > 0) x[k] += sum / d[k];
  }
}

// G with A G A = A on the last grid, column by column: the inverse, where A is not singular.
//
// A = L D L' without subtractions (W. K. Grassmann, M. I. Taksar, D. P. Heyman, Operations Research
// 33, 1985): what is left of the links l and of what holds the cells is a sum of what is not
// negative. So d(k) is 0 where nothing holds what cell k is linked with, and only there: k is the
// last cell of a floating part. room: l, held, d, and the constants of a part.
__kernel WORK_GROUP void invert_last(__global const real* arena, __global const small_grid* grids,
                                     int count, __global real* inverse, __global real* room) {
  const small_grid g = grids[count - 1];
  const int n = cells_in(&g);
  __global real *l = room, *held = l + n * n, *d = held + n, *part = d + n;
  EACH_CELL(i, g) held[i] = arena[g.held + small_cell(&g, i).at];
  collect_links(arena, &g, l);
  TOGETHER;
  for (int k = 0; k < n; ++k) {
    real pivot = held[k];
    for (int i = k + 1; i < n; ++i) pivot += l[i * n + k];
    if (MY_LANE == 0) d[k] = pivot;
    for (int at = MY_LANE; at < n * n; at += GROUP) {
      const int i = at / n, j = at % n;
      if (i <= k || j < k || l[i * n + k] == 0) continue;
      const real factor = l[i * n + k] / pivot;
      if (j == k) held[i] += factor * held[k];
      if (j > k && j != i) l[at] += factor * l[k * n + j];
    }
    TOGETHER;
  }
  // L y = e, D L' x = y, with x(k) = 0 where d(k) is.
  EACH_CELL(column, g) {
    __global real* x = inverse + column * n;
    for (int i = 0; i < n; ++i) x[i] = i == column;
    for (int k = column; k < n; ++k) {
      x[k] = d[k] > 0 ? x[k] / d[k] : 0;
      for (int i = k + 1; i < n && x[k] != 0; ++i) x[i] += l[i * n + k] * x[k];
    }
    divide_by_transposed(l, d, n, x);
  }
  TOGETHER;
  // G = P G P, where P takes the constants of a part off; cells without a link have 0 already.
  for (int k = 0; k < n; ++k) {
    if (d[k] > 0 || arena[g.inverse + small_cell(&g, k).at] == 0) continue;
    if (MY_LANE == 0) {
      for (int i = 0; i < n; ++i) part[i] = i == k;
      divide_by_transposed(l, d, n, part);
    }
    TOGETHER;
    for (int along_rows = 0; along_rows < 2; ++along_rows) {
      const int step = along_rows ? n : 1, line = along_rows ? 1 : n;
      EACH_CELL(i, g) {
        real square = 0, dot = 0;
        for (int j = 0; j < n; ++j) {
          square += part[j] * part[j];
          dot += part[j] * inverse[i * line + j * step];
        }
        for (int j = 0; j < n; ++j) inverse[i * line + j * step] -= dot / square * part[j];
      }
      TOGETHER;
    }
  }
}
