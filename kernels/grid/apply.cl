// result = A x OPERATOR y for the matrix of a grid ("A x op y" of Krueger and Westermann,
// section 3.2); A x without the build option OPERATOR.

#define FIELD_PARAMETERS SOURCE(x)
#define FIELD PASS(x)
#define FIELD_PACK(row, t) LOAD_PACK(x, row, t)
#define FIELD_ELEMENT(row, column) LOAD(x, row, column)
#include "grid/walk.clh"

__kernel WORK_GROUP void apply(SOURCE(x), SOURCE(y), TARGET(result), GRID) {
  const grid_of g = grid_from(sizes, coefficients, inverse);
  walk_of w = walk_over(FIELD, &g);
  while (w.row >= 0) {
    FETCH(x, w.row + g.ahead + w.soon, w.t);
#ifdef OPERATOR
    FETCH(y, w.row + w.soon, w.t);
#endif
    pack value = product(FIELD, &g, &w);
#ifdef OPERATOR
    value = value OPERATOR LOAD_PACK(y, w.row, w.t);
#endif
    STORE_PACK(result, w.row, w.t, within(w.t, g.nx, value, 0));
    step(FIELD, &g, &w);
  }
}
