// Copies of one row or one column from a surface to the other, in whole texels: steps (1) and (3) of
// Algorithm 3 and step (2) of Algorithm 1 of LU-GPU, which keep both surfaces up to date (Lemma 4.1).

// target(row, first:end) = source(row, first:end)
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void copy_row(SOURCE(source), TARGET(target), int row, int first, int end) {
  const int t = first / PACK + get_global_id(0);
  if (t * PACK < end) STORE_PACK(target, row, t, LOAD_PACK(source, row, t));
}

// target(first:end, column) = source(first:end, column)
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void copy_column(SOURCE(source), TARGET(target), int column, int first, int end) {
  const int row = first + get_global_id(0);
  const int t = column / PACK;
  if (row < end) STORE_PACK(target, row, t, LOAD_PACK(source, row, t));
}
