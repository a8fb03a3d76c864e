// A panel factored by one launch a column, for GPUs whose work-groups may not wait for one another,
// and for panels of more rows than gpu/panel_partial.clh takes.
//
// A work-group has GROUP_ROWS rows of it. In every launch it learns which pivot was chosen,
// eliminates a column of its rows, and proposes the pivot of the next column from among them. What
// others have to know of a row comes to them in a copy, so that they never read a row that its
// owner writes. Columns come in blocks of INNER: those right of a block get its products in the
// launch of its last column, all at once, so that most launches read and write the block alone.

#define LANES 256  // work-items
#define CHOOSERS LANES
#define GROUP_ROWS 128
#define INNER 8
#define OF_BLOCK (GROUP_ROWS * INNER / LANES)  // elements of a block that a work-item has
#define ACROSS 16                              // work-items that have a row right of it together

#include "dense/candidates.clh"
#include "dense/places_of_rows.clh"

// Column first + j of panel columns first : first + width, for j = -1, 0, ... in turn; -1 only
// proposes. The pivot's row, the first if several are equal, is interchanged with row first + j in
// the panel; in the rows i below l = A(i, first+j) / pivot, and A(i, C) -= l A(first+j, C), C the
// columns behind first + j of the block. Those right of it become rows of U, and get L U, in the
// launch of the block's last column. pivots and info as in gpu/panel_partial.clh.
//
// places: the row that each of `groups` work-groups proposes, or -1. copies: these rows, NB
// elements each, and behind them row first + j + 1. Both twice, for odd and even j; then the
// pivots' rows of the block, as they were when they were chosen.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void eliminate_and_propose(
    __global real* a, int pitch, int m, int first, int width, int j, int pivoted, int groups,
    __global int* places, __global real* copies, __global int* pivots, __global int* info) {
  __local candidates_scratch scratch;
  __local real u[NB], replaced[NB], l[GROUP_ROWS][INNER], rows_of_u[INNER][NB];
  const int me = get_local_id(0), group = get_group_id(0);
  const int begin = first + group * GROUP_ROWS, end = min(begin + GROUP_ROWS, m), top = first + j;
  __global const real* known = copies + (size_t)(j & 1) * (groups + 1) * NB;
  __global real* chosen = copies + (size_t)2 * (groups + 1) * NB;
  const int block = max(j, 0) / INNER * INNER, block_end = min(block + INNER, width),
            step = j - block;
  const bool last = j + 1 == block_end;
  // This work-item's column of the block, and its rows.
  const int c = block + me % INNER, row = begin + me / INNER;
  __global real* mine = a + (size_t)row * pitch + first + c;
  real x[OF_BLOCK];
#pragma unroll
  for (int p = 0; p < OF_BLOCK; ++p) {
    const int i = p * (LANES / INNER);
    if (c < width && row + i < end) x[p] = mine[(size_t)i * pitch];
  }

  // The pivot, and what its row and row `top` were.
  candidate best = {0, top};
  for (int g = me; g < groups && pivoted && j >= 0; g += LANES) {
    const int i = places[(j & 1) * groups + g];
    consider(i < 0 ? 0 : AS_BITS(fabs(known[(size_t)g * NB + j])), i, &best);
  }
  const int pivot = largest_of_group(best, &scratch).row,
            from = pivot == top ? groups : (pivot - first) / GROUP_ROWS;
  if (j >= 0 && me < width) {
    u[me] = known[(size_t)from * NB + me];
    replaced[me] = known[(size_t)groups * NB + me];
    if (group == 0) chosen[step * NB + me] = u[me];
#pragma unroll
    for (int t = 0; t < INNER; ++t) {
      if (last && t < step) rows_of_u[t][me] = chosen[t * NB + me];
    }
    if (last) rows_of_u[step][me] = u[me];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (j >= 0 && group == 0 && me == 0) {
    pivots[top] = pivot;
    if (u[j] == 0 && *info == 0) *info = top + 1;
  }
  // Rows of U right of the block.
  for (int t = 1; last && me >= block_end && me < width && t <= step; ++t) {
    real sum = rows_of_u[t][me];
    for (int s = 0; s < t; ++s) sum = fma(-rows_of_u[t][block + s], rows_of_u[s][me], sum);
    rows_of_u[t][me] = sum;
  }
  // L in the block.
#pragma unroll
  for (int p = 0; p < OF_BLOCK; ++p) {
    const int i = row + p * (LANES / INNER);
    if (c > j || j < 0 || i < top || i >= end) continue;
    if (i == pivot && pivot > top) x[p] = replaced[c];
    if (c == j && u[j] != 0) x[p] /= u[j];
    l[i - begin][c - block] = x[p];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

  // The block, and its candidates for the next pivot.
  candidate next_best = {0, -1};
#pragma unroll
  for (int p = 0; p < OF_BLOCK; ++p) {
    const int i = row + p * (LANES / INNER);
    if (c >= block_end || i < top || i >= end) continue;
    if (j >= 0) {
      if (i == pivot && pivot > top && c > j) x[p] = replaced[c];
      if (i == top) x[p] = u[c];
      if (i > top && c > j) x[p] = fma(-l[i - begin][step], u[c], x[p]);
      mine[(size_t)p * (LANES / INNER) * pitch] = x[p];
    }
    const bits magnitude = AS_BITS(fabs(x[p]));
    if (c == j + 1 && i > top && magnitude <= INFINITY_BITS) consider(magnitude, i, &next_best);
  }
  // The rows that are interchanged, left and right of the block.
  if (j >= 0 && me < width && (me < block || (me >= block_end && !last))) {
    __global real* column = a + first + me;
    if (begin <= top && top < end) column[(size_t)top * pitch] = u[me];
    if (pivot > top && begin <= pivot && pivot < end) column[(size_t)pivot * pitch] = replaced[me];
  }
  // What is right of a block that is done, and the next one's first candidates.
  for (int i = max(begin, first + block) + me / ACROSS; last && i < end; i += LANES / ACROSS) {
    __global real* of_row = a + (size_t)i * pitch + first;
    for (int right = block_end + me % ACROSS; right < width; right += ACROSS) {
      if (i <= top) {
        of_row[right] = rows_of_u[i - first - block][right];
        continue;
      }
      real sum = i == pivot ? replaced[right] : of_row[right];
#pragma unroll
      for (int t = 0; t < INNER; ++t) {
        if (t <= step) sum = fma(-l[i - begin][t], rows_of_u[t][right], sum);
      }
      of_row[right] = sum;
      const bits magnitude = AS_BITS(fabs(sum));
      if (right == j + 1 && magnitude <= INFINITY_BITS) consider(magnitude, i, &next_best);
    }
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  const candidate largest = largest_of_group(next_best, &scratch);
  const int proposed = largest.magnitude > 0 ? largest.row : -1;
  const int next = (j + 1) & 1;
  __global real* told = copies + (size_t)next * (groups + 1) * NB;
  if (j + 1 >= width) return;
  if (me == 0) places[next * groups + group] = proposed;
  if (me < width && proposed >= 0)
    told[(size_t)group * NB + me] = a[(size_t)proposed * pitch + first + me];
  if (me < width && begin <= top + 1 && top + 1 < end)
    told[(size_t)groups * NB + me] = a[(size_t)(top + 1) * pitch + first + me];
}

// The panel's interchanges as the two lists of gpu/panel_partial.clh. One work-group.
__kernel __attribute__((reqd_work_group_size(NB, 1, 1))) void list_moves(
    __global const int* pivots, int first, int width, __global int* row_for,
    __global int* row_goes_to) {
  __local int others[NB];
  const int me = get_local_id(0);
  if (me < width) others[me] = pivots[first + me];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me >= width) return;
  row_goes_to[me] = place_after(first + me, first, others, width);
  row_for[me] = place_before(first + me, first, others, width);
}
