// Several sweeps of Jacobi's method (grid/jacobi.cl) in one pass over the buffers of a CPU. Each
// point gets the same operations as in single sweeps, and the result the same bits.
//
// A plane is the rows of the same z; without PLANES every row is a plane. A work-item owns `share`
// planes and goes over them row by row. While sweep 0 is at row a of plane p, sweep l computes row
// a of plane p - l: its last neighbour, one plane on, has just come from sweep l - 1, and its first
// one, one plane back, is the oldest that is still needed. So all sweeps but the last one write to
// rings of two planes and a row, which stay in the caches. All rings have their new row at the same
// slot, and what the next sweep reads at the same slots before it.
//
// Sweep l needs sweep l - 1 on one plane more on both sides. Such planes, sweeps - 1 - l on both
// sides of the own ones, are computed by their owner too. Along a periodic axis they go around it.

#define FIELD_PARAMETERS __global const real* restrict u
#define FIELD u
#define FIELD_PACK(row, t) PACK_OF(u, t)
#define FIELD_ELEMENT(row, column) u[column]
#define PACK_OF(row, t) (((__global const pack*)(row))[t])
#include "grid/walk.clh"

#ifdef PLANES
#define WALL_PLANES WALL_Z
#else
#define WALL_PLANES WALL_Y
#endif

// What a sweep reads, x or the ring of the sweep before it, and the row at work.
typedef struct {
  __global const real* u;
  size_t pitch;
  int rows, own;
} source_of;

// The rows that make one row of a sweep.
typedef struct {
  __global const real *own, *north, *south, *above, *below, *b;
  __global real* to;
} row_of;

// 1 / diagonal in the first texel of a row, in the last one and in those between. They are the same
// in all rows that the walls take as much from.
typedef struct {
  int taken;
  pack first, between, last;
} inverses_of;

// As inverse_diagonal() of grid/walk.clh, for all columns at once.
IN_REGISTERS pack inverse_in_texel(const grid_of* g, walk_of* w, int t) {
  w->t = t;
  if (!has_walls(g, w)) return g->inverse;
  const real others = g->y.c * walls_take(&g->y, w->y) + g->z.c * walls_take(&g->z, w->z);
  const pack along = merged(t, g->at_west, g->at_west + 1, (pack)1, (pack)0) +
                     merged(t, g->at_east, g->at_east + 1, (pack)1, (pack)0);
  return 1 / (g->diagonal - others - g->cx * TAKES(WALL_X) * along);
}

IN_REGISTERS void know_inverses(const grid_of* g, walk_of* w, inverses_of* inverses) {
  const int taken = 8 * walls_take(&g->y, w->y) + walls_take(&g->z, w->z);
  if (taken == inverses->taken) return;
  inverses->taken = taken;
  inverses->first = inverse_in_texel(g, w, 0);
  inverses->between = inverse_in_texel(g, w, 1);
  inverses->last = inverse_in_texel(g, w, g->last);
}

// The row `step` on from the own one; zeros for step 0.
IN_REGISTERS __global const real* row_beside(const source_of* s, int step,
                                             __global const real* zeros) {
  int row = s->own + step;
  if (row < 0) row += s->rows;
  if (row >= s->rows) row -= s->rows;
  return step == 0 ? zeros : s->u + (size_t)row * s->pitch;
}

// Along the axis of the planes the neighbours are one plane away even where it is periodic.
IN_REGISTERS void find_neighbours(const grid_of* g, const source_of* s, int y, int z,
                                  __global const real* zeros, row_of* r) {
#ifdef PLANES
  const int up = rows_to(&g->z, z, -1) == 0 ? 0 : -g->ahead;
  const int down = rows_to(&g->z, z, 1) == 0 ? 0 : g->ahead;
  r->above = row_beside(s, up, zeros);
  r->below = row_beside(s, down, zeros);
  const int north = rows_to(&g->y, y, -1), south = rows_to(&g->y, y, 1);
#else
  const int north = rows_to(&g->y, y, -1) == 0 ? 0 : -1;
  const int south = rows_to(&g->y, y, 1) == 0 ? 0 : 1;
#endif
  r->own = s->u + (size_t)s->own * s->pitch;
  r->north = row_beside(s, north, zeros);
  r->south = row_beside(s, south, zeros);
}

