// The row operations: one multiply-add for each element of the quad that is rendered.

// LU-GPU, Algorithm 3, step (4): the trailing matrix.
//   target(i, j) = source(i, j) - source(i, k) source(k, j),  k < i < n, k < j < n
__kernel __attribute__((reqd_work_group_size(64, 4, 1)))
void update_trailing(SOURCE(source), TARGET(target), int k, int n) {
#ifdef LUGPU_LAUNCH_INDEX
  // The index pair comes with the launch, whose offset is (k + 1, k + 1) (section 4.5).
  const int j = get_global_id(0);
  const int i = get_global_id(1);
#else
  const int j = k + 1 + get_global_id(0);
  const int i = k + 1 + get_global_id(1);
#endif
  if (i >= n || j >= n) return;
  STORE(target, i, j, fma(-LOAD(source, i, k), LOAD(source, k, j), LOAD(source, i, j)));
}

// LU-GPU, Algorithm 1, step (3): every row but k, from column k-1 on, so that the column that was
// finished in the pass before reaches both surfaces. Row k is normalized already.
//   target(i, j) = source(i, j) - source(i, k) source(k, j),  i != k
//   target(k, j) = source(k, j);  0 <= i < n, first <= j < end, first = max(k - 1, 0)
__kernel __attribute__((reqd_work_group_size(64, 4, 1)))
void eliminate_column(SOURCE(source), TARGET(target), int k, int first, int n, int end) {
  const int j = first + get_global_id(0);
  const int i = get_global_id(1);
  if (i >= n || j >= end) return;
  const real element = LOAD(source, i, j);
  // Column k-1 of row k is zero: its elements are propagated as they are.
  STORE(target, i, j,
        i == k || j < k ? element : fma(-LOAD(source, i, k), LOAD(source, k, j), element));
}
