// One sweep of Jacobi's method: x_new = x + (b - A x) / diagonal.

#define FIELD_PARAMETERS SOURCE(x)
#define FIELD PASS(x)
#define FIELD_PACK(row, t) LOAD_PACK(x, row, t)
#define FIELD_ELEMENT(row, column) LOAD(x, row, column)
#define FIELD_VECTOR(row, column) VECTOR_LOAD(PLACE(x, row, column))
#include "grid/stencil.clh"

__kernel WORK_GROUP void jacobi(SOURCE(x), SOURCE(b), TARGET(x_new), GRID, int walk) {
  const grid_of g = grid_from(sizes, walls, coefficients);
  const int t = get_global_id(0);
  place_of at = place_of_row(&g, MY_FIRST_ROW);
  for (int w = 0; w < walk; ++w) {
    const int i = at.row;
    if (at.z < g.nz && t * PACK < g.nx) {
      FETCH(x, i + 2, t);
      FETCH(b, i + 1, t);
      const pack own = LOAD_PACK(x, i, t);
      const pack residual = LOAD_PACK(b, i, t) - stencil(FIELD, &g, &at, t, own);
      const pack value = own + inverse_diagonal(&g, &at, t) * residual;
      STORE_PACK(x_new, i, t, within(t, g.nx, value, 0));
    }
    next_row(&g, &at);
    IN_STEP;
  }
}
