// L and U of a block, as nvidia/halves_tile.clh multiplies them: see nvidia/halves_layout.clh.
//
// Rows of L from split.row on and columns of U from split.column on, for k_first <= k < k_end.
//
// Build option: HALVES, 1 or 2.

#include "nvidia/halves_layout.clh"
#include "nvidia/split.clh"

#define ROWS 16     // rows of L or columns of U of a work-group
#define READERS 16  // work-items of each
#define PACKS 8     // packs of 8 numbers that a work-item holds at a time

// 8 numbers, `step` apart.
inline void read_numbers(__global const float* from, size_t step, float* x) {
  if (step == 1) {
    vstore4(vload4(0, from), 0, x);
    vstore4(vload4(1, from), 1, x);
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = from[i * step];
  }
}

// One reader's packs of the `depth` numbers at `from`: x[i] gets the 8 from k + 8 READERS i on,
// unless these are beyond the end.
inline void read_packs(__global const float* from, size_t step, int k, int depth, float (*x)[8]) {
#pragma unroll
  for (int i = 0; i < PACKS; ++i) {
    if (k + 8 * READERS * i < depth) read_numbers(from + (k + 8 * READERS * i) * step, step, x[i]);
  }
}

// Work-groups take ROWS rows of L each, those after them columns of U.
__kernel __attribute__((reqd_work_group_size(ROWS * READERS, 1, 1))) void split_operands(
    __global const float* restrict a, int pitch, int m, int n, int k_first, int k_end,
    split_block split, __global uchar* restrict halves) {
  __local float largest[READERS][ROWS];
  const int me = get_local_id(0), groups_of_l = (m - split.row + ROWS - 1) / ROWS;
  const bool of_l = get_group_id(0) < groups_of_l;
  const int group = of_l ? get_group_id(0) : get_group_id(0) - groups_of_l;
  // Neighbours read what is next to one another in a row of the matrix, of L and of U.
  const int mine = of_l ? me / READERS : me % ROWS, reader = of_l ? me % READERS : me / ROWS;
  const int place = group * ROWS + mine;
  const int last = of_l ? m - 1 - split.row : n - 1 - split.column;
  const size_t step = of_l ? 1 : pitch;
  __global const float* from =
      of_l ? a + (size_t)(split.row + min(place, last)) * pitch + k_first
           : a + (size_t)k_first * pitch + split.column + min(place, last);

  const int depth = k_end - k_first, held = 8 * READERS * PACKS;
  float x[PACKS][8], most = 0;
  for (int k = 8 * reader; k < depth; k += held) {
    read_packs(from, step, k, depth, x);
#pragma unroll
    for (int i = 0; i < PACKS; ++i) {
      if (k + 8 * READERS * i >= depth) continue;
#pragma unroll
      for (int q = 0; q < 8; ++q) most = fmax(most, fabs(x[i][q]));
    }
  }
  largest[reader][mine] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int r = 0; r < READERS; ++r) most = fmax(most, largest[r][mine]);
  if (place > last) return;

  const float scale = scale_of(most);
  const int chunks = depth / CHUNK, row = of_l ? place : place_of_column(place);
  if (reader == 0)
    ((__global float*)halves)[of_l ? place : split.rows + place] = inverse_scale_of(most);
  for (int first = 8 * reader; first < depth; first += held) {
    if (depth > held) read_packs(from, step, first, depth, x);
#pragma unroll
    for (int i = 0; i < PACKS; ++i) {
      const int k = first + 8 * READERS * i;
      if (k >= depth) continue;
#pragma unroll
      for (int q = 0; q < 8; ++q) x[i][q] *= scale;
      uint4 packs[HALVES];
      split_numbers(x[i], packs);
#pragma unroll
      for (int part = 0; part < HALVES; ++part) {
        const size_t start =
            of_l ? l_start(split, k / CHUNK, part) : u_start(split, chunks, k / CHUNK, part);
        *(__global uint4*)(halves + start + pack_start(row, k % CHUNK / 8)) = packs[part];
      }
    }
  }
}
