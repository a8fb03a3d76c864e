// After the steps of fused.cl for LU: the interchanges that came after each column and row was left, and
// the division of the multipliers.

// target = source with L finished: L(i, j) = source(s, j) / pivots(j) for j < i, where s is where
// element (i, j) was when step j left it: the interchanges of the steps after j undone, the last one
// first. Those of the `block` steps that step j is one of, counted from step 0, have been done. One
// work-item for one row.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void finish_lower(SOURCE(source), TARGET(target), __global const int2* places,
                  __global const real* pivots, int n, int pivoting, int block) {
  const int i = get_global_id(0);
  if (i >= n) return;
  int row = i;
  for (int t = (n - 1) / PACK; t >= 0; --t) {
    real elements[PACK];
    for (int c = PACK - 1; c >= 0; --c) {
      const int j = t * PACK + c;
      elements[c] = 0;
      if (j >= n) continue;
      const real element = LOAD(source, j < i ? row : i, j);
      elements[c] = j < i && pivots[j] != 0 ? element / pivots[j] : element;
      if (!pivoting || j % block != 0) continue;
      for (int k = min(j + block, n) - 1; k >= j; --k) {
        row = row == k ? places[k].x : row == places[k].x ? k : row;
      }
    }
    STORE_PACK(target, i, t, pack_of(elements));
  }
}

// target = source with U finished: U(i, j) = source(i, s) for j >= i, likewise with the interchanges of
// columns. One work-item for one texel of a row.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void finish_upper(SOURCE(source), TARGET(target), __global const int2* places, int n, int block) {
  const int t = get_global_id(0);
  if (t * PACK >= n) return;
  int columns[PACK];
  for (int c = 0; c < PACK; ++c) columns[c] = t * PACK + c;
  for (int i = n - 1; i >= 0; --i) {
    real elements[PACK];
    for (int c = 0; c < PACK; ++c) {
      const int j = t * PACK + c;
      elements[c] = j < n ? LOAD(source, i, j >= i ? columns[c] : j) : 0;
    }
    STORE_PACK(target, i, t, pack_of(elements));
    if (i % block != 0) continue;
    for (int k = min(i + block, n) - 1; k >= i; --k) {
      const int q = places[k].y;
      for (int c = 0; c < PACK; ++c) {
        columns[c] = columns[c] == k ? q : columns[c] == q ? k : columns[c];
      }
    }
  }
}
