// Divisions by the pivot. A zero pivot divides nothing, as in LAPACK's getf2; it is recorded, and
// the host turns the first one into `info`. What a texel holds beside the column or the row is the
// source's.

// LU-GPU, Algorithm 3, step (2): the multipliers of column k.
//   target(k, k) = source(k, k);  target(k+1:n, k) = source(k+1:n, k) / source(k, k)
//   pivots(k) = source(k, k)
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void normalize_column(SOURCE(source), TARGET(target), __global real* pivots, int k, int n) {
  const int row = k + get_global_id(0);
  if (row >= n) return;
  const real pivot = LOAD(source, k, k);
  const pack own = LOAD_PACK(source, row, k / PACK);
  if (row == k) pivots[k] = pivot;
  const pack divided = row == k || pivot == 0 ? own : own / pivot;
  STORE_PACK(target, row, k / PACK, merged(k / PACK, k, k + 1, divided, own));
}

// LU-GPU, Algorithm 1, step (1): row k of [A | B].
//   target(k, k:end) = source(k, k:end) / source(k, k);  pivots(k) = source(k, k)
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void normalize_row(SOURCE(source), TARGET(target), __global real* pivots, int k, int end) {
  const int t = k / PACK + get_global_id(0);
  if (t * PACK >= end) return;
  const real pivot = LOAD(source, k, k);
  const pack own = LOAD_PACK(source, k, t);
  if (t == k / PACK) pivots[k] = pivot;
  const pack divided = pivot == 0 ? own : own / pivot;
  STORE_PACK(target, k, t, merged(t, k, end, divided, own));
}
