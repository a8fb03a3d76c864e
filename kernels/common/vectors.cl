// Operations on vectors and their reductions, as in "Linear Algebra Operators for GPU
// Implementation of Numerical Algorithms" (Krueger, Westermann 2003), sections 3.1 and 3.3.
//
// Build options: those of common/vectors.clh; OPERATOR, one of + - *; REDUCTION, one of the numbers
// below.

#include "common/vectors.clh"

#ifdef OPERATOR
// What a vector is multiplied by: `factor`, times an element of `scalars` unless `place` is -1.
inline real scalar_of(real factor, __global const real* scalars, int place) {
  return place < 0 ? factor : factor * scalars[place];
}

// result = alpha x OPERATOR beta y, element by element
__kernel WORK_GROUP void combine(SOURCE(x), SOURCE(y), TARGET(result), real alpha, real beta,
                                 __global const real* restrict scalars, int alpha_place,
                                 int beta_place, int rows, int columns, int walk) {
  const real a = scalar_of(alpha, scalars, alpha_place);
  const real b = scalar_of(beta, scalars, beta_place);
  const int count = MY_ROWS(rows), end = MY_TEXELS_END(columns);
  for (int w = 0; w < count; ++w) {
    const int i = MY_ROW(w);
    for (int t = MY_FIRST_TEXEL; t < end; ++t) {
      FETCH(x, i + 1, t);
      FETCH(y, i + 1, t);
      const pack value = (a * LOAD_PACK(x, i, t)) OPERATOR(b * LOAD_PACK(y, i, t));
      STORE_PACK(result, i, t, within(t, columns, value, 0));
    }
  }
}
#endif

#ifdef REDUCTION
#define SUM 0
#define PRODUCT 1
#define LARGEST 2
#define SMALLEST 3
#define MAGNITUDE 4  // the largest
#define DOT 5

#if REDUCTION == PRODUCT
#define NEUTRAL 1
#elif REDUCTION == LARGEST
#define NEUTRAL (-INFINITY)
#elif REDUCTION == SMALLEST
#define NEUTRAL INFINITY
#else
#define NEUTRAL 0
#endif

// Of two values; a NaN stays.
inline pack joined(pack a, pack b) {
#if REDUCTION == PRODUCT
  return a * b;
#elif REDUCTION == LARGEST || REDUCTION == MAGNITUDE
  return (a > b || a != a) ? a : b;
#elif REDUCTION == SMALLEST
  return (a < b || a != a) ? a : b;
#else
  return a + b;
#endif
}
inline real joined_real(real a, real b) {
  const pack joined_packs = joined((pack)a, (pack)b);
  return element_of(joined_packs, 0);
}

// Of a work-group; work-item 0 gets it.
inline real joined_reals(real mine, __local real* scratch) {
  const int me = MY_LANE;
  barrier(CLK_LOCAL_MEM_FENCE);
  scratch[me] = mine;
  for (int stride = GROUP / 2; stride > 0; stride /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < stride) scratch[me] = joined_real(scratch[me], scratch[me + stride]);
  }
  return me == 0 ? scratch[0] : mine;
}

// Texel t of row i of what is reduced.
inline pack reduced_texel(SOURCE(x), SOURCE(y), int i, int t, int columns) {
  pack value = LOAD_PACK(x, i, t);
#if REDUCTION == DOT
  value *= LOAD_PACK(y, i, t);
#elif REDUCTION == MAGNITUDE
  value = fabs(value);
#endif
  return within(t, columns, value, NEUTRAL);
}

// The work-group's part of the reduction of x, of x times y for DOT; work-item 0 gets it.
inline real part_of_group(SOURCE(x), SOURCE(y), int rows, int columns, int walk,
                          __local real* scratch) {
  pack mine = NEUTRAL;
#ifdef LUGPU_WIDE
  const int count = MY_ROWS(rows), end = MY_TEXELS_END(columns);
  for (int w = 0; w < count; ++w) {
    const int i = MY_ROW(w);
    for (int t = MY_FIRST_TEXEL; t < end; ++t) {
      FETCH(x, i + 1, t);
#if REDUCTION == DOT
      FETCH(y, i + 1, t);
#endif
      mine = joined(mine, reduced_texel(PASS(x), PASS(y), i, t, columns));
    }
  }
#else
  // GROUP_Y work-groups side by side, where there are so many, share their rows; a work-group then
  // takes GROUP neighbouring texels of its rows, which memory is faster for.
  const int place = get_group_id(0) % GROUP_Y, block = (int)get_group_id(0) - place;
  const bool shares = block + GROUP_Y <= (int)get_num_groups(0);
  const int t = shares ? block * GROUP_X + MY_LANE : (int)get_global_id(0);
  const int first = shares ? ((int)get_group_id(1) * GROUP_Y + place) * walk : MY_ROW(0);
  const int step = shares ? 1 : GROUP_Y;
  const int count = t < TEXELS(columns) ? min(walk, (rows - first + step - 1) / step) : 0;
#pragma unroll 8
  for (int w = 0; w < count; ++w)
    mine = joined(mine, reduced_texel(PASS(x), PASS(y), first + w * step, t, columns));
#endif
  real all_of_pack = element_of(mine, 0);
  for (int c = 1; c < PACK; ++c) all_of_pack = joined_real(all_of_pack, element_of(mine, c));
  return joined_reals(all_of_pack, scratch);
}

// partials(group) = the work-group's part
__kernel WORK_GROUP void reduce_groups(SOURCE(x), SOURCE(y), __global real* restrict partials,
                                       int rows, int columns, int walk) {
  __local real scratch[GROUP];
  const real part = part_of_group(PASS(x), PASS(y), rows, columns, walk, scratch);
  if (MY_LANE == 0) partials[MY_GROUP] = part;
}

// Memory in order for all work-groups; NVIDIA's mem_fence() is for those of one only.
#ifdef __NV_CL_C_VERSION
#define FENCE_FOR_ALL asm volatile("membar.gl;" ::: "memory")
#else
#define FENCE_FOR_ALL mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

// scalars(place) = the reduction. The work-group that is the last to count itself in `arrived`,
// which is 0 before and after, finds the parts of all others.
__kernel WORK_GROUP void reduce(SOURCE(x), SOURCE(y), __global volatile real* partials,
                                __global volatile int* arrived, __global real* scalars, int place,
                                int rows, int columns, int walk) {
  __local real scratch[GROUP];
  __local int is_last;
  const int groups = get_num_groups(0) * get_num_groups(1);
  const real part = part_of_group(PASS(x), PASS(y), rows, columns, walk, scratch);
  if (MY_LANE == 0) {
    partials[MY_GROUP] = part;
    FENCE_FOR_ALL;
    is_last = atomic_inc(arrived) == groups - 1;
    FENCE_FOR_ALL;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (!is_last) return;
  real mine = NEUTRAL;
  for (int i = MY_LANE; i < groups; i += GROUP) mine = joined_real(mine, partials[i]);
  const real all = joined_reals(mine, scratch);
  if (MY_LANE == 0) {
    scalars[place] = all;
    *arrived = 0;
  }
}
#endif