// As jacobi() with neighbours() of grid/walk.clh.
IN_REGISTERS pack sweep_texel(const grid_of* g, const row_of* r, int t, pack inverse, pack before,
                              pack own, pack next) {
  pack sum = g->cx * (WEST(LAST_OF(before), own) + EAST(own, next.s0));
#ifdef PLANES
  sum += g->z.c * (PACK_OF(r->above, t) + PACK_OF(r->below, t));
#endif
  sum = sum + g->y.c * (PACK_OF(r->north, t) + PACK_OF(r->south, t));
  return inverse * (PACK_OF(r->b, t) + sum);
}

// Asks for a row that is needed soon.
IN_REGISTERS void fetch_row(const grid_of* g, __global const real* row) {
  for (int t = 0; t <= g->last; ++t) FETCH_AHEAD(row + t * PACK);
}

IN_REGISTERS void sweep_row(const grid_of* g, const row_of* r, const inverses_of* inverses) {
  const int last = g->last;
  const pack end = field_in_row(r->own, g, 0, last), beyond = field_in_row(r->own, g, 0, last + 1);
  pack before = WALL_X == PERIODIC ? (pack)r->own[g->nx - 1] : (pack)0;
  pack own = last > 0 ? PACK_OF(r->own, 0) : end;
  pack inverse = inverses->first;
  for (int t = 0; t < last; ++t) {
    const pack next = t + 1 < last ? PACK_OF(r->own, t + 1) : end;
    ((__global pack*)r->to)[t] = sweep_texel(g, r, t, inverse, before, own, next);
    inverse = inverses->between;
    before = own;
    own = next;
  }
  const pack value = sweep_texel(g, r, last, inverses->last, before, own, beyond);
  ((__global pack*)r->to)[last] = within(last, g->nx, value, 0);
}

// room: for each work-item a row of zeros and sweeps - 1 rings, with rows as long as those of b.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void jacobi_sweeps(
    SOURCE(x), SOURCE(b), TARGET(x_new), __global real* restrict room, int sweeps, int share,
    GRID) {
  const grid_of g = grid_from(sizes, coefficients, inverse);
  const bool is_periodic = WALL_PLANES == PERIODIC;
  const int rows = g.ahead, planes = g.y.count * g.z.count / rows, slots = 2 * rows + 1;
  const int begin = get_global_id(0) * share, end = min(begin + share, planes);
  const size_t ring_size = (size_t)slots * b_pitch;
  __global real* zeros = room + get_global_id(0) * (b_pitch + (sweeps - 1) * ring_size);
  __global real* rings = zeros + b_pitch;
  for (int t = 0; t <= g.last; ++t) ((__global pack*)zeros)[t] = 0;
  const int first = begin - (sweeps - 1), soon = 1 + 64 / (g.last + 1);
  inverses_of inverses;
  inverses.taken = INT_MAX;
  int slot = 0;
  for (int p = is_periodic ? first : max(first, 0); p < end + sweeps - 1; ++p) {
    for (int a = 0; a < rows; ++a) {
      for (int l = 0; l < sweeps; ++l) {
        const int plane = p - l, more = sweeps - 1 - l;
        if (plane < begin - more || plane >= end + more) continue;
        if (!is_periodic && (plane < 0 || plane >= planes)) continue;
        const int at = is_periodic ? (plane % planes + planes) % planes : plane;
        walk_of w;
        w.row = at * rows + a;
#ifdef PLANES
        w.y = a;
        w.z = at;
#else
        w.y = at;
        w.z = 0;
#endif
        const source_of whole = {x, x_pitch, planes * rows, w.row};
        const source_of ring = {rings + (l - 1) * ring_size, b_pitch, slots,
                                slot < rows ? slot + rows + 1 : slot - rows};
        row_of r;
        find_neighbours(&g, l == 0 ? &whole : &ring, w.y, w.z, zeros, &r);
        r.b = b + (size_t)w.row * b_pitch;
        r.to = more == 0 ? x_new + (size_t)w.row * x_new_pitch
                         : rings + l * ring_size + (size_t)slot * b_pitch;
        if (l == 0) fetch_row(&g, PLACE(x, w.row + rows + soon, 0));
        if (l == 0) fetch_row(&g, r.b + (size_t)soon * b_pitch);
        if (more == 0) fetch_row(&g, r.to + (size_t)soon * x_new_pitch);
        know_inverses(&g, &w, &inverses);
        sweep_row(&g, &r, &inverses);
      }
      slot = slot + 1 == slots ? 0 : slot + 1;
    }
  }
}
