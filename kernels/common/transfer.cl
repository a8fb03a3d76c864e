// Between the host's column-major order and a surface, on the device; and interchanges of
// right-hand sides.

// target(i, first + j) = host(i + j rows),  0 <= i < rows, 0 <= j < columns; first is a multiple of
// PACK. The rest of the last texel becomes zero.
__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void import_columns(
    __global const real* restrict host, TARGET(target), int rows, int columns, int first) {
  const int t = get_global_id(0);
  const int i = get_global_id(1);
  if (i >= rows || t * PACK >= columns) return;
  real elements[PACK];
  for (int c = 0; c < PACK; ++c) {
    const int j = t * PACK + c;
    elements[c] = j < columns ? host[(size_t)j * rows + i] : 0;
  }
  STORE_PACK(target, i, first / PACK + t, pack_of(elements));
}

// target(first + i, j) = host(i columns + j),  0 <= i < rows, 0 <= j < columns. The rest of the
// last texel becomes zero.
__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void import_rows(
    __global const real* restrict host, TARGET(target), int rows, int columns, int first) {
  const int t = get_global_id(0);
  const int i = get_global_id(1);
  if (i >= rows || t * PACK >= columns) return;
  real elements[PACK];
  for (int c = 0; c < PACK; ++c) {
    const int j = t * PACK + c;
    elements[c] = j < columns ? host[(size_t)i * columns + j] : 0;
  }
  STORE_PACK(target, first + i, t, pack_of(elements));
}

// diagonal(i) = source(i, i),  0 <= i < n
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void export_diagonal(
    SOURCE(source), __global real* restrict diagonal, int n) {
  const int i = get_global_id(0);
  if (i < n) diagonal[i] = LOAD(source, i, i);
}

// a(i, i) = 1 of a buffer of single elements,  0 <= i < n
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void set_diagonal(
    __global real* a, int pitch, int n) {
  const int i = get_global_id(0);
  if (i < n) a[(size_t)i * pitch + i] = 1;
}

// host(i + j rows) = source(i, first + j),  0 <= i < rows, 0 <= j < columns
__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void export_columns(
    SOURCE(source), __global real* restrict host, int rows, int columns, int first) {
  const int i = get_global_id(0);
  const int j = get_global_id(1);
  if (i < rows && j < columns) host[(size_t)j * rows + i] = LOAD(source, i, first + j);
}

// host(i columns + j) = source(i, j),  0 <= i < rows, 0 <= j < columns
__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void export_rows(
    SOURCE(source), __global real* restrict host, int rows, int columns) {
  const int j = get_global_id(0);
  const int i = get_global_id(1);
  if (i < rows && j < columns) host[(size_t)i * columns + j] = LOAD(source, i, j);
}

// target(j, i) = source(i, j), 0 <= i < rows, 0 <= j < columns, for single elements: a 16 x 16 tile
// per work-group
__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void transpose(
    SOURCE(source), TARGET(target), int rows, int columns) {
  __local real tile[16][17];
  const int x = get_local_id(0), y = get_local_id(1);
  const int j = get_group_id(0) * 16, i = get_group_id(1) * 16;
  tile[y][x] = i + y < rows && j + x < columns ? LOAD(source, i + y, j + x) : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (j + y < columns && i + x < rows) STORE_PACK(target, j + y, i + x, (pack)tile[x][y]);
}

// out(i, :) = in(order(i), :): the interchanges of a whole factorization at once. A place that came
// to the device wrong gives a wrong out, which the checks find, and no access outside of in.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void gather_rows(
    __global const real* restrict in, __global real* restrict out,
    __global const int* restrict order, int n) {
  const int i = get_global_id(0);
  const size_t column = (size_t)get_global_id(1) * n;
  if (i < n) out[column + i] = in[column + clamp(order[i], 0, n - 1)];
}
