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
#define ACROSS 16                 // work-items that have a row together
#define AT_ONCE (LANES / ACROSS)  // rows
#define INNER 8

#include "dense/candidates.clh"

// Column first + j of panel columns first : first + width, for j = -1, 0, ... in turn; -1 only
// proposes. The pivot's row, the first if several are equal, is interchanged with row first + j in
// the panel; in the rows i below l = A(i, first+j) / pivot, and A(i, first+j+1 : first+width) -= l
// A(first+j, same). pivots and info as in gpu/panel_partial.clh.
//
// places: the row that each of `groups` work-groups proposes, or -1. copies: these rows, NB
// elements each, and behind them row first + j + 1. Both twice, for odd and even j; then the
// pivots' rows of the block, as they were when they were chosen.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void eliminate_and_propose(
    __global real* a, int pitch, int m, int first, int width, int j, int pivoted, int groups,
    __global int* places, __global real* copies, __global int* pivots, __global int* info) {
  __local candidates_scratch scratch;
  __local real u[NB], replaced[NB], l[GROUP_ROWS][INNER], rows_of_u[INNER][NB];
  const int me = get_local_id(0), lane = me % ACROSS, line = me / ACROSS, group = get_group_id(0);
  const int begin = first + group * GROUP_ROWS, end = min(begin + GROUP_ROWS, m), top = first + j;
  __global const real* known = copies + (size_t)(j & 1) * (groups + 1) * NB;
  __global real* chosen = copies + (size_t)2 * (groups + 1) * NB;
  const int block = max(j, 0) / INNER * INNER, block_end = min(block + INNER, width),
            step = j - block;
  const bool last = j + 1 == block_end;
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
    for (int t = 0; t <= step && last && me >= block_end; ++t) {
      __global const real* row = t < step ? chosen + t * NB : known + (size_t)from * NB;
      real x = row[me];
      for (int s = 0; s < t; ++s) x = fma(-row[block + s], rows_of_u[s][me], x);
      rows_of_u[t][me] = x;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (j >= 0 && group == 0 && me == 0) {
    pivots[top] = pivot;
    if (u[j] == 0 && *info == 0) *info = top + 1;
  }
  if (j >= 0 && me < GROUP_ROWS && begin + me < end && begin + me >= top) {
    const int i = begin + me;
    const bool comes = i == pivot && pivot > top;
    __global const real* row = a + (size_t)i * pitch + first;
    for (int t = 0; t < step && last; ++t) l[me][t] = comes ? replaced[block + t] : row[block + t];
    const real x = comes ? replaced[j] : row[j];
    l[me][step] = u[j] == 0 ? x : x / u[j];
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

  candidate next_best = {0, -1};
  for (int i = max(begin, last ? first + block : top) + line; i < end; i += AT_ONCE) {
    __global real* row = a + (size_t)i * pitch + first;
    const bool moves = i == top || i == pivot;
    for (int c = lane; c < width; c += ACROSS) {
      if (i < top) {  // the block's, which have their elements in it
        if (c >= block_end) row[c] = rows_of_u[i - first - block][c];
        continue;
      }
      if (!moves && (c < j || (c >= block_end && !last))) continue;
      real x = i == pivot && pivot > top ? replaced[c] : row[c];
      if (j >= 0) {
        const bool right = last && c >= block_end;
        if (i == top) {
          x = right ? rows_of_u[step][c] : u[c];
        } else if (c == j) {
          x = l[i - begin][step];
        } else if (right) {
          for (int t = 0; t <= step; ++t) x = fma(-l[i - begin][t], rows_of_u[t][c], x);
        } else if (c > j && c < block_end) {
          x = fma(-l[i - begin][step], u[c], x);
        }
        row[c] = x;
      }
      const bits magnitude = AS_BITS(fabs(x));
      if (c == j + 1 && i > top && magnitude <= INFINITY_BITS) consider(magnitude, i, &next_best);
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
  const int me = get_local_id(0);
  if (me >= width) return;
  int to = first + me;
  for (int j = 0; j < width; ++j) {
    const int a = first + j, b = pivots[first + j];
    to = to == a ? b : to == b ? a : to;
  }
  row_goes_to[me] = to;
  int from = first + me;
  for (int j = width - 1; j >= 0; --j) {
    const int a = first + j, b = pivots[first + j];
    from = from == a ? b : from == b ? a : from;
  }
  row_for[me] = from;
}
