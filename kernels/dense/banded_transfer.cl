// The entries of a sparse matrix on their way into band storage, which is zero before.

// a(i row_stride + j column_stride) = values(k), with (i, j) = places(2k, 2k + 1),  0 <= k < count
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void place_entries(
    __global real* restrict a, __global const int* restrict places,
    __global const real* restrict values, int count, ulong row_stride, ulong column_stride) {
  const int k = get_global_id(0);
  if (k >= count) return;
  a[places[2 * k] * row_stride + places[2 * k + 1] * column_stride] = values[k];
}
