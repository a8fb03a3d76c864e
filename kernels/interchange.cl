// Rows and columns interchanged by moving their data (LU-GPU, section 4.3): each of the two is
// rendered into the target from the place of the other, and then both are copied back. Whole texels are
// moved; what they hold beside the rows or columns is the source's.

// target(a, first:end) = source(b, first:end);  target(b, first:end) = source(a, first:end)
// With a == b the row is copied.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void exchange_rows(SOURCE(source), TARGET(target), int a, int b, int first, int end) {
  const int t = first / PACK + get_global_id(0);
  if (t * PACK >= end) return;
  STORE_PACK(target, a, t, LOAD_PACK(source, b, t));
  STORE_PACK(target, b, t, LOAD_PACK(source, a, t));
}

// target(a, first:end) = source(a, first:end);  target(b, first:end) = source(b, first:end)
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void copy_rows(SOURCE(source), TARGET(target), int a, int b, int first, int end) {
  const int t = first / PACK + get_global_id(0);
  if (t * PACK >= end) return;
  STORE_PACK(target, a, t, LOAD_PACK(source, a, t));
  STORE_PACK(target, b, t, LOAD_PACK(source, b, t));
}

// target(0:n, a) = source(0:n, b);  target(0:n, b) = source(0:n, a)
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void exchange_columns(SOURCE(source), TARGET(target), int a, int b, int n) {
  const int row = get_global_id(0);
  if (row >= n) return;
  const pack at_a = LOAD_PACK(source, row, a / PACK);
  const pack at_b = LOAD_PACK(source, row, b / PACK);
  const pack of_a = (pack)(element_of(at_a, a % PACK));
  const pack of_b = (pack)(element_of(at_b, b % PACK));
  // Both columns may be in one texel.
  STORE_PACK(target, row, a / PACK,
             merged(a / PACK, a, a + 1, of_b, merged(a / PACK, b, b + 1, of_a, at_a)));
  STORE_PACK(target, row, b / PACK,
             merged(b / PACK, b, b + 1, of_a, merged(b / PACK, a, a + 1, of_b, at_b)));
}

// target(0:n, a) = source(0:n, a);  target(0:n, b) = source(0:n, b)
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void copy_columns(SOURCE(source), TARGET(target), int a, int b, int n) {
  const int row = get_global_id(0);
  if (row >= n) return;
  STORE_PACK(target, row, a / PACK, LOAD_PACK(source, row, a / PACK));
  STORE_PACK(target, row, b / PACK, LOAD_PACK(source, row, b / PACK));
}
