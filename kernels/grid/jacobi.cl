// One sweep of Jacobi's method: x_new = x + (b - A x) / diagonal, and on request the partial sums
// of the squares of b - A x.

#define FIELD_PARAMETERS SOURCE(x)
#define FIELD PASS(x)
#define FIELD_PACK(row, t) LOAD_PACK(x, row, t)
#define FIELD_ELEMENT(row, column) LOAD(x, row, column)
#define FIELD_VECTOR(row, column) VECTOR_LOAD(PLACE(x, row, column))
#include "grid/stencil.clh"

__kernel WORK_GROUP void jacobi(SOURCE(x), SOURCE(b), TARGET(x_new),
                                __global real* restrict rr_partials, GRID, int walk) {
  __local real scratch[GROUP];
  const grid_of g = grid_from(sizes, walls, coefficients);
  const int t = get_global_id(0);
  place_of at = place_of_row(&g, MY_FIRST_ROW);
  pack square = 0;
  for (int w = 0; w < walk; ++w) {
    const int i = at.row;
    if (at.z < g.nz && t * PACK < g.nx) {
      FETCH(x, i + 2, t);
      FETCH(b, i + 1, t);
      const pack own = LOAD_PACK(x, i, t);
      const pack residual =
          within(t, g.nx, LOAD_PACK(b, i, t) - stencil(FIELD, &g, &at, t, own), 0);
      real factors[PACK];
      for (int c = 0; c < PACK; ++c) factors[c] = 1 / diagonal_of(&g, t * PACK + c, at.y, at.z);
      STORE_PACK(x_new, i, t, own + pack_of(factors) * residual);
      square += residual * residual;
    }
    next_row(&g, &at);
    IN_STEP;
  }
  const real sum = sum_of_group(sum_of_pack(square), scratch);
  if (MY_LANE == 0) rr_partials[MY_GROUP] = sum;
}
