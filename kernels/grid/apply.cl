// result = A x OPERATOR y for the matrix of a grid ("A x op y" of Krueger and Westermann,
// section 3.2); A x without the build option OPERATOR.

#define FIELD_PARAMETERS SOURCE(x)
#define FIELD PASS(x)
#define FIELD_PACK(row, t) LOAD_PACK(x, row, t)
#define FIELD_ELEMENT(row, column) LOAD(x, row, column)
#define FIELD_VECTOR(row, column) VECTOR_LOAD(PLACE(x, row, column))
#include "grid/stencil.clh"

__kernel WORK_GROUP void apply(SOURCE(x), SOURCE(y), TARGET(result), GRID, int walk) {
  const grid_of g = grid_from(sizes, walls, coefficients);
  const int t = get_global_id(0);
  place_of at = place_of_row(&g, MY_FIRST_ROW);
  for (int w = 0; w < walk; ++w) {
    const int i = at.row;
    if (at.z < g.nz && t * PACK < g.nx) {
      FETCH(x, i + 2, t);
      pack value = stencil(FIELD, &g, &at, t, LOAD_PACK(x, i, t));
#ifdef OPERATOR
      value = value OPERATOR LOAD_PACK(y, i, t);
#endif
      STORE_PACK(result, i, t, within(t, g.nx, value, 0));
    }
    next_row(&g, &at);
    IN_STEP;
  }
}
