// Rows of U as gpu/rows_of_u.cl computes them, A = inv(L) A, by products in halves. For each block
// b of SIDE rows and columns on the diagonal of L, with M = I - inv(L(b, b)) from invert_blocks():
// A(b) -= L(b, before) A(before), then A(b) -= M A(b). In two launches:
//   split_triangle           L and M in halves;
//   compute_rows_by_halves   a strip of COLUMNS columns of A for each work-group. Rows that are
//                            done go to memory in halves, too, for the blocks that follow.
// Where inv(L(b, b)) A(b) might be much less accurate than substitution, b is solved for by that.
// The host has to patch the program (src/opencl/patched_program.hpp).
//
// Memory of the triangle: for every row of L the number that takes its power of two away; then for
// each block its columns of L(b, before) and of M, in chunks of CHUNK: SIDE rows of their first
// halves, then their second ones, laid out as in nvidia/halves_layout.clh.
//
// Build option: HALVES, 1 or 2.

#include "gpu/substitute_column.clh"
#include "nvidia/halves_layout.clh"
#include "nvidia/split.clh"
#include "nvidia/wgmma.clh"
#include "nvidia/wgmma_memory.h"

#define SIDE 128
#define SIDE_CHUNKS (SIDE / CHUNK)
#define COLUMNS 64
#define PARTS (SIDE / CHUNK)  // work-items of a column; each has a chunk of its rows
#define SUMS (SIDE * COLUMNS / 256)

#define L_PIECE (SIDE * CHUNK * 2)  // bytes of half of a chunk
#define U_PIECE (COLUMNS * CHUNK * 2)
#define STAGES (5 - HALVES)
#define SUMS_STRIDE (COLUMNS + 16)  // floats; no bank conflicts
// Local memory: STAGES chunks of L; SIDE_CHUNKS of U or of A(b), in whose place sums come; words
// for arrivals; a column's largest elements; what takes its powers of two away, for each block.
// Less than half of a multiprocessor's, so that two work-groups share one.
#define OWN_START (STAGES * HALVES * L_PIECE)
typedef char u_has_room[SIDE_CHUNKS * HALVES * U_PIECE <= SIDE * SUMS_STRIDE * 4 ? 1 : -1];
#define ARRIVALS_START (OWN_START + SIDE * SUMS_STRIDE * 4)
#define LARGEST_START (ARRIVALS_START + 64)
#define SCALES_START (LARGEST_START + PARTS * COLUMNS * 4)
typedef char strip_has_room
    [SCALES_START + ROWS_BY_HALVES_BLOCKS * COLUMNS * 4 <= ROWS_BY_HALVES_LOCAL_BYTES ? 1 : -1];

// Where a chunk of block b is in the triangle of so many blocks; the chunks of M follow L's.
inline size_t chunk_start(int blocks, int b, int chunk) {
  return (size_t)blocks * SIDE * 4 +
         (size_t)(SIDE_CHUNKS / 2 * b * (b + 1) + chunk) * HALVES * L_PIECE;
}

#define READERS 16  // of a row: each has 8 numbers of SIDE

// For row `row` of block b, the 8 numbers of `reader` in columns of block i of L, or, if i = b, of
// M; zeros beyond the end and in place of an M that is not used.
inline void read_triangle(__global const float* l, int pitch, __global const float* inverses,
                          bool by_inverse, int b, int i, int row, int reader, int rows, float* x) {
  const bool there = row < rows && (i < b || (by_inverse && 8 * reader < rows));
  __global const float* from =
      i < b ? l + (size_t)(b * SIDE + row) * pitch + i * SIDE + 8 * reader
            : inverses + ((size_t)b * SIDE + row) * SIDE + 8 * reader;
  vstore4(there ? vload4(0, from) : (float4)0, 0, x);
  vstore4(there ? vload4(1, from) : (float4)0, 1, x);
}

