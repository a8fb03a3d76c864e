// The interchanges of a panel, as a list of rows that move, in columns first : first + columns of a
// row-major A. Through `moved`, a row for each: some go where others come from.

// moved(i, :) = A(from(i), :)
__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void take_rows(
    __global const real* restrict a, int pitch, __global real* restrict moved, int moved_pitch,
    __global const int* restrict from, int rows, int first, int columns) {
  const int j = get_global_id(0), i = get_global_id(1);
  if (i >= rows || j >= columns) return;
  moved[(size_t)i * moved_pitch + first + j] = a[(size_t)from[i] * pitch + first + j];
}

// A(to(i), :) = moved(i, :)
__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void put_rows(
    __global real* restrict a, int pitch, __global const real* restrict moved, int moved_pitch,
    __global const int* restrict to, int rows, int first, int columns) {
  const int j = get_global_id(0), i = get_global_id(1);
  if (i >= rows || j >= columns) return;
  a[(size_t)to[i] * pitch + first + j] = moved[(size_t)i * moved_pitch + first + j];
}
