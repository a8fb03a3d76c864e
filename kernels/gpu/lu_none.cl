// LU factorization without pivoting on a GPU in one launch, left-looking, by blocks of NB rows and
// columns. Work-groups take tasks from a counter, in a fixed order, and wait only for tasks that
// come earlier in it: one that runs alone comes to its end, so that nothing else is asked of the
// device than that work-groups which have started go on.
//
// Tasks of step k, in this order:
//   the corner: L(k+1, k), U(k, k+1), and block (k+1, k+1) on the diagonal, which is brought up to
//               date, factored, and the factors inverted: all that step k+1 waits for;
//   tiles:      F blocks of L(k+2 ..., k) and F blocks of U(k, k+2 ...), alternately.
// A tile's sum of L(i, s) U(s, j) over the earlier steps s stays in registers, and grows as these
// become known. Then it waits for the inverses of the block on the diagonal, a product with which
// makes it L or U.
//
// `progress` is zeroed before each factorization. Its words count what is known, in order:
//   the tasks taken; of each row of blocks, those of L; of each column of blocks, those of U; of
//   each diagonal block, 1 if it is inverted, and 2 if its inverses overflow or underflow: then L
//   and U are made by substitution, slowly.
//
// With inverses, L and U are as accurate as by substitution only if the blocks on the diagonal have
// well-conditioned factors, as they do in matrices that need no pivoting.
//
// Parts whose times are noted (common/part_times.clh): what each corner does once the one before it
// is known.
//
// Build options: F, 1 or 2, blocks of a tile; LUGPU_NVIDIA, with NVIDIA's matrix units (compute
// capability 8.0 in single precision, 9.0 in double).

#include "common/part_times.clh"
#include "gpu/reciprocal.clh"

#define NB 64
#define ITEMS 256
#ifndef SPIN_LIMIT
#define SPIN_LIMIT (1 << 20)
#endif

#include "gpu/lu_none_product.clh"
#include "gpu/lu_none_corner.clh"

#define WORD_STRIDE 8  // a word of its own for each 32 bytes
#define WORD(number) ((1 + (number)) * WORD_STRIDE)
#define ROW_WORD(i) WORD(i)
#define COLUMN_WORD(j) WORD(blocks + (j))
#define DIAGONAL_WORD(k) WORD(2 * blocks + (k))

inline void fence(void) {
#ifdef LUGPU_NVIDIA
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#else
  mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
}

