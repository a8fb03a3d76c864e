// Half a sweep of the Gauss-Seidel method: x += (b - A x) / diagonal at the points of one colour,
// whose neighbours all have the other. Point (x, y, z) has colour (x + y + z) mod 2.

#define FIELD_PARAMETERS OLD(x)
#define FIELD PASS(x)
#define FIELD_PACK(row, t) LOAD_PACK(x, row, t)
#define FIELD_ELEMENT(row, column) LOAD(x, row, column)
#define FIELD_VECTOR(row, column) VECTOR_LOAD(PLACE(x, row, column))
#include "grid/stencil.clh"

// Where texels have both colours, or those of the other colour are copied to another surface: 1 for
// the elements of a texel at even places, 0 for the others.
#if PACK > 1 || defined(LUGPU_IMAGE)
#define BOTH_COLOURS
inline pack even_places(void) {
  real elements[PACK];
  for (int c = 0; c < PACK; ++c) elements[c] = (c + 1) % 2;
  return pack_of(elements);
}
#endif

__kernel WORK_GROUP void red_black(UPDATED(x), SOURCE(b), int colour, GRID, int walk) {
  const grid_of g = grid_from(sizes, walls, coefficients);
  const int t = get_global_id(0);
  place_of at = place_of_row(&g, MY_FIRST_ROW);
#ifdef BOTH_COLOURS
  const pack even = even_places();
#endif
  for (int w = 0; w < walk; ++w) {
    const int i = at.row;
    bool takes_part = at.z < g.nz && t * PACK < g.nx;
    const bool from_even = ((t * PACK + at.y + at.z + colour) & 1) == 0;
#ifndef BOTH_COLOURS
    takes_part = takes_part && from_even;
#endif
    if (takes_part) {
      FETCH(x, i + 2, t);
      FETCH(b, i + 1, t);
      const pack own = LOAD_PACK(x, i, t);
      const pack residual = LOAD_PACK(b, i, t) - stencil(FIELD, &g, &at, t, own);
      pack change = inverse_diagonal(&g, &at, t) * residual;
#ifdef BOTH_COLOURS
      change *= from_even ? even : 1 - even;
#endif
      STORE_PACK(x_new, i, t, within(t, g.nx, own + change, 0));
    }
    next_row(&g, &at);
    IN_STEP;
  }
}
