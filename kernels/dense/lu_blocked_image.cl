// Blocked LU of a matrix A that one kernel cannot both read and write, typically an image: the
// trailing matrix goes from one surface to the other in every step, while L and U grow in LU, a
// row-major buffer. The kernels here copy out of A what a step needs to factor its panel and to
// compute its rows of U. The rest is in cpu/lu_blocked_image.cl and gpu/lu_blocked_image.cl.

// LU(row, columns of a texel) = A(row, same), except columns from `end` on.
inline void copy_texel(SOURCE(source), __global real* restrict lu, int pitch, int row, int texel,
                       int end) {
  const pack elements = LOAD_PACK(source, row, texel);
  for (int c = 0; c < PACK && texel * PACK + c < end; ++c) {
    lu[(size_t)row * pitch + texel * PACK + c] = element_of(elements, c);
  }
}

// LU(k:n, k:end) = A(k:n, k:end); k is a multiple of PACK.
__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void copy_panel(
    SOURCE(source), __global real* restrict lu, int pitch, int k, int n, int end) {
  const int texel = k / PACK + get_global_id(0);
  const int row = k + get_global_id(1);
  if (row < n && texel * PACK < end) copy_texel(PASS(source), lu, pitch, row, texel, end);
}

// LU(row, first:n) = A(row, first:n) for the `count` rows that are in row_for; first is a multiple
// of PACK.
__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void copy_rows(
    SOURCE(source), __global real* restrict lu, int pitch, __global const int* row_for, int count,
    int first, int n) {
  const int texel = first / PACK + get_global_id(0);
  const int i = get_global_id(1);
  if (i < count && texel * PACK < n) copy_texel(PASS(source), lu, pitch, row_for[i], texel, n);
}
