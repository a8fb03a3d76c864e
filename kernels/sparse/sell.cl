// result = A x OPERATOR y for a sparse matrix ("A x op y" of Krueger and Westermann, section 3.2);
// A x without the build option OPERATOR.
//
// A is stored as sliced ELLPACK (SELL-C-sigma of Kreutzer et al., 2014, with rows in their order):
// a slice has as many slots as its longest row has entries, slots begins(slice) : begins(slice +
// 1). The entry of value v and place p >= 0 adds v x(p): p is the flat place in the buffer of x,
// whose rows are x_pitch apart, or row p >> shift of an image. The place -1 - s stands for sums(s):
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

// What PACK places stand for.
inline pack gathered(SOURCE(x), __global const real* restrict sums,
                     __global const int* restrict places, int shift) {
#ifdef LUGPU_WIDE
  // Where neighbouring rows look alike, as in matrices of grids, the places follow one another.
  typedef JOINED(int, VECTOR) vec_int;
  const int one_to_sixteen[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const vec_int in_line = places[0] + VECTOR_LOAD(one_to_sixteen);
  if (places[0] >= 0 && all(VECTOR_LOAD(places) == in_line)) return VECTOR_LOAD(x + places[0]);
#endif
  real elements[PACK];
#pragma unroll
  for (int c = 0; c < PACK; ++c) elements[c] = element_at(PASS(x), sums, places[c], shift);
  return pack_of(elements);
}

__kernel WORK_GROUP void apply(
    SOURCE(x), SOURCE(y), TARGET(result), __global const int* restrict begins,
    __global const pack* restrict values, __global const int* restrict places,
    __global const real* restrict sums, int rows, int shift, int walk) {
  const int t = get_global_id(0);
  const int first = MY_FIRST_ROW;
  for (int i = first; i < first + walk; ++i) {
    if (i < rows && t * PACK < 1 << shift) {
      const int number = TEXEL_NUMBER(i, t);
      const int end = begins[SLICE_OF(number) + 1];
      pack value = 0;
      for (int k = begins[SLICE_OF(number)]; k < end; ++k) {
        const size_t slot = SLOT_OF(number, k);
        value += values[slot] * gathered(PASS(x), sums, places + slot * PACK, shift);
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