// What this work-group has written is seen by others that then see what it writes next.
inline void release(void) {
  fence();
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

// The least of four words as soon as it is `wanted` at least; `most` if it is more, or if that
// takes too long.
inline int await_words(volatile __global const int* progress, int4 words, int wanted, int most,
                       __local int* shared, int* patience) {
  if (get_local_id(0) == 0) {
    int least = most;
    if (*patience >= 0) {
      do {
        least = min(
            min(progress[words.x], progress[words.y]), min(progress[words.z], progress[words.w]));
      } while (least < wanted && --*patience >= 0);
      if (*patience < 0) least = most;
    }
    fence();
    *shared = min(least, most);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const int least = *shared;
  barrier(CLK_LOCAL_MEM_FENCE);
  return least;
}

// F blocks from block `first` on: of L(first ..., k), or of U(k, first ...) if `right`.
inline void make_tile(__global real* a, int pitch, int n, int k, int first, bool right,
                      __global const real* inverses, volatile __global int* progress,
                      __local real* stages, __local int* shared, int* patience) {
  const int blocks = (n + NB - 1) / NB, last = min(first + F, blocks) - 1;
  const int row = (right ? k : first) * NB, column = (right ? first : k) * NB;
  const int4 words =
      right ? (int4)(ROW_WORD(k), COLUMN_WORD(first), COLUMN_WORD(last), ROW_WORD(k))
            : (int4)(COLUMN_WORD(k), ROW_WORD(first), ROW_WORD(last), COLUMN_WORD(k));
  const place at = place_of(F, right);
  __global real* c = a + (size_t)row * pitch + column;
  real sum[F][4][4];
  clear(F, sum);
  int known = 0;
#pragma unroll 1
  while (known < k) {
    const int next = await_words(progress, words, known + 1, k, shared, patience);
    multiply(F, at, a + (size_t)row * pitch + known * NB, pitch, n - row,
             a + (size_t)known * NB * pitch + column, pitch, pitch - column,
             (next - known) * CHUNKS, sum, stages);
    known = next;
  }
  if (k > 0) store_tile(F, at, c, pitch, n - row, n - column, true, sum);
  release();
  const bool safe = await_words(progress, (int4)(DIAGONAL_WORD(k)), 1, 2, shared, patience) == 1;
  __global const real* inverse = inverses + (size_t)(2 * k + (right ? 0 : 1)) * NB * NB;
  clear(F, sum);
  multiply(
      F, at, right ? inverse : c, right ? NB : pitch, right ? NB : n - row, right ? c : inverse,
      right ? pitch : NB, right ? pitch - column : NB, safe ? CHUNKS : 0, sum, stages);
  if (safe) {
    store_tile(F, at, c, pitch, n - row, n - column, false, sum);
  } else {
    substitute(c, a + (size_t)k * NB * (pitch + 1), pitch, min(F * NB, n - first * NB), right);
  }
  release();
  if (get_local_id(0) == 0) {
    progress[right ? COLUMN_WORD(first) : ROW_WORD(first)] = k + 1;
    if (last > first) progress[right ? COLUMN_WORD(last) : ROW_WORD(last)] = k + 1;
  }
}

// L(k, k-1), U(k-1, k) and the inverses of the factors of block (k, k).
inline void make_corner(__global real* a, int pitch, int n, int k, __global real* inverses,
                        volatile __global int* progress, __global int* info, __local real* stages,
                        __local int* shared, int* patience PART_TIMES) {
  const int blocks = (n + NB - 1) / NB, before = k - 1;
  const int here = k * NB, there = before * NB;
  const place at = place_of(1, false);
  __global real* diagonal = a + (size_t)here * pitch + here;
  __global real* inverse = inverses + (size_t)2 * k * NB * NB;
  real sum[1][4][4], old[1][4][4];
  clear(1, sum);
  load_block(at, diagonal, pitch, n - here, n - here, old);
  clear_triangles(inverse);
  __global real* l_block = a + (size_t)here * pitch + there;
  __global real* u_block = a + (size_t)there * pitch + here;
  real l[1][4][4], u[1][4][4];
  clear(1, l);
  clear(1, u);
  const int4 words = (int4)(ROW_WORD(before), ROW_WORD(k), COLUMN_WORD(before), COLUMN_WORD(k));
  int known = 0;
#pragma unroll 1
  while (known < before) {
    const int next = await_words(progress, words, known + 1, before, shared, patience);
    const size_t across = (size_t)known * NB, down = (size_t)known * NB * pitch;
    multiply_blocks(
        true, at, l_operand(a + (size_t)here * pitch + across, pitch, n - here),
        u_operand(a + down + there, pitch),
        l_operand(a + (size_t)there * pitch + across, pitch, NB), u_operand(a + down + here, pitch),
        (next - known) * CHUNKS, l, u, sum, stages);
    known = next;
  }
  if (before > 0) {
    store_tile(1, at, l_block, pitch, n - here, NB, true, l);
    store_tile(1, at, u_block, pitch, NB, n - here, true, u);
  }
  release();
  // From here on, step k waits.
  const int state =
      await_words(progress, (int4)(DIAGONAL_WORD(max(before, 0))), min(k, 1), 2, shared, patience);
  START_PART(k);
  const bool safe = state == 1;
  clear(1, l);
  clear(1, u);
  multiply_blocks(false, at, l_operand(l_block, pitch, n - here), u_operand(inverse - NB * NB, NB),
                  l_operand(inverse - 2 * NB * NB, NB, NB), u_operand(u_block, pitch),
                  k > 0 && safe ? CHUNKS : 0, l, u, sum, stages);
  if (k > 0 && safe) {
    store_tile(1, at, l_block, pitch, n - here, NB, false, l);
    store_tile(1, at, u_block, pitch, NB, n - here, false, u);
  } else if (k > 0) {
    __global const real* lu = a + (size_t)there * (pitch + 1);
    substitute(l_block, lu, pitch, min(NB, n - here), false);
    substitute(u_block, lu, pitch, min(NB, n - here), true);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (k > 0 && !safe) {
    load_block(at, l_block, pitch, n - here, NB, l);
    load_block(at, u_block, pitch, NB, n - here, u);
  }
  multiply_results(at, (const real(*)[4])l[0], (const real(*)[4])u[0], sum, stages);
  release();
  if (get_local_id(0) == 0) {
    progress[ROW_WORD(k)] = k;
    progress[COLUMN_WORD(k)] = k;
  }
  real tile[TILE][TILE];
  __local corner_scratch* scratch = (__local corner_scratch*)stages;
  const int count = min(NB, n - here);
  take_tile(at, (const real(*)[4])old[0], (const real(*)[4])sum[0], count, tile, stages);
  factor_and_invert(tile, diagonal, pitch, here, count, inverse, info, scratch);
  release();
  END_PART(k);
  if (get_local_id(0) == 0) progress[DIAGONAL_WORD(k)] = 1 + scratch->unsafe;
}

// Tasks of step k, the first of which is its corner; step -1 has a corner only.
inline int tasks_of(int k, int blocks) {
  return k < 0 ? 1 : k + 1 >= blocks ? 0 : 1 + 2 * ((blocks - k - 2 + F - 1) / F);
}

// L and U of a, n x n, overwrite it. inverses: of L, then of U, for each block on the diagonal, NB
// x NB each. ipiv: for no interchanges. info: the first zero pivot, counted from 1, if it was 0.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void factor_none(
    __global real* a, int pitch, int n, __global real* inverses, volatile __global int* progress,
    __global int* ipiv, __global int* info PART_TIMES) {
  __local ulong2 scratch[LOCAL_BYTES / 16];
  __local int shared[2];
  __local real* stages = (__local real*)scratch;
  const int me = get_local_id(0), blocks = (n + NB - 1) / NB;
  for (int i = get_global_id(0); i < n; i += get_num_groups(0) * ITEMS) ipiv[i] = i;
  int patience = SPIN_LIMIT;
  int k = -1, start = 0;  // the step, and its first task
#pragma unroll 1
  while (k < blocks) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0) shared[0] = atomic_inc(progress);
    barrier(CLK_LOCAL_MEM_FENCE);
    const int task = shared[0];
    while (k < blocks && task >= start + tasks_of(k, blocks)) {
      start += tasks_of(k, blocks);
      ++k;
    }
    const int number = task - start;
    if (patience >= 0) patience = SPIN_LIMIT;
    if (k < blocks && number == 0) {
      make_corner(a, pitch, n, k + 1, inverses, progress, info, stages, shared + 1,
                  &patience PASS_PART_TIMES);
    } else if (k < blocks) {
      make_tile(a, pitch, n, k, k + 2 + (number - 1) / 2 * F, (number - 1) % 2 != 0, inverses,
                progress, stages, shared + 1, &patience);
    }
  }
  if (patience < 0) *info = -1;  // a work-group that has started did not go on
}