// A work-group has 256 / READERS rows. The matrix l as in gpu/rows_of_u.cl.
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void split_triangle(
    __global const float* l_part, int pitch, int top, int left, int k, int width,
    __global const float* inverses, __global const int* safe, __global uchar* triangle) {
  __local float largest[READERS][256 / READERS];
  const int me = get_local_id(0), mine = me / READERS, reader = me % READERS;
  const int place = get_group_id(0) * (256 / READERS) + mine, b = place / SIDE, row = place % SIDE;
  const int blocks = (width + SIDE - 1) / SIDE, rows = min(SIDE, width - b * SIDE);
  const bool by_inverse = safe[2 * b] && safe[2 * b + 1];
  __global const float* l = l_part + ((ptrdiff_t)(k - top) * pitch + k - left);
  float x[8], most = 0;
  for (int i = 0; i <= b; ++i) {
    read_triangle(l, pitch, inverses, by_inverse, b, i, row, reader, rows, x);
#pragma unroll
    for (int q = 0; q < 8; ++q) most = fmax(most, fabs(x[q]));
  }
  largest[reader][mine] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int r = 0; r < READERS; ++r) most = fmax(most, largest[r][mine]);
  const float scale = scale_of(most);
  if (reader == 0) ((__global float*)triangle)[place] = inverse_scale_of(most);
  for (int i = 0; i <= b; ++i) {
    read_triangle(l, pitch, inverses, by_inverse, b, i, row, reader, rows, x);
#pragma unroll
    for (int q = 0; q < 8; ++q) x[q] *= scale;
    uint4 packs[HALVES];
    split_numbers(x, packs);
    const size_t start = chunk_start(blocks, b, SIDE_CHUNKS * i + reader / (CHUNK / 8));
#pragma unroll
    for (int part = 0; part < HALVES; ++part)
      *(__global uint4*)(triangle + start + part * L_PIECE +
                         pack_start(row, reader % (CHUNK / 8))) = packs[part];
  }
}

// What a work-group reads: pieces of a block of L and M, and of its own strip of U.
typedef struct {
  __global const uchar *l, *u;
  size_t u_chunk, u_part;  // bytes from one to the next
  int l_chunks, chunks;    // of L, and with those of M
} strip_source;

// By one work-item. First come the chunks of the block before this one, whose U is in local memory
// already; then those of the blocks from the first on; then those of M.
inline void copy_chunk(__local char* memory, int stage, const strip_source* from, int chunk) {
  const uint start = local_address(memory), to = start + stage * HALVES * L_PIECE;
  const uint arrival = start + ARRIVALS_START + 8 * stage;
  const bool with_u = chunk >= SIDE_CHUNKS && chunk < from->l_chunks;
  expect_bytes(arrival, HALVES * (L_PIECE + (with_u ? U_PIECE : 0)));
  const int piece =
      chunk < from->l_chunks ? (chunk + from->l_chunks - SIDE_CHUNKS) % from->l_chunks : chunk;
  copy_bulk(to, from->l + (size_t)piece * HALVES * L_PIECE, HALVES * L_PIECE, arrival);
#pragma unroll
  for (int part = 0; part < HALVES; ++part) {
    if (with_u) {
      copy_bulk(
          start + OWN_START + (chunk % SIDE_CHUNKS * HALVES + part) * U_PIECE,
          from->u + (chunk - SIDE_CHUNKS) * from->u_chunk + part * from->u_part, U_PIECE, arrival);
    }
  }
}

// d = the products of chunks first : end of the block. `before` chunks of earlier blocks have come.
// Chunks to come are requested.
inline void multiply_chunks(float* d, __local char* memory, const strip_source* from, int before,
                            int first, int end) {
  const int me = get_local_id(0);
  const uint start = local_address(memory);
#pragma unroll
  for (int i = 0; i < SUMS; ++i) d[i] = 0;
#pragma unroll
  for (int i = 0; i < SUMS; ++i) PIN_FLOAT(d[i]);
#pragma unroll 1
  for (int chunk = first; chunk < end; ++chunk) {
    const int stage = (before + chunk) % STAGES, phase = (before + chunk) / STAGES % 2;
    await_bytes(start + ARRIVALS_START + 8 * stage, phase);
    wgmma_fence();
    const uint l = start + stage * HALVES * L_PIECE + me / 128 * 64 * 64;
    const uint u = start + OWN_START + chunk % SIDE_CHUNKS * HALVES * U_PIECE;
#pragma unroll
    for (int k = 0; k < CHUNK / 16 * K_STEP; k += K_STEP) {
      const ulong big_l = matrix_descriptor(l) + k, big_u = matrix_descriptor(u) + k;
#if HALVES == 2
      WGMMA_HALVES_64(d, matrix_descriptor(l + L_PIECE) + k, big_u);
      WGMMA_HALVES_64(d, big_l, matrix_descriptor(u + U_PIECE) + k);
#endif
      WGMMA_HALVES_64(d, big_l, big_u);
    }
    wgmma_commit();
    // The chunk before this one is done with, and the next one may take its place.
    WGMMA_WAIT(1);
    barrier(CLK_LOCAL_MEM_FENCE);
    const int next = chunk - 1 + STAGES;
    if (me == 0 && chunk > 0 && next < from->chunks)
      copy_chunk(memory, (before + next) % STAGES, from, next);
  }
  WGMMA_WAIT(0);
#pragma unroll
  for (int i = 0; i < SUMS; ++i) PIN_FLOAT(d[i]);
}

