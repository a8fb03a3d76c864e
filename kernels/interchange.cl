// Rows and columns interchanged by moving their data (LU-GPU, section 4.3): each of the two is
// rendered into the target from the place of the other, and then both are copied back.

// target(a, first:end) = source(b, first:end);  target(b, first:end) = source(a, first:end)
// With a == b the row is copied.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void exchange_rows(SOURCE(source), TARGET(target), int a, int b, int first, int end) {
  const int column = first + get_global_id(0);
  if (column >= end) return;
  STORE(target, a, column, LOAD(source, b, column));
  STORE(target, b, column, LOAD(source, a, column));
}

// target(a, first:end) = source(a, first:end);  target(b, first:end) = source(b, first:end)
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void copy_rows(SOURCE(source), TARGET(target), int a, int b, int first, int end) {
  const int column = first + get_global_id(0);
  if (column >= end) return;
  STORE(target, a, column, LOAD(source, a, column));
  STORE(target, b, column, LOAD(source, b, column));
}

// target(0:n, a) = source(0:n, b);  target(0:n, b) = source(0:n, a)
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void exchange_columns(SOURCE(source), TARGET(target), int a, int b, int n) {
  const int row = get_global_id(0);
  if (row >= n) return;
  STORE(target, row, a, LOAD(source, row, b));
  STORE(target, row, b, LOAD(source, row, a));
}

// target(0:n, a) = source(0:n, a);  target(0:n, b) = source(0:n, b)
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void copy_columns(SOURCE(source), TARGET(target), int a, int b, int n) {
  const int row = get_global_id(0);
  if (row >= n) return;
  STORE(target, row, a, LOAD(source, row, a));
  STORE(target, row, b, LOAD(source, row, b));
}
