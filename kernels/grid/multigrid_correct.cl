// The correction of the coarse cells, added to the cells that they are made of, and a step of
// Jacobi's method: v = u + e(coarse);  z = v + weight inv(D) (r - A v).
//
// Build options: HALVE_X, OFFSET_X, the grid's sx and ox.

#define FIELD_PARAMETERS __global const real *restrict u, __global const real *restrict e
#define FIELD u, e
#define FIELD_VECTOR(row, column) \
  (LOAD_FROM(u + (row).at + (column)) + spread(e + (row).coarse, (column) + OFFSET_X, HALVE_X))
#define FIELD_ELEMENT(row, column) \
  (u[(row).at + (column)] + e[(row).coarse + (((column) + OFFSET_X) >> HALVE_X)])

#if PACK == 16
#define TWICE(v) (v).s0011223344556677
#define TWICE_LATER(v) (v).s0112233445566778
#elif PACK == 8
#define TWICE(v) (v).s00112233
#define TWICE_LATER(v) (v).s01122334
#elif PACK == 4
#define TWICE(v) (v).s0011
#define TWICE_LATER(v) (v).s0112
#elif PACK == 2
#define TWICE(v) (v).s00
#define TWICE_LATER(v) (v).s01
#endif

// The elements of e for PACK columns from `column` on, two columns each if `halve` is 1.
inline pack spread(__global const real* restrict e, int column, int halve) {
#ifdef LUGPU_WIDE
  const pack elements = VECTOR_LOAD(e + (column >> halve));
  return !halve ? elements : column & 1 ? TWICE_LATER(elements) : TWICE(elements);
#else
  return e[column >> halve];
#endif
}
#include "grid/cells.clh"

__kernel WORK_GROUP void correct(
    __global const real* restrict r, __global const real* restrict u,
    __global const real* restrict e, __global real* restrict z, real weight, CELLS, int walk) {
  const cells_of g = CELLS_HERE;
  const int j = get_global_id(0) * PACK;
  for (int w = 0; w < walk; ++w) {
    const place_of at = place_of_row(MY_ROW(w), g.ny);
    if (at.z < g.nz && j < g.nx) {
      const row_of row = row_at(&g, at.y, at.z);
      FETCH_FIELD(r, row.at + j + 2 * (size_t)g.pitch);
      FETCH_FIELD(u, row.at + j + 3 * (size_t)g.pitch);
      const pack inverse = INVERSE_DIAGONAL(row.at + j);
#ifdef UNIFORM
      const pack own = FIELD_VECTOR(row, j);
#else  // what has no equation takes no correction
      const pack own = inverse != 0 ? FIELD_VECTOR(row, j) : LOAD_FROM(u + row.at + j);
#endif
      const pack change = inverse * (LOAD_FROM(r + row.at + j) - PRODUCT(at.y, at.z, j, own));
      STORE_TO(in_columns(j, g.nx, own + weight * change), z + row.at + j);
    }
    IN_STEP;
  }
}
