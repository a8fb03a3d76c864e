// result = A x OPERATOR y for the matrix of a grid with a conductivity k; A x without the build
// option OPERATOR; 1 / the diagonal of A with DIAGONAL, 0 for a zero. With the links c 2 k(i) k(j)
// / (k(i) + k(j)) of neighbours i and j
//   (A x)(i) = shift x(i) + sum over the neighbours of link(i, j) (x(i) - x(j)),
// where beyond a Dirichlet wall stands x = 0, or -x if it is half a step away, and the same k; an
// obstacle, k = 0, has the row of the identity if the shift is 0.

#include "common/vectors.clh"
#include "grid/between.clh"

#define DIRICHLET 0
#define PERIODIC 2
#define DIRICHLET_HALF 3

// After `at` among 0 : count (step 1), or before it (step -1); -1 beyond a wall.
inline int beside(int at, int count, int step, int wall) {
  const int next = at + step;
  if (next >= 0 && next < count) return next;
  return wall == PERIODIC ? count - 1 - at : -1;
}

// What is beside texel t of a row along x, which is `own`; `beyond` the walls.
inline pack beside_in_row(SOURCE(s), int row, int t, int columns, int step, int wall, pack own,
                          pack beyond) {
  const int first = t * PACK;
#ifdef LUGPU_WIDE
  if (first > 0 && first + PACK < columns) return VECTOR_LOAD(PLACE(s, row, first + step));
#endif
  real elements[PACK];
  for (int c = 0; c < PACK; ++c) {
    const int next = beside(min(first + c, columns - 1), columns, step, wall);
    const bool in_texel = next >= first && next < first + PACK;
    elements[c] = next < 0   ? element_of(beyond, c)
                  : in_texel ? element_of(own, next - first)
                             : LOAD(s, row, next);
  }
  return pack_of(elements);
}

// What the neighbours in both directions along y or z add, those rows that are `stride` apart.
inline pack terms_across(SOURCE(x), SOURCE(k), int row, int t, int at, int count, int stride,
                         int wall, pack own, pack own_k) {
  pack sum = 0;
  for (int step = -1; step <= 1; step += 2) {
    const int next = beside(at, count, step, wall);
    if (next >= 0) {
      const int other = row + (next - at) * stride;
      sum += between(own_k, LOAD_PACK(k, other, t)) * (own - LOAD_PACK(x, other, t));
    } else if (wall == DIRICHLET || wall == DIRICHLET_HALF) {
      sum += (wall == DIRICHLET ? 1 : 2) * own_k * own;
    }
  }
  return sum;
}

// DIAGONAL: x is zeros, and y the factor of every element.
__kernel WORK_GROUP void apply(SOURCE(x), SOURCE(y), TARGET(result), SOURCE(k), int4 sizes,
                               int4 walls, real4 coefficients, int walk) {
  const int nx = sizes.x, ny = sizes.y, nz = sizes.z;
  const real shift = coefficients.w;
  const int t = get_global_id(0);
  for (int w = 0; w < walk; ++w) {
    const int i = MY_ROW(w);
    if (i < ny * nz && t * PACK < nx) {
      FETCH(x, i + 2, t);
      FETCH(k, i + 2, t);
      const pack here = LOAD_PACK(x, i, t), own_k = LOAD_PACK(k, i, t);
#ifdef DIAGONAL
      const pack own = 1;
#else
      const pack own = here;
#endif
      const pack beyond = walls.x == DIRICHLET ? (pack)0 : walls.x == DIRICHLET_HALF ? -own : own;
      pack along = 0;
      for (int step = -1; step <= 1; step += 2) {
        const pack next_k = beside_in_row(PASS(k), i, t, nx, step, walls.x, own_k, own_k);
        const pack next = beside_in_row(PASS(x), i, t, nx, step, walls.x, here, beyond);
        along += between(own_k, next_k) * (own - next);
      }
      pack value = shift == 0 ? (own_k == 0 ? own : (pack)0) : shift * own;
      value += coefficients.x * along;
      value +=
          coefficients.y * terms_across(PASS(x), PASS(k), i, t, i % ny, ny, 1, walls.y, own, own_k);
      value += coefficients.z *
               terms_across(PASS(x), PASS(k), i, t, i / ny, nz, ny, walls.z, own, own_k);
#ifdef DIAGONAL
      value = value > 0 ? LOAD_PACK(y, i, t) / value : (pack)0;
#endif
#ifdef OPERATOR
      value = value OPERATOR LOAD_PACK(y, i, t);
#endif
      STORE_PACK(result, i, t, within(t, nx, value, 0));
    }
    IN_STEP;
  }
}
