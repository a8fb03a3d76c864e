// LU factorization without pivoting on a GPU in one launch, left-looking, by blocks of NB rows and
// columns. Work-groups take tasks from a counter, in a fixed order, and wait only for tasks that
// come earlier in it: one that runs alone comes to its end, so that nothing else is asked of the
// device than that work-groups which have started go on.
//
// Tasks of step k, in this order:
//   the corner: L(k+1, k), U(k, k+1), and block (k+1, k+1) on the diagonal, which is brought up to
//               date, factored, and the factors inverted: all that step k+1 waits for;
//   tiles:      L(k+2 ..., k) and U(k, k+2 ...), a block each, alternately.
// A tile's sum of L(i, s) U(s, j) over the earlier steps s stays in registers, and grows as these
// become known. Then it waits for the inverses of the block on the diagonal, a product with which
// makes it L or U.
//
// Large matrices (F = 2) have squares of two by two blocks instead of tiles, so that sums read half
// as much. Steps are taken in pairs; tasks of pair m, in this order:
//   corner 2m+1;
//   square (m+1, m+1), from which the sum over the pairs before m is subtracted: the corners do the
//               rest;
//   squares (m+1, m) of L and (m, m+1) of U; corner 2m+2;
//   squares (m+2 ..., m) and (m, m+2 ...), alternately.
// The sum of a square is over the earlier pairs; tiles of two blocks for each of its two steps do
// the rest.
//
// `progress` is zeroed before each factorization. Its words count what is known, in order:
//   the tasks taken; of each row of blocks, those of L; of each column of blocks, those of U; of
//   each diagonal block, 1 if it is inverted, and 2 if its inverses overflow or underflow: then L
//   and U are made by substitution, slowly; of each square on the diagonal, 1 if its sum is
//   subtracted.
//
// With inverses, L and U are as accurate as by substitution only if the blocks on the diagonal have
// well-conditioned factors, as they do in matrices that need no pivoting.
//
// Parts whose times are noted (common/part_times.clh): what each corner does once the one before it
// is known.
//
// Build options: F, 1, or 2 for squares; LUGPU_NVIDIA, with NVIDIA's matrix units (compute
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
#define SQUARE_WORD(i) WORD(3 * blocks + (i))

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
                       __local int* shared, int* spins) {
  if (get_local_id(0) == 0) {
    int least = most;
    if (*spins >= 0) {
      do {
        least = min(
            min(progress[words.x], progress[words.y]), min(progress[words.z], progress[words.w]));
      } while (least < wanted && --*spins >= 0);
      if (*spins < 0) least = most;
    }
    fence();
    *shared = min(least, most);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const int least = *shared;
  barrier(CLK_LOCAL_MEM_FENCE);
  return least;
}

// L(first ... last, k), or U(k, first ... last) if `right`: F blocks at most, from which the sum
// over steps before `known` is already subtracted.
inline void make_tile(__global real* a, int pitch, int n, int k, int first, int last, int known,
                      bool right, __global const real* inverses, volatile __global int* progress,
                      __local real* stages, __local int* shared, int* spins) {
  const int blocks = (n + NB - 1) / NB, end = min((last + 1) * NB, n);
  const int row = (right ? k : first) * NB, column = (right ? first : k) * NB;
  const int rows = (right ? n : end) - row, columns = (right ? end : n) - column;
  const int4 words =
      right ? (int4)(ROW_WORD(k), COLUMN_WORD(first), COLUMN_WORD(last), ROW_WORD(k))
            : (int4)(COLUMN_WORD(k), ROW_WORD(first), ROW_WORD(last), COLUMN_WORD(k));
  const place at = place_of(F, right);
  __global real* c = a + (size_t)row * pitch + column;
  real sum[F][4][4];
  clear(F, sum);
  const bool further = known < k;
#pragma unroll 1
  while (known < k) {
    const int next = await_words(progress, words, known + 1, k, shared, spins);
    multiply(F, at, a + (size_t)row * pitch + known * NB, pitch, n - row,
             a + (size_t)known * NB * pitch + column, pitch, pitch - column,
             (next - known) * CHUNKS, sum, stages);
    known = next;
  }
  if (further) store_tile(F, at, c, pitch, rows, columns, true, sum);
  release();
  const bool safe = await_words(progress, (int4)(DIAGONAL_WORD(k)), 1, 2, shared, spins) == 1;
  __global const real* inverse = inverses + (size_t)(2 * k + (right ? 0 : 1)) * NB * NB;
  clear(F, sum);
  multiply(
      F, at, right ? inverse : c, right ? NB : pitch, right ? NB : n - row, right ? c : inverse,
      right ? pitch : NB, right ? pitch - column : NB, safe ? CHUNKS : 0, sum, stages);
  if (safe) {
    store_tile(F, at, c, pitch, rows, columns, false, sum);
  } else {
    substitute(c, a + (size_t)k * NB * (pitch + 1), pitch, end - first * NB, right);
  }
  release();
  if (get_local_id(0) == 0) {
    progress[right ? COLUMN_WORD(first) : ROW_WORD(first)] = k + 1;
    if (last > first) progress[right ? COLUMN_WORD(last) : ROW_WORD(last)] = k + 1;
  }
}

// Square (i, j): A(i, j) - sum of L(i, s) U(s, j) over the earlier pairs s of steps, then, unless
// it is on the diagonal, its columns of L or rows of U.
inline void make_square(__global real* a, int pitch, int n, int i, int j,
                        __global const real* inverses, volatile __global int* progress,
                        __local real* stages, __local int* shared, int* spins) {
  const int blocks = (n + NB - 1) / NB, row = i * 2 * NB, column = j * 2 * NB;
  const int before = 2 * (i == j ? i - 1 : min(i, j));
  const int4 words = (int4)(ROW_WORD(2 * i), ROW_WORD(min(2 * i + 1, blocks - 1)),
                            COLUMN_WORD(2 * j), COLUMN_WORD(min(2 * j + 1, blocks - 1)));
  tile_sums sum;
  clear_tile(sum);
  int known = 0;
#pragma unroll 1
  while (known < before) {
    const int next = await_words(progress, words, known + 1, before, shared, spins);
    multiply_tile(a, pitch, a, pitch, row, column, n, known * NB, next * NB, false, sum, stages);
    barrier(CLK_LOCAL_MEM_FENCE);
    known = next;
  }
  if (before > 0) subtract_tile(a, pitch, row, column, n, n, false, sum);
  release();
  if (i == j && get_local_id(0) == 0) progress[SQUARE_WORD(i)] = 1;
#pragma unroll 1
  for (int k = before; i != j && k < before + 2; ++k) {
    // The corner makes L(k+1, k) and U(k, k+1).
    const int first = max(2 * max(i, j), k + 2), last = min(2 * max(i, j) + 1, blocks - 1);
    if (first <= last) {
      make_tile(
          a, pitch, n, k, first, last, before, i < j, inverses, progress, stages, shared, spins);
    }
  }
}

// L(k, k-1), U(k-1, k) and the inverses of the factors of block (k, k).
inline void make_corner(__global real* a, int pitch, int n, int k, __global real* inverses,
                        volatile __global int* progress, __global int* info, __local real* stages,
                        __local int* shared, int* spins PART_TIMES) {
  const int blocks = (n + NB - 1) / NB, before = k - 1;
  const int here = k * NB, there = before * NB;
  const place at = place_of(1, false);
  __global real* diagonal = a + (size_t)here * pitch + here;
  __global real* inverse = inverses + (size_t)2 * k * NB * NB;
  clear_triangles(inverse);
  __global real* l_block = a + (size_t)here * pitch + there;
  __global real* u_block = a + (size_t)there * pitch + here;
  real sum[1][4][4], l[1][4][4], u[1][4][4], old[1][4][4];
  clear(1, sum);
  clear(1, l);
  clear(1, u);
  const int4 words = (int4)(ROW_WORD(before), ROW_WORD(k), COLUMN_WORD(before), COLUMN_WORD(k));
  const int from = F == 2 ? max(k / 2 * 2 - 2, 0) : 0;
  int known = from;
#pragma unroll 1
  while (known < before) {
    const int next = await_words(progress, words, known + 1, before, shared, spins);
    const size_t across = (size_t)known * NB, down = (size_t)known * NB * pitch;
    multiply_blocks(
        true, at, l_operand(a + (size_t)here * pitch + across, pitch, n - here),
        u_operand(a + down + there, pitch),
        l_operand(a + (size_t)there * pitch + across, pitch, NB), u_operand(a + down + here, pitch),
        (next - known) * CHUNKS, l, u, sum, stages);
    known = next;
  }
  if (before > from) {
    store_tile(1, at, l_block, pitch, n - here, NB, true, l);
    store_tile(1, at, u_block, pitch, NB, n - here, true, u);
  }
  if (F == 2) await_words(progress, (int4)(SQUARE_WORD(k / 2)), k > 1, 1, shared, spins);
  load_block(at, diagonal, pitch, n - here, n - here, old);
  release();
  // From here on, step k waits.
  const int state =
      await_words(progress, (int4)(DIAGONAL_WORD(max(before, 0))), min(k, 1), 2, shared, spins);
  START_PART(k);
  const bool safe = state == 1;
  clear(1, l);
  clear(1, u);
  multiply_blocks(false, at, l_operand(l_block, pitch, n - here), u_operand(inverse - NB * NB, NB),
                  l_operand(inverse - 2 * NB * NB, NB, NB), u_operand(u_block, pitch),
                  k > 0 && safe ? CHUNKS : 0, l, u, sum, stages);
  const bool whole = n - here >= NB;
  if (k > 0 && safe && !whole) {
    store_tile(1, at, l_block, pitch, n - here, NB, false, l);
    store_tile(1, at, u_block, pitch, NB, n - here, false, u);
  } else if (k > 0 && !safe) {
    __global const real* lu = a + (size_t)there * (pitch + 1);
    substitute(l_block, lu, pitch, min(NB, n - here), false);
    substitute(u_block, lu, pitch, min(NB, n - here), true);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (k > 0 && !safe) {
    load_block(at, l_block, pitch, n - here, NB, l);
    load_block(at, u_block, pitch, NB, n - here, u);
  }
  multiply_results(at, (const real(*)[4])l[0], (const real(*)[4])u[0], sum, k > 0 && safe && whole,
                   l_operand(l_block, pitch, NB), u_operand(u_block, pitch), stages);
  real tile[2 * TILE][TILE];
  __local corner_scratch* scratch = (__local corner_scratch*)stages;
  const int count = min(NB, n - here);
  take_tiles(at, (const real(*)[4])old[0], (const real(*)[4])sum[0], count, tile, stages);
  if (get_local_id(0) == PIVOT_WARP * 32) {  // it has little to do at first
    fence();
    progress[ROW_WORD(k)] = k;
    progress[COLUMN_WORD(k)] = k;
  }
  factor_and_invert(tile, diagonal, pitch, here, count, inverse, info, scratch);
  release();
  END_PART(k);
  if (get_local_id(0) == 0) progress[DIAGONAL_WORD(k)] = 1 + scratch->unsafe;
}

// The tasks of step k, or pair k; of -1 the first corner only.
inline int tasks_of(int k, int steps) {
  const int further = steps - k - 1;
  if (k < 0) return 1;
  return F == 1 ? max(2 * further - 1, 0) : further > 0 ? 3 + 2 * further : 1;
}

// The corner that is this task, or -1.
inline int corner_of(int k, int number) {
  if (F == 1 || k < 0) return number == 0 ? F * k + F : -1;
  return number == 0 ? 2 * k + 1 : number == 4 ? 2 * k + 2 : -1;
}

// L and U of a, n x n, overwrite it. inverses: of L, then of U, for each block on the diagonal, NB
// x NB each. ipiv: for no interchanges. info: the first zero pivot, counted from 1, if it was 0.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void factor_none(
    __global real* a, int pitch, int n, __global real* inverses, volatile __global int* progress,
    __global int* ipiv, __global int* info PART_TIMES) {
  __local ulong2 scratch[LOCAL_BYTES / 16];
  __local real* stages = (__local real*)scratch;
  __local int* shared = (__local int*)scratch;  // what all are told while stages are not in use
  const int me = get_local_id(0), blocks = (n + NB - 1) / NB, steps = (blocks + F - 1) / F;
  for (int i = get_global_id(0); i < n; i += get_num_groups(0) * ITEMS) ipiv[i] = i;
  int spins = SPIN_LIMIT;
  int k = -1, start = 0;  // the step, and its first task
#pragma unroll 1
  while (k < steps) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0) shared[0] = atomic_inc(progress);
    barrier(CLK_LOCAL_MEM_FENCE);
    const int task = shared[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    while (k < steps && task >= start + tasks_of(k, steps)) {
      start += tasks_of(k, steps);
      ++k;
    }
    const int number = task - start;
    if (spins >= 0) spins = SPIN_LIMIT;
    const int corner = corner_of(k, number);
    if (k < steps && corner >= 0 && corner < blocks) {
      make_corner(
          a, pitch, n, corner, inverses, progress, info, stages, shared, &spins PASS_PART_TIMES);
    } else if (k < steps && corner < 0) {
#if F == 1
      const int i = k + 2 + (number - 1) / 2;
      make_tile(
          a, pitch, n, k, i, i, 0, number % 2 == 0, inverses, progress, stages, shared, &spins);
#else
      const int far = k + 1 + (number < 4 ? 0 : (number - 3) / 2);
      const bool lower = number < 4 ? number == 2 : number % 2 != 0;
      const bool upper = number < 4 ? number == 3 : !lower;
      make_square(a, pitch, n, upper ? k : far, lower ? k : far, inverses, progress, stages, shared,
                  &spins);
#endif
    }
  }
  if (spins < 0) *info = -1;  // a work-group that has started did not go on
}
