// L U X = B by blocks of NB rows on a GPU. LU is row-major, n x n; X, row-major, holds B first. The padding
// of both is never used for anything else.
//
// Build options: NB; LUGPU_RGBA, and LUGPU_NVIDIA for the matrix units of NVIDIA's GPUs.

#ifdef LUGPU_NVIDIA
#include "tile_nvidia.clh"
#else
#include "tile_gpu.clh"
#endif
#include "strip_gpu.clh"

// Where this work-item's PART rows of a strip are: column c of x, rows row : row + PART, of which those from
// `rows` on do not exist.
inline void load_rows(__global const real* x, int pitch, int c, int row, int rows, real* y) {
#pragma unroll
  for (int i = 0; i < PART; ++i) {
    y[i] = c < pitch && i < rows ? x[(size_t)(row + i) * pitch + c] : (real)0;
  }
}
inline void store_rows(__global real* x, int pitch, int c, int row, int rows, const real* y) {
#pragma unroll
  for (int i = 0; i < PART; ++i) {
    if (c < pitch && i < rows) x[(size_t)(row + i) * pitch + c] = y[i];
  }
}

// y = inverse(L) y or inverse(U) y with the diagonal block of rows k : k + rows.
inline void solve_block(const bool upper, __global const real* lu, int pitch, int k, int rows, real* y,
                        __local real* l, __local real* u) {
  const int me = get_local_id(0);
  fetch_l(lu, pitch, k, rows, k, rows, l);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me >= rows && me < NB) l[me * L_STRIDE + me] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (upper) {
    substitute_upper(y, l, u);
  } else {
    substitute(y, l, u);
  }
}

inline void solve_strip(const bool upper, __global const real* lu, int pitch, __global real* x,
                        int x_pitch, int k, int rows, __local real* l, __local real* u) {
  const int c = get_group_id(0) * STRIP + get_local_id(0) % STRIP;
  const int part = get_local_id(0) / STRIP * PART;
  real y[PART];
  load_rows(x, x_pitch, c, k + part, rows - part, y);
  solve_block(upper, lu, pitch, k, rows, y, l, u);
  store_rows(x, x_pitch, c, k + part, rows - part, y);
}

// X(k:k+rows, strip) = inv(L(k:k+rows, k:k+rows)) X(k:k+rows, strip), a strip for each work-group
__kernel __attribute__((reqd_work_group_size(STRIP * PARTS, 1, 1)))
void forward_block(__global const real* lu, int pitch, __global real* x, int x_pitch, int k,
                   int rows) {
  __local real4 l[NB * L_STRIDE / 4];
  __local real u[PART * STRIP];
  solve_strip(false, lu, pitch, x, x_pitch, k, rows, (__local real*)l, u);
}

// X(k:k+rows, strip) = inv(U(k:k+rows, k:k+rows)) X(k:k+rows, strip)
__kernel __attribute__((reqd_work_group_size(STRIP * PARTS, 1, 1)))
void backward_block(__global const real* lu, int pitch, __global real* x, int x_pitch, int k,
                    int rows) {
  __local real4 l[NB * L_STRIDE / 4];
  __local real u[PART * STRIP];
  solve_strip(true, lu, pitch, x, x_pitch, k, rows, (__local real*)l, u);
}

// X(first:last, 0:columns) -= LU(first:last, k:k+depth) X(k:k+depth, 0:columns), in tiles of 128 x 128
__kernel __attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1)))
void subtract_block(__global const real* lu, int pitch, __global real* x, int x_pitch, int k,
                    int depth, int first, int last, int columns) {
  __local ulong2 scratch[TILE_BYTES / 16];
  const int row = first + get_group_id(0) * 128, column = get_group_id(1) * 128;
  if (depth % TILE_DEPTH == 0) {
    update_tile(lu, pitch, x, x_pitch, row, column, last, columns, k, k + depth, false,
                (__local real*)scratch);
    return;
  }
  // Only the last block of rows may be so.
  for (int e = get_local_id(0); e < 128 * 128; e += TILE_ITEMS) {
    const int i = row + e / 128, j = column + e % 128;
    if (i >= last || j >= columns) continue;
    real sum = x[(size_t)i * x_pitch + j];
    for (int q = k; q < k + depth; ++q) {
      sum = fma(-lu[(size_t)i * pitch + q], x[(size_t)q * x_pitch + j], sum);
    }
    x[(size_t)i * x_pitch + j] = sum;
  }
}

