// The update of blocked LU from one surface to another (dense/lu_blocked_image.cl), on a GPU.
//
// Build option: NB, columns of the panel, a multiple of DEPTH.

#define ITEMS 256
#define TILE 128  // rows and columns of a work-group's tile of C
#define DEPTH 16  // columns of L and rows of U that are in local memory at a time

// target(i, j) = source(from(i), j) - L(i, k:k+NB) U(k:k+NB, j) for the rows and columns after the
// panel; from(i) is the row that the panel's interchanges bring to row i: rows k : k+NB go to
// row_goes_to. Of its work-group's tile, a work-item holds rows y + 16 i and texels x + 16 t in
// registers.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void update(
    SOURCE(source), TARGET(target), __global const real* restrict lu, int pitch,
    __global const int* restrict row_goes_to, int k, int n) {
  __local int from[TILE];
  __local real l[DEPTH][TILE + 1];
  __local pack u[DEPTH * TILE / PACK];
  const int me = get_local_id(0), x = me % 16, y = me / 16;
  const int top = k + NB + get_group_id(1) * TILE, left = k + NB + get_group_id(0) * TILE;

  if (me < TILE) from[me] = top + me;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me < NB && row_goes_to[me] >= top && row_goes_to[me] < top + TILE) {
    from[row_goes_to[me] - top] = k + me;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  pack sum[8][8 / PACK];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int t = 0; t < 8 / PACK; ++t) {
      const bool exists = top + y + 16 * i < n && left + (x + 16 * t) * PACK < n;
      sum[i][t] = exists ? LOAD_PACK(source, from[y + 16 * i], left / PACK + x + 16 * t) : (pack)0;
    }
  }

  for (int q = k; q < k + NB; q += DEPTH) {
#pragma unroll
    for (int e = me; e < DEPTH * TILE; e += ITEMS) {
      const int i = e / DEPTH, j = e % TILE;
      l[e % DEPTH][i] = top + i < n ? lu[(size_t)(top + i) * pitch + q + e % DEPTH] : 0;
      ((__local real*)u)[e] = left + j < n ? lu[(size_t)(q + e / TILE) * pitch + left + j] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
      pack u_of[8 / PACK];
#pragma unroll
      for (int t = 0; t < 8 / PACK; ++t) u_of[t] = u[d * TILE / PACK + x + 16 * t];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const pack factor = (pack)(-l[d][y + 16 * i]);
#pragma unroll
        for (int t = 0; t < 8 / PACK; ++t) sum[i][t] = fma(factor, u_of[t], sum[i][t]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int t = 0; t < 8 / PACK; ++t) {
      const bool exists = top + y + 16 * i < n && left + (x + 16 * t) * PACK < n;
      if (exists) STORE_PACK(target, top + y + 16 * i, left / PACK + x + 16 * t, sum[i][t]);
    }
  }
}
