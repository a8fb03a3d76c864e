// The search for the pivot of step k, the element of largest magnitude. Its place is 0-based, (row,
// column). A tie goes to the smaller column, then to the smaller row (as LAPACK's iamax). A NaN is
// never chosen.

#define SEARCHERS 256

// Reduces the candidates of a work-group to the first of largest magnitude, in element 0.
inline void keep_largest(__local real* magnitude, __local int* row, __local int* column) {
  const int me = get_local_id(0);
  for (int stride = SEARCHERS / 2; stride > 0; stride /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < stride) {
      const int other = me + stride;
      const bool tie = magnitude[other] == magnitude[me];
      const bool earlier =
          column[other] < column[me] || (column[other] == column[me] && row[other] < row[me]);
      if (magnitude[other] > magnitude[me] || (tie && earlier)) {
        magnitude[me] = magnitude[other];
        row[me] = row[other];
        column[me] = column[other];
      }
    }
  }
}

// Partial pivoting (LU-GPU, section 4.3): places(k) = where max |source(k:n, k)| is. One work-group.
__kernel __attribute__((reqd_work_group_size(SEARCHERS, 1, 1)))
void search_column(SOURCE(source), __global int2* places, int k, int n) {
  __local real magnitude[SEARCHERS];
  __local int row[SEARCHERS], column[SEARCHERS];
  const int me = get_local_id(0);
  real best = -1;
  int best_row = k;
  for (int i = k + me; i < n; i += SEARCHERS) {
    const real candidate = fabs(LOAD(source, i, k));
    if (candidate > best) {
      best = candidate;
      best_row = i;
    }
  }
  magnitude[me] = best;
  row[me] = best_row;
  column[me] = k;
  keep_largest(magnitude, row, column);
  if (me == 0) places[k] = (int2)(row[0], column[0]);
}

// Rook pivoting: from column k to the largest of the column, from there to the largest of its row, and
// so on by turns until the element is the largest of both. Each turn finds a larger magnitude than the
// one before, so that the walk ends, whatever the elements are; NaN is not larger than anything. One
// work-group.
__kernel __attribute__((reqd_work_group_size(SEARCHERS, 1, 1)))
void search_rook(SOURCE(source), __global int2* places, int k, int n) {
  __local real magnitude[SEARCHERS];
  __local int row[SEARCHERS], column[SEARCHERS];
  const int me = get_local_id(0);
  int2 place = (int2)(k, k);
  real largest = -1;
  bool larger = true;
  for (bool in_column = true; larger; in_column = !in_column) {
    real best = -1;
    int where = k;
    for (int i = k + me; i < n; i += SEARCHERS) {
      const real candidate =
          fabs(in_column ? LOAD(source, i, place.y) : LOAD(source, place.x, i));
      if (candidate > best) {
        best = candidate;
        where = i;
      }
    }
    magnitude[me] = best;
    row[me] = in_column ? where : place.x;
    column[me] = in_column ? place.y : where;
    keep_largest(magnitude, row, column);
    barrier(CLK_LOCAL_MEM_FENCE);
    larger = magnitude[0] > largest;
    if (larger) {
      largest = magnitude[0];
      place = (int2)(row[0], column[0]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (me == 0) places[k] = place;
}

// Full pivoting (LU-GPU, section 4.4), first part: the largest element of each column of the
// trailing matrix. A work-item takes the columns of a texel; slice s of get_global_size(1) looks at rows
// k + s, k + s + slices, ...
//   magnitudes(j + s n), rows(j + s n): the largest |source(i, j)| of the slice and its row
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void search_each_column(SOURCE(source), __global real* magnitudes, __global int* rows, int k,
                        int n) {
  const int t = k / PACK + get_global_id(0);
  if (t * PACK >= n) return;
  const int slice = get_global_id(1);
  const int slices = get_global_size(1);
  real best[PACK];
  int best_row[PACK];
  for (int c = 0; c < PACK; ++c) {
    best[c] = -1;
    best_row[c] = k;
  }
  for (int i = k + slice; i < n; i += slices) {
    const pack candidates = fabs(LOAD_PACK(source, i, t));
    for (int c = 0; c < PACK; ++c) {
      const real candidate = element_of(candidates, c);
      if (candidate > best[c]) {
        best[c] = candidate;
        best_row[c] = i;
      }
    }
  }
  for (int c = 0; c < PACK; ++c) {
    const int j = t * PACK + c;
    if (j < k || j >= n) continue;
    magnitudes[j + (size_t)slice * n] = best[c];
    rows[j + (size_t)slice * n] = best_row[c];
  }
}

// Full pivoting, second part: places(k) = where the largest candidate is. One work-group.
__kernel __attribute__((reqd_work_group_size(SEARCHERS, 1, 1)))
void search_candidates(__global const real* magnitudes, __global const int* rows,
                       __global int2* places, int k, int n, int slices) {
  __local real magnitude[SEARCHERS];
  __local int row[SEARCHERS], column[SEARCHERS];
  const int me = get_local_id(0);
  real best = -1;
  int best_row = k;
  int best_column = k;
  for (int j = k + me; j < n; j += SEARCHERS) {
    for (int slice = 0; slice < slices; ++slice) {
      const real candidate = magnitudes[j + (size_t)slice * n];
      const int candidate_row = rows[j + (size_t)slice * n];
      const bool earlier = candidate == best && best_column == j && candidate_row < best_row;
      if (candidate > best || earlier) {
        best = candidate;
        best_row = candidate_row;
        best_column = j;
      }
    }
  }
  magnitude[me] = best;
  row[me] = best_row;
  column[me] = best_column;
  keep_largest(magnitude, row, column);
  if (me == 0) places[k] = (int2)(row[0], column[0]);
}
