// result = A x OPERATOR y for a sparse matrix ("A x op y" of Krueger and Westermann, section 3.2);
// A x without the build option OPERATOR.
//
// A is stored as sliced ELLPACK (SELL-C-sigma of Kreutzer et al., 2014, with rows in their order):
// a slice has as many slots as its longest row has entries, slots begins(slice) : begins(slice +
// 1). Where neighbouring rows look alike, as in matrices of grids, the entries of a slot follow one
// another in x, from place starts(slot) >= 0 on; the others have places of their own, slot
// -1 - starts(slot) of `places`. Place p >= 0 is the flat one in the buffer of x, whose rows are
// x_pitch apart, or is in row p >> shift of an image. The place -1 - s stands for sums(s):
//   sums(0) = 0 pads rows that are shorter, so that no element of x is read for them;
//   the others are parts of long rows, with the value 1.

#include "sparse/slices.clh"

// What place p stands for.
inline real element_at(SOURCE(x), __global const real* restrict sums, int p, int shift) {
#ifdef LUGPU_IMAGE
  return p < 0 ? sums[-1 - p] : LOAD(x, p >> shift, p & ((1 << shift) - 1));
#else
  return *(p < 0 ? sums + (-1 - p) : x + p);
#endif
}

// x(p(0)), x(p(1)) and so on; written out, since compilers take arrays of doubles through memory.
#define GATHER_2(x, p) x[(p)[0]], x[(p)[1]]
#define GATHER_4(x, p) GATHER_2(x, p), GATHER_2(x, (p) + 2)
#define GATHER_8(x, p) GATHER_4(x, p), GATHER_4(x, (p) + 4)
#define GATHER_16(x, p) GATHER_8(x, p), GATHER_8(x, (p) + 8)

// What PACK places stand for: those listed, and those from p on.
inline pack gathered(SOURCE(x), __global const real* restrict sums,
                     __global const int* restrict places, int shift) {
  real elements[PACK];
#ifdef LUGPU_WIDE
  // All of x, as mostly, which takes no selection for each.
  int signs = 0;
#pragma unroll
  for (int c = 0; c < PACK; ++c) signs |= places[c];
  if (signs >= 0) return (pack)(JOINED(GATHER_, VECTOR)(x, places));
#endif
#pragma unroll
  for (int c = 0; c < PACK; ++c) elements[c] = element_at(PASS(x), sums, places[c], shift);
  return pack_of(elements);
}
inline pack in_line(SOURCE(x), __global const real* restrict sums, int p, int shift) {
#ifdef LUGPU_WIDE
  return VECTOR_LOAD(x + p);
#else
  real elements[PACK];
  for (int c = 0; c < PACK; ++c) elements[c] = element_at(PASS(x), sums, p + c, shift);
  return pack_of(elements);
#endif
}

// What the places of a texel in a slot stand for.
inline pack elements_at(SOURCE(x), __global const real* restrict sums,
                        __global const int* restrict places, int start, int number, int shift) {
  if (start >= 0) return in_line(PASS(x), sums, start + number % LANES * PACK, shift);
  __global const int* mine = places + SLOT_OF(number, -1 - start) * PACK;
  FETCH_LATER(mine);
  return gathered(PASS(x), sums, mine, shift);
}

__kernel WORK_GROUP void apply(
    SOURCE(x), SOURCE(y), TARGET(result), __global const int* restrict begins,
    __global const int* restrict starts, __global const pack* restrict values,
    __global const int* restrict places, __global const real* restrict sums, int rows, int shift,
    int walk) {
  const int t = get_global_id(0);
  const int first = MY_FIRST_ROW;
  for (int i = first; i < first + walk; ++i) {
    if (i < rows && t * PACK < 1 << shift) {
      const int number = TEXEL_NUMBER(i, t);
      const int end = begins[SLICE_OF(number) + 1];
      pack value = 0;
      FETCH(x, i + 2, t);
      for (int k = begins[SLICE_OF(number)]; k < end; ++k) {
        __global const pack* mine = values + SLOT_OF(number, k);
        FETCH_LATER(mine);
        value += *mine * elements_at(PASS(x), sums, places, starts[k], number, shift);
      }
#ifdef OPERATOR
      value = value OPERATOR LOAD_PACK(y, i, t);
#endif
      STORE_PACK(result, i, t, value);
    }
    IN_STEP;
  }
}

// sums(1 + part) = the entries begins(part) : begins(part + 1) of long rows, times x; a work-group
// for each part
__kernel WORK_GROUP void sum_parts(
    SOURCE(x), __global const int* restrict begins, __global const real* restrict values,
    __global const int* restrict places, __global real* sums, int shift) {
  __local real scratch[GROUP];
  const int part = get_group_id(0);
  const int begin = begins[part], end = begins[part + 1];
#ifdef LUGPU_CPU
  const int share = (end - begin + GROUP - 1) / GROUP, step = 1;
  const int first = begin + MY_LANE * share, stop = min(first + share, end);
#else
  const int step = GROUP, first = begin + MY_LANE, stop = end;
#endif
  real mine = 0;
  for (int k = first; k < stop; k += step) {
    mine += values[k] * element_at(PASS(x), sums, places[k], shift);
  }
  const real sum = sum_of_group(mine, scratch);
  if (MY_LANE == 0) sums[1 + part] = sum;
}
