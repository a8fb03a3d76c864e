// result = A x OPERATOR y for a dense matrix, row k of whose surface is its column k, or with the
// build option DIAGONALS its diagonal k, a(i, (i + k) mod n) ("Linear Algebra Operators for GPU
// Implementation of Numerical Algorithms", sections 2 and 3.2). A x without the build option
// OPERATOR.
//
// Build options: those of common/vectors.clh; BLOCK, texels that a work-item of multiply() takes.
// 1 << shift: the columns of the vectors.

#include "common/vectors.clh"
#include "common/curvature.clh"

#ifdef DIAGONALS
// x(j : j + PACK), indices modulo n.
inline pack elements_from(SOURCE(x), int j, int n, int shift) {
  const int mask = (1 << shift) - 1;
#ifdef LUGPU_WIDE
  const int at = j < n ? j : j - n;
  if (at + PACK <= n && (at & mask) + PACK <= mask + 1)
    return VECTOR_LOAD(PLACE(x, at >> shift, at & mask));
#endif
  real elements[PACK];
  for (int c = 0; c < PACK; ++c) {
    const int k = (j + c) % n;
    elements[c] = LOAD(x, k >> shift, k & mask);
  }
  return pack_of(elements);
}
#define ELEMENT(k) 0
#define TERM(k, element, t) (LOAD_PACK(a, k, t) * elements_from(PASS(x), (k) + (t)*PACK, n, shift))
#else
#define ELEMENT(k) LOAD(x, (k) >> shift, (k) & ((1 << shift) - 1))
#define TERM(k, element, t) ((element)*LOAD_PACK(a, k, t))
#endif

// sums(s, :) = the terms of share s of the columns or diagonals, s * share : (s + 1) * share. Each
// work-item takes BLOCK texels and, of the share, every GROUP_Y-th one, four at a time, so that
// there are four loads under way; those of a work-group add theirs up.
__kernel WORK_GROUP void multiply(SOURCE(x), SOURCE(a), __global pack* restrict sums, int n,
                                  int shift, int texels, int share) {
  const int first = get_global_id(0) * BLOCK, count = min(BLOCK, texels - first);
  const int end = min(((int)get_group_id(1) + 1) * share, n);
  pack mine[BLOCK];
  for (int i = 0; i < BLOCK; ++i) mine[i] = 0;
  int k = get_group_id(1) * share + get_local_id(1);
  for (; k + 3 * GROUP_Y < end; k += 4 * GROUP_Y) {
    const int k1 = k + GROUP_Y, k2 = k1 + GROUP_Y, k3 = k2 + GROUP_Y;
    const real e0 = ELEMENT(k), e1 = ELEMENT(k1), e2 = ELEMENT(k2), e3 = ELEMENT(k3);
    for (int i = 0; i < count; ++i) {
      const int t = first + i;
      FETCH(a, k + 4, t);
      FETCH(a, k + 5, t);
      FETCH(a, k + 6, t);
      FETCH(a, k + 7, t);
      mine[i] += (TERM(k, e0, t) + TERM(k1, e1, t)) + (TERM(k2, e2, t) + TERM(k3, e3, t));
    }
  }
  for (; k < end; k += GROUP_Y) {
    const real e = ELEMENT(k);
    for (int i = 0; i < count; ++i) mine[i] += TERM(k, e, first + i);
  }
#if GROUP_Y > 1
  __local pack scratch[GROUP_Y][GROUP_X];
  const int x_lane = get_local_id(0), y_lane = get_local_id(1);
  scratch[y_lane][x_lane] = mine[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (y_lane > 0) return;
  for (int l = 1; l < GROUP_Y; ++l) mine[0] += scratch[l][x_lane];
#endif
  __global pack* to = sums + (size_t)get_group_id(1) * texels + first;
  for (int i = 0; i < count; ++i) to[i] = mine[i];
}

// result = the sum of the shares OPERATOR y; zeros after n elements.
__kernel WORK_GROUP void add_shares(
    SOURCE(x), SOURCE(y), TARGET(result), __global const pack* restrict sums, int n, int shares,
    int texels, int rows, int shift, int walk CURVATURE_PARAMETERS) {
  BEGIN_CURVATURE
  const int t = get_global_id(0);
  for (int w = 0; w < walk; ++w) {
    const int i = MY_ROW(w);
    if (i < rows && t * PACK < 1 << shift) {
      const int number = i * ((1 << shift) / PACK) + t;
      pack value = 0;
      if (number < texels) {
        for (int s = 0; s < shares; ++s) value += sums[(size_t)s * texels + number];
      }
#ifdef OPERATOR
      value = value OPERATOR LOAD_PACK(y, i, t);
#endif
      value = within(number, n, value, 0);
      STORE_PACK(result, i, t, value);
      ADD_CURVATURE(LOAD_PACK(x, i, t), value);
    }
    IN_STEP;
  }
  END_CURVATURE
}