// X, of one strip, in one launch: a work-group has a block of NB rows of B, waits for the blocks of X that
// were solved for before its own, subtracts what each contributes, and solves for its block. It waits for
// earlier work-groups only. Whoever finds another number than the one that all of X was filled with has the
// element, so that no order between stores is needed.
#define SPIN_LIMIT (1 << 22)
#define IS_EMPTY(v) (AS_BITS(v) == (bits)-1)  // a NaN that no operation returns

// v = this work-item's PART rows of the block of X at `x`, of which the first `rows` exist, as soon as they
// are there. All loads are under way before the first is looked at.
inline void await_rows(volatile __global const real* x, int pitch, int rows, real* v) {
  bool missing = true;
  for (int i = 0; missing && i < SPIN_LIMIT; ++i) {
#pragma unroll
    for (int r = 0; r < PART; ++r) v[r] = r < rows ? x[(size_t)r * pitch] : 0;
    missing = false;
#pragma unroll
    for (int r = 0; r < PART; ++r) missing = missing || IS_EMPTY(v[r]);
  }
}

inline void solve_waiting(const bool upper, __global const real* lu, int pitch,
                          __global const real* b, volatile __global real* x, int x_pitch, int n,
                          __local real* l, __local real* u) {
  const int c = get_local_id(0) % STRIP, part = get_local_id(0) / STRIP;
  const int blocks = (n + NB - 1) / NB;
  const int group = get_group_id(0);
  const int row = (upper ? blocks - 1 - group : group) * NB;
  const int rows = min(NB, n - row);
  real y[PART];
  load_rows(b, x_pitch, c, row + part * PART, rows - part * PART, y);
  for (int before = 0; before < group; ++before) {
    const int k = (upper ? blocks - 1 - before : before) * NB;
    const int depth = min(NB, n - k);
    fetch_l(lu, pitch, row, rows, k, depth, l);
    real solved[PART];
    await_rows(x + (size_t)(k + part * PART) * x_pitch + min(c, x_pitch - 1), x_pitch,
               depth - part * PART, solved);
    for (int p = 0; p < PARTS; ++p) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (part == p) {
#pragma unroll
        for (int i = 0; i < PART; ++i) u[i * STRIP + c] = solved[i];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
      for (int i = 0; i < PART; ++i) {
        subtract(y, l + (p * PART + i) * L_STRIDE + part * PART, u[i * STRIP + c]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  solve_block(upper, lu, pitch, row, rows, y, l, u);
#pragma unroll
  for (int i = 0; i < PART; ++i) {
    const int q = part * PART + i;
    if (q < rows && c < x_pitch) x[(size_t)(row + q) * x_pitch + c] = isnan(y[i]) ? (real)NAN : y[i];
  }
}

__kernel __attribute__((reqd_work_group_size(STRIP * PARTS, 1, 1)))
void forward_waiting(__global const real* lu, int pitch, __global const real* b, int b_pitch,
                     __global real* x, int x_pitch, int n) {
  __local real4 l[NB * L_STRIDE / 4];
  __local real u[PART * STRIP];
  solve_waiting(false, lu, pitch, b, x, x_pitch, n, (__local real*)l, u);
}

__kernel __attribute__((reqd_work_group_size(STRIP * PARTS, 1, 1)))
void backward_waiting(__global const real* lu, int pitch, __global const real* b, int b_pitch,
                      __global real* x, int x_pitch, int n) {
  __local real4 l[NB * L_STRIDE / 4];
  __local real u[PART * STRIP];
  solve_waiting(true, lu, pitch, b, x, x_pitch, n, (__local real*)l, u);
}
