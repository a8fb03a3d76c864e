// The Gauss-Seidel method on a sparse matrix whose unknowns are ordered by colours: no row of a
// colour refers to another row of it. d: the inverse diagonal of A.

#include "sparse/sell.clh"

#define TEXELS_OF_ROW ((1 << shift) / PACK)

#ifndef LUGPU_IMAGE
// Element c of texel `number` of A x.
inline real element_of_product(SOURCE(x), SELL, int number, int c, int shift) {
  const int end = begins[SLICE_OF(number) + 1];
  real value = 0;
  for (int k = begins[SLICE_OF(number)]; k < end; ++k) {
    const int start = starts[k];
    const int place = start >= 0 ? start + number % LANES * PACK + c
                                 : places[SLOT_OF(number, -1 - start) * PACK + c];
    value += ((__global const real*)(values + SLOT_OF(number, k)))[c] *
             element_at(PASS(x), sums, place, shift);
  }
  return value;
}
#endif

// x += d (b - A x) in the rows first : end, all of one colour. In buffers in place: where a texel
// belongs to other colours too, element by element, so that nobody reads what another work-item
// writes. With images the texels go to x_new, and copy_texels() brings them back.
__kernel WORK_GROUP void relax_colour(UPDATED(x), SOURCE(b), SOURCE(d), SELL, int first, int end,
                                      int shift) {
  const int number = first / PACK + (int)get_group_id(0) * GROUP + MY_LANE;
  if (number * PACK >= end) return;
  const int i = number / TEXELS_OF_ROW, t = number % TEXELS_OF_ROW;
#ifndef LUGPU_IMAGE
  if (number * PACK < first || (number + 1) * PACK > end) {
    for (int c = 0; c < PACK; ++c) {
      const int j = t * PACK + c, element = number * PACK + c;
      if (element < first || element >= end) continue;
      const real residual =
          LOAD(b, i, j) - element_of_product(PASS(x), PASS_SELL, number, c, shift);
      x_new[(size_t)i * x_new_pitch + j] = LOAD(x, i, j) + LOAD(d, i, j) * residual;
    }
    return;
  }
#endif
  const pack own = LOAD_PACK(x, i, t);
  const pack residual = LOAD_PACK(b, i, t) - texel_of_product(PASS(x), PASS_SELL, number, shift);
  const pack value = own + LOAD_PACK(d, i, t) * residual;
#ifdef LUGPU_IMAGE
  STORE_PACK(x_new, i, t, merged(number, first, end, value, own));
#else
  STORE_PACK(x_new, i, t, value);
#endif
}

// target = source in the texels of the elements first : end.
__kernel WORK_GROUP void copy_texels(SOURCE(source), TARGET(target), int first, int end,
                                     int shift) {
  const int number = first / PACK + (int)get_group_id(0) * GROUP + MY_LANE;
  if (number * PACK >= end) return;
  const int i = number / TEXELS_OF_ROW, t = number % TEXELS_OF_ROW;
  STORE_PACK(target, i, t, LOAD_PACK(source, i, t));
}