// This work-item's sums, d[8 i + 4 j + 2 h + e] of row g + 8 h of its warp's 16 and column 16 i +
// 4 t + 2 j + e, times the rows' numbers, to local memory, once all have done with what was there.
inline void put_sums(const float* d, float2 row_scales, __local char* memory) {
  const int me = get_local_id(0), g = me % 32 / 4, t = me % 4, row = me / 32 * 16 + g;
  const float scale[2] = {row_scales.x, row_scales.y};
  __local float* to = (__local float*)(memory + OWN_START) + row * SUMS_STRIDE + 4 * t;
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int i = 0; i < COLUMNS / 16; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float* of_row = d + 8 * i + 2 * h;
      *(__local float4*)(to + 8 * h * SUMS_STRIDE + 16 * i) =
          (float4)(of_row[0], of_row[1], of_row[4], of_row[5]) * scale[h];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// x, this work-item's rows of its column, minus the sums times `scale`.
inline void subtract_put_sums(float* x, float scale, const __local char* memory) {
  const int column = get_local_id(0) % COLUMNS, part = get_local_id(0) / COLUMNS;
  const __local float* from =
      (const __local float*)(memory + OWN_START) + part * CHUNK * SUMS_STRIDE + column;
#pragma unroll
  for (int i = 0; i < CHUNK; ++i) x[i] -= from[i * SUMS_STRIDE] * scale;
}

// The largest magnitude in a column, of which each work-item has some rows x.
inline float largest_of_column(const float* x, __local char* memory) {
  const int me = get_local_id(0);
  __local float* largest = (__local float*)(memory + LARGEST_START);
  float most = 0;
#pragma unroll
  for (int i = 0; i < CHUNK; ++i) most = fmax(most, fabs(x[i]));
  barrier(CLK_LOCAL_MEM_FENCE);
  largest[me] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int part = 0; part < PARTS; ++part)
    most = fmax(most, largest[part * COLUMNS + me % COLUMNS]);
  return most;
}

// Pack q of this work-item's rows x times `scale`, in halves.
inline void split_pack(const float* x, int q, float scale, uint4* packs) {
  float scaled[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) scaled[i] = x[8 * q + i] * scale;
  split_numbers(scaled, packs);
}

// x times `scale` in halves, for the products to come; and in memory from `kept` on, unless that is
// 0.
inline void put_rows(const float* x, float scale, __local char* memory, __global uchar* kept,
                     const strip_source* from) {
  const int column = get_local_id(0) % COLUMNS, part = get_local_id(0) / COLUMNS;
#pragma unroll
  for (int q = 0; q < CHUNK / 8; ++q) {
    uint4 packs[HALVES];
    split_pack(x, q, scale, packs);
#pragma unroll
    for (int h = 0; h < HALVES; ++h) {
      const size_t pack = pack_start(place_of_column(column), q);
      *(__local uint4*)(memory + OWN_START + (part * HALVES + h) * U_PIECE + pack) = packs[h];
      if (kept)
        *(__global uint4*)(kept + part * from->u_chunk + h * from->u_part + pack) = packs[h];
    }
  }
  fence_for_wgmma();
  barrier(CLK_LOCAL_MEM_FENCE);
}

// `rows` rows of a work-item's column; what is beyond them is 0.
inline void load_rows(float* x, __global const float* from, int pitch, int rows) {
#pragma unroll
  for (int i = 0; i < CHUNK; ++i) x[i] = i < rows ? from[(size_t)i * pitch] : 0;
}
inline void store_rows(const float* x, __global float* to, int pitch, int rows) {
#pragma unroll
  for (int i = 0; i < CHUNK; ++i) {
    if (i < rows) to[(size_t)i * pitch] = x[i];
  }
}

// sums = L(b, before) A(before), for b > 0. of_rows: as in put_sums(); first, as without them sums
// may overflow.
inline void multiply_before(float* sums, float2 of_rows, __local char* memory,
                            const strip_source* from, int before, int b) {
  float d[SUMS];
#pragma unroll
  for (int i = 0; i < SUMS; ++i) sums[i] = 0;
#pragma unroll 1
  for (int i = 0; i < b; ++i) {
    multiply_chunks(d, memory, from, before, SIDE_CHUNKS * i, SIDE_CHUNKS * (i + 1));
    const int of_block = i == 0 ? b - 1 : i - 1;
    const __local float* scales =
        (const __local float*)(memory + SCALES_START) + of_block * COLUMNS +
        get_local_id(0) % 4 * 4;
#pragma unroll
    for (int s = 0; s < SUMS; ++s) {
      const float of_row = s / 2 % 2 == 0 ? of_rows.x : of_rows.y;
      sums[s] = fma(d[s] * of_row, scales[s / 8 * 16 + s / 4 % 2 * 2 + s % 2], sums[s]);
    }
  }
}

