// Two steps of Jacobi's method from zero, with weights v and w:
//   z = (v + w) q - v w inv(D) A q,  q = inv(D) r.

#define FIELD_PARAMETERS __global const real *restrict r, __global const real *restrict inverse_d
#define FIELD r, inverse_d
#ifdef UNIFORM
#define FIELD_VECTOR(row, column) LOAD_FROM(r + (row).at + (column))
#define FIELD_ELEMENT(row, column) r[(row).at + (column)]
#else
#define FIELD_VECTOR(row, column) \
  (LOAD_FROM(inverse_d + (row).at + (column)) * LOAD_FROM(r + (row).at + (column)))
#define FIELD_ELEMENT(row, column) (inverse_d[(row).at + (column)] * r[(row).at + (column)])
#endif
#include "grid/cells.clh"

// sum, product: v + w and v w.
__kernel WORK_GROUP void presmooth(__global const real* restrict r, __global real* restrict z,
                                   real sum, real product, CELLS, int walk) {
  const cells_of g = CELLS_HERE;
  const int j = get_global_id(0) * PACK;
  for (int w = 0; w < walk; ++w) {
    const place_of at = place_of_row(MY_ROW(w), g.ny);
    if (at.z < g.nz && j < g.nx) {
      const row_of row = row_at(&g, at.y, at.z);
      FETCH_FIELD(r, row.at + j + 3 * (size_t)g.pitch);
      const pack own = FIELD_VECTOR(row, j);
      const pack inverse = INVERSE_DIAGONAL(row.at + j);
      const pack change = sum * own - product * inverse * PRODUCT(at.y, at.z, j, own);
#ifdef UNIFORM
      const pack value = inverse * change;
#else
      const pack value = change;
#endif
      STORE_TO(in_columns(j, g.nx, value), z + row.at + j);
    }
    IN_STEP;
  }
}
