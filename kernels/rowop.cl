// The row operations: one multiply-add for each element of the quad that is rendered, a texel at a time.
// What a texel holds beside the quad is final in the source and is propagated as it is.

// LU-GPU, Algorithm 3, step (4): the trailing matrix.
//   target(i, j) = source(i, j) - source(i, k) source(k, j),  k < i < n, k < j < n
__kernel __attribute__((reqd_work_group_size(64, 4, 1)))
void update_trailing(SOURCE(source), TARGET(target), int k, int n) {
#ifdef LUGPU_LAUNCH_INDEX
  // The index pair comes with the launch, whose offset is the texel of (k + 1, k + 1) (section 4.5).
  const int t = get_global_id(0);
  const int i = get_global_id(1);
#else
  const int t = (k + 1) / PACK + get_global_id(0);
  const int i = k + 1 + get_global_id(1);
#endif
  if (i >= n || t * PACK >= n) return;
  const pack own = LOAD_PACK(source, i, t);
  const pack updated = fma((pack)(-LOAD(source, i, k)), LOAD_PACK(source, k, t), own);
  STORE_PACK(target, i, t, merged(t, k + 1, n, updated, own));
}

// LU-GPU, Algorithm 1, step (3): every row but k, from column k-1 on, so that the column that was
// finished in the pass before reaches both surfaces. Row k is normalized already.
//   target(i, j) = source(i, j) - source(i, k) source(k, j),  i != k
//   target(k, j) = source(k, j);  0 <= i < n, first <= j < end, first = max(k - 1, 0)
__kernel __attribute__((reqd_work_group_size(64, 4, 1)))
void eliminate_column(SOURCE(source), TARGET(target), int k, int first, int n, int end) {
  const int t = first / PACK + get_global_id(0);
  const int i = get_global_id(1);
  if (i >= n || t * PACK >= end) return;
  const pack own = LOAD_PACK(source, i, t);
  const pack eliminated = fma((pack)(-LOAD(source, i, k)), LOAD_PACK(source, k, t), own);
  // The columns before k of row k are zero: their elements are propagated as they are.
  STORE_PACK(target, i, t, i == k ? own : merged(t, k, end, eliminated, own));
}
