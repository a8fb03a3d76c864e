// result = A x OPERATOR y for a sparse matrix ("A x op y" of Krueger and Westermann, section 3.2);
// A x without the build option OPERATOR.

#include "sparse/sell.clh"
#include "common/curvature.clh"

__kernel WORK_GROUP void apply(SOURCE(x), SOURCE(y), TARGET(result), SELL, int rows, int shift,
                               int walk CURVATURE_PARAMETERS) {
  BEGIN_CURVATURE
  const int t = get_global_id(0);
  for (int w = 0; w < walk; ++w) {
    const int i = MY_ROW(w);
    if (i < rows && t * PACK < 1 << shift) {
      const int number = TEXEL_NUMBER(i, t);
      FETCH(x, i + 2, t);
      pack value = texel_of_product(PASS(x), PASS_SELL, number, shift);
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
