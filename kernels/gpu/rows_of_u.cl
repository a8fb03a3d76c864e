// Rows of U for a block of columns of L: A = inv(L) A, L the unit lower triangle of `width` rows
// and columns from (k, k) of the matrix l on, A rows k : k + width of some columns of the matrix a.
// width is a multiple of NB. In two launches:
//   invert_blocks   M = I - inv(L(b, b)) for the blocks b of SIDE rows and columns on the diagonal;
//   compute_rows    for each b, A(b) -= L(b, before) A(before), then A(b) -= M A(b), as tiles of
//                   SIDE x TILE_COLUMNS are updated, a tile for each work-group.
// Where inv(L(b, b)) A(b) might be much less accurate than substitution, b is solved for by that.
//
// Where only a part of the matrix l is there, its first element is l(top, left).
//
// Build options: NB; LUGPU_RGBA; LUGPU_NVIDIA for the matrix units of NVIDIA's GPUs; LUGPU_WGMMA
// besides, for singles, for those of compute capability 9.0: the host has to patch the program
// then; NARROW_TILES besides, for doubles and with LUGPU_WGMMA, if compute_rows is to have tiles of
// 128 x 64.

#define TILE_FENCES (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)  // A(b) is read and overwritten
#include "gpu/strip.clh"
#include "gpu/substitute_column.clh"
#include "gpu/update_flat_tile.clh"

#define SIDE (2 * NB)
#define LARGEST 16  // magnitude of an element of L(b, b) or its inverse

inline bool are_small(const real* x) {
  bool small = true;
#pragma unroll
  for (int i = 0; i < PART; ++i) small = small && fabs(x[i]) <= LARGEST;  // no NaN is
  return small;
}

// Of a tile on the diagonal, as load_l() has it, only what is L's.
inline void drop_upper(real* v) {
#pragma unroll
  for (int i = 0; i < PART; ++i) {
    if (i * PARTS + (int)get_local_id(0) / STRIP <= (int)get_local_id(0) % STRIP) v[i] = 0;
  }
}

// A work-group has NB columns of M, and a block has two such halves. inverses: SIDE x SIDE elements
// for each block; safe: 1 or 0 for each work-group.
__kernel __attribute__((reqd_work_group_size(STRIP * PARTS, 1, 1))) void invert_blocks(
    __global const real* l_part, int pitch, int top, int left, int k, int width,
    __global real* inverses, __global int* safe) {
  __local real4 l_packs[NB * L_STRIDE / 4];
  __local real u[PART * STRIP];
  __local int unsafe;
  __local real* l = (__local real*)l_packs;
  const int me = get_local_id(0), c = me % STRIP, part = me / STRIP;
  const int block = get_group_id(0) / 2, second = get_group_id(0) % 2;
  const int first = k + block * SIDE, halves = min(SIDE, k + width - first) / NB;
  // L(b, b) = [L11 0; L21 L22], and this work-item's column and rows of M.
  __global const real* of = l_part + ((ptrdiff_t)(first - top) * pitch + first - left);
  __global real* column = inverses + (size_t)block * SIDE * SIDE + second * NB + c;
  __global real* m = column + part * PART * SIDE;
  if (me == 0) unsafe = 0;
  real diagonal[PART], below[PART], last[PART], x[PART];
  if (second < halves) load_l(of, pitch, second * NB, NB, second * NB, NB, diagonal);
  const bool further = second + 1 < halves;
  if (further) {
    load_l(of, pitch, NB, NB, 0, NB, below);
    load_l(of, pitch, NB, NB, NB, NB, last);
  }
  if (second < halves) {  // x = inv(L11) or inv(L22)
    drop_upper(diagonal);
    put_l(diagonal, l);
#pragma unroll
    for (int i = 0; i < PART; ++i) x[i] = part * PART + i == c;
    barrier(CLK_LOCAL_MEM_FENCE);
    substitute(true, x, l, u);
    if (!are_small(diagonal) || !are_small(x)) unsafe = 1;
#pragma unroll
    for (int i = 0; i < PART; ++i) {
      const real one = part * PART + i == c;
      m[(second * NB + i) * SIDE] = one - x[i];
      if (second == 1) m[i * SIDE] = 0;
    }
  }
  if (further) {  // x = -inv(L22) L21 inv(L11)
    put_l(below, l);
#pragma unroll
    for (int i = 0; i < PART; ++i) x[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#pragma unroll 16
    for (int j = 0; j < NB; ++j) {
      const real one = j == c;
      subtract(x, l + j * L_STRIDE + part * PART, one - column[j * SIDE]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    drop_upper(last);
    put_l(last, l);
    barrier(CLK_LOCAL_MEM_FENCE);
    substitute(true, x, l, u);
    if (!are_small(below) || !are_small(last) || !are_small(x)) unsafe = 1;
#pragma unroll
    for (int i = 0; i < PART; ++i) m[(NB + i) * SIDE] = -x[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me == 0) safe[get_group_id(0)] = !unsafe;
}

// In columns first : first + columns of a; first is a multiple of 16.
__kernel __attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1))) void compute_rows(
    __global const real* l_part, int pitch, int top, int left, __global real* a, int a_pitch,
    int first, int columns, int k, int width, __global const real* inverses,
    __global const int* safe) {
#ifdef LUGPU_WGMMA
  __local ulong2 scratch[WGMMA_PLACEHOLDER_BYTES / 16] __attribute__((aligned(1024)));
#else
  __local ulong2 scratch[TILE_BYTES / 16];
#endif
  __global const real* l = l_part - ((ptrdiff_t)top * pitch + left);
  const int column = first + get_group_id(0) * TILE_COLUMNS, end = first + columns;
#pragma unroll 1
  for (int step = 1; step < 2 * ((width + SIDE - 1) / SIDE); ++step) {
    const int block = step / 2, row = k + block * SIDE, row_end = min(row + SIDE, k + width);
    const bool by_inverse = step % 2;
    if (by_inverse && !(safe[2 * block] && safe[2 * block + 1])) {
      const int c = column + get_local_id(0);
      if (get_local_id(0) < TILE_COLUMNS && c < end)
        substitute_column(l + (size_t)row * pitch + row, pitch, a + (size_t)row * a_pitch + c,
                          a_pitch, row_end - row);
    } else {
      const int from = by_inverse ? row : k, to = by_inverse ? row_end : row;
      __global const real* m = inverses + (size_t)block * SIDE * SIDE;
      __global const real* left_of = by_inverse ? m - ((ptrdiff_t)row * SIDE + row) : l;
      update_flat_tile(left_of, by_inverse ? SIDE : pitch, a, a_pitch, row, column, row_end, end,
                       from, to, scratch);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}
