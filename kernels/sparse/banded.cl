// result = A x OPERATOR y for a matrix of few diagonals, each stored as a vector ("Linear Algebra
// Operators for GPU Implementation of Numerical Algorithms", sections 2 and 4.1); A x without the
// build option OPERATOR. In slice s, diagonal d is slot s * diagonals + d; its entries are
// a(i, i + offsets(d)). An element that is not an entry of A is stored as -0: it must not meet a
// NaN of x. Zeros that are entries are +0.

#include "sparse/slices.clh"
#include "common/curvature.clh"

#ifdef LUGPU_WIDE
#ifdef LUGPU_DOUBLE
typedef JOINED(long, VECTOR) pack_bits;
#define AS_PACK_BITS(x) JOINED(as_long, VECTOR)(x)
#else
typedef JOINED(int, VECTOR) pack_bits;
#define AS_PACK_BITS(x) JOINED(as_int, VECTOR)(x)
#endif
#endif

// x(j : j + PACK), zero outside 0 : n.
inline pack elements_from(SOURCE(x), int j, int n, int shift) {
  const int columns = 1 << shift;
#ifdef LUGPU_WIDE
  const int column = j & (columns - 1);
  if (j >= 0 && j + PACK <= n && column + PACK <= columns)
    return VECTOR_LOAD(PLACE(x, j >> shift, column));
#endif
  real elements[PACK];
  for (int c = 0; c < PACK; ++c) {
    const int at = j + c;
    elements[c] = at >= 0 && at < n ? LOAD(x, at >> shift, at & (columns - 1)) : 0;
  }
  return pack_of(elements);
}

__kernel WORK_GROUP void apply(
    SOURCE(x), SOURCE(y), TARGET(result), __global const pack* restrict values,
    __global const int* restrict offsets, int diagonals, int n, int rows, int shift,
    int walk CURVATURE_PARAMETERS) {
  BEGIN_CURVATURE
  const pack_bits absent = AS_PACK_BITS((pack)(real)(-0.0f));
  const int t = get_global_id(0);
  for (int w = 0; w < walk; ++w) {
    const int i = MY_ROW(w);
    if (i < rows && t * PACK < 1 << shift) {
      const int number = TEXEL_NUMBER(i, t);
      pack value = 0;
      FETCH(x, i + 2, t);
      for (int d = 0; d < diagonals; ++d) {
        __global const pack* mine = values + SLOT_OF(number, SLICE_OF(number) * diagonals + d);
        FETCH_LATER(mine);
        const pack a = *mine;
        const pack b = elements_from(PASS(x), number * PACK + offsets[d], n, shift);
        value += a * (AS_PACK_BITS(a) == absent ? (pack)0 : b);
      }
#ifdef OPERATOR
      value = value OPERATOR LOAD_PACK(y, i, t);
#endif
      STORE_PACK(result, i, t, value);
      ADD_CURVATURE(LOAD_PACK(x, i, t), value);
    }
    IN_STEP;
  }
  END_CURVATURE
}