// Block b is the next one: its first chunks are requested.
inline void begin_block(__local char* memory, strip_source* from, __global const uchar* triangle,
                        __global const int* safe, int blocks, int b, int before) {
  from->l = triangle + chunk_start(blocks, b, 0);
  from->l_chunks = SIDE_CHUNKS * b;
  from->chunks = from->l_chunks + (safe[2 * b] && safe[2 * b + 1] ? SIDE_CHUNKS : 0);
  if (get_local_id(0) > 0) return;
  for (int chunk = 0; chunk < min(STAGES, from->chunks); ++chunk)
    copy_chunk(memory, (before + chunk) % STAGES, from, chunk);
}

// In columns first : first + columns of a, for width <= SIDE ROWS_BY_HALVES_BLOCKS; first is a
// multiple of 16. l as in gpu/rows_of_u.cl. Of `halves`, which have room for split.rows and
// split.columns, the part of U is overwritten.
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void compute_rows_by_halves(
    __global const float* l_part, int pitch, int top, int left, __global float* a, int a_pitch,
    int first, int columns, int k, int width, __global const uchar* triangle,
    __global const int* safe, split_block split, __global uchar* halves) {
  __local ulong2 scratch[WGMMA_PLACEHOLDER_BYTES / 16] __attribute__((aligned(1024)));
  __local char* memory = of_unknown_size((__local char*)scratch);
  const int me = get_local_id(0), column = me % COLUMNS, part = me / COLUMNS;
  const int strip = get_group_id(0) * COLUMNS, blocks = (width + SIDE - 1) / SIDE;
  // Of the rows that put_sums() takes.
  const __global float* row_scales = (const __global float*)triangle + me / 32 * 16 + me % 32 / 4;
  __local float* scales = (__local float*)(memory + SCALES_START);
  __global const float* l = l_part + ((ptrdiff_t)(k - top) * pitch + k - left);
  a += (size_t)k * a_pitch + first + strip;
  __global uchar* u = halves + u_start(split, width / CHUNK, 0, 0) + (size_t)strip * 64;
  strip_source from = {.u = u, .u_part = (size_t)split.columns * 64};
  from.u_chunk = HALVES * from.u_part;
  if (me == 0) {
    for (int stage = 0; stage < STAGES; ++stage)
      start_arrivals(local_address(memory) + ARRIVALS_START + 8 * stage);
    publish_arrivals();
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  int before = 0;
  begin_block(memory, &from, triangle, safe, blocks, 0, before);
#pragma unroll 1
  for (int b = 0; b < blocks; ++b) {
    // A(b) comes to the level 2 cache meanwhile.
    prefetch_line(a + (size_t)min(b * SIDE + me / 2, width - 1) * a_pitch +
                  min(me % 2 * 32, columns - 1 - strip));
    const float2 of_rows = (float2)(row_scales[b * SIDE], row_scales[b * SIDE + 8]);
    const int row = b * SIDE + part * CHUNK;  // this work-item's first one
    const int rows = strip + column < columns ? width - row : 0;
    __global float* mine = a + (size_t)row * a_pitch + column;
    // x = A(b) - L(b, before) A(before)
    float x[CHUNK], d[SUMS];
    if (b > 0) {
      multiply_before(d, of_rows, memory, &from, before, b);
      put_sums(d, (float2)(1), memory);
    }
    load_rows(x, mine, a_pitch, rows);
    if (b > 0) subtract_put_sums(x, 1, memory);
    fence_for_copies();                 // of rows that were kept one block ago
    if (from.chunks > from.l_chunks) {  // x -= M x
      const float most = largest_of_column(x, memory);
      put_rows(x, scale_of(most), memory, 0, &from);
      multiply_chunks(d, memory, &from, before, from.l_chunks, from.chunks);
      put_sums(d, of_rows, memory);
      subtract_put_sums(x, inverse_scale_of(most), memory);
      store_rows(x, mine, a_pitch, rows);
    } else {  // x = inv(L(b, b)) x
      store_rows(x, mine, a_pitch, rows);
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      if (part == 0 && rows > 0)
        substitute_column(l + (size_t)row * pitch + row, pitch, mine, a_pitch, min(SIDE, rows));
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      load_rows(x, mine, a_pitch, rows);
    }
    if (b + 1 == blocks) break;
    before += from.chunks;
    begin_block(memory, &from, triangle, safe, blocks, b + 1, before);
    const float most = largest_of_column(x, memory);
    if (part == 0) scales[b * COLUMNS + column] = inverse_scale_of(most);
    put_rows(x, scale_of(most), memory, u + SIDE_CHUNKS * b * from.u_chunk, &from);
  }
}
