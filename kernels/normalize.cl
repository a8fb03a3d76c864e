// Divisions by the pivot. A zero pivot divides nothing, as in LAPACK's getf2; it is recorded, and
// the host turns the first one into `info`.

// LU-GPU, Algorithm 3, step (2): the multipliers of column k.
//   target(k, k) = source(k, k);  target(k+1:n, k) = source(k+1:n, k) / source(k, k)
//   pivots(k) = source(k, k)
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void normalize_column(SOURCE(source), TARGET(target), __global real* pivots, int k, int n) {
  const int row = k + get_global_id(0);
  if (row >= n) return;
  const real pivot = LOAD(source, k, k);
  const real element = LOAD(source, row, k);
  if (row == k) pivots[k] = pivot;
  STORE(target, row, k, row == k || pivot == 0 ? element : element / pivot);
}

// LU-GPU, Algorithm 1, step (1): row k of [A | B].
//   target(k, k:end) = source(k, k:end) / source(k, k);  pivots(k) = source(k, k)
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void normalize_row(SOURCE(source), TARGET(target), __global real* pivots, int k, int end) {
  const int column = k + get_global_id(0);
  if (column >= end) return;
  const real pivot = LOAD(source, k, k);
  const real element = LOAD(source, k, column);
  if (column == k) pivots[k] = pivot;
  STORE(target, k, column, pivot == 0 ? element : element / pivot);
}
