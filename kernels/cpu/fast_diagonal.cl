// The products of the fast diagonalization on devices whose work-items are CPU threads; a
// work-group is one work-item. Fields are halved (dense/fold.cl), so the matrix of an axis has two
// blocks, for its even and for its odd eigenvectors; it is the same for all lines along the axis.
//
// Build options: VECTOR (common/vector.clh); ROWS of a register tile; DEPTH, terms of a sum at a
// time, so that the strip they come from stays in the first-level cache; LUGPU_DIVIDE: divides by
// the eigenvalues.

#include "common/vector.clh"
typedef vec piece;
#include "dense/eigenvalues.clh"

#define STRIP (2 * VECTOR)

// C(0:rows, 0:STRIP) = L(0:rows, 0:depth) U(0:depth, 0:STRIP), or += that if `begun`, with
// L(r, q) = l[r * l_row + q * l_column], of which tile >= rows rows are there, and U in rows of
// STRIP.
inline void multiply_tile(const int tile, const __global real* l, size_t l_row, int l_column,
                          const __global real* u, int depth, __global real* c, size_t c_pitch,
                          int rows, bool begun) {
  vec sum[ROWS][2];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    sum[r][0] = sum[r][1] = 0;
    if (begun && r < rows) {
      const __global vec* old = (const __global vec*)(c + r * c_pitch);
      sum[r][0] = old[0];
      sum[r][1] = old[1];
    }
  }
  for (int q = 0; q < depth; ++q) {
    const __global vec* row = (const __global vec*)(u + q * STRIP);
    const vec u0 = row[0], u1 = row[1];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      if (r >= tile) continue;
      const vec factor = (vec)l[r * l_row + q * l_column];
      sum[r][0] = fma(factor, u0, sum[r][0]);
      sum[r][1] = fma(factor, u1, sum[r][1]);
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (r < rows) {
      __global vec* to = (__global vec*)(c + r * c_pitch);
      to[0] = sum[r][0];
      to[1] = sum[r][1];
    }
  }
}

// Along x: C(i, half) = B(i, half) Q(half) for rows block * block_rows on of the field, in rows of
// `pitch`. Q: strips of its columns, those of the even half first.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void along_x(
    const __global real* b, __global real* c, int rows, int pitch, int block_rows,
    const __global real* q, int even, int odd, int odd_x, const __global real* x_terms,
    const __global real* y_terms, const __global real* z_terms) {
  const int half_ = get_group_id(0) % 2, count = half_ ? odd : even;
  const int top = get_group_id(0) / 2 * block_rows, end = min(top + block_rows, rows);
  const int even_strips = (even + STRIP - 1) / STRIP, strips = (count + STRIP - 1) / STRIP;
  const int start = half_ ? odd_x : 0;
  if (half_) q += (size_t)even_strips * even * STRIP;
  for (int k = 0; k < count; k += DEPTH) {
    const int depth = min(DEPTH, count - k);
    for (int s = 0; s < strips; ++s) {
      for (int i = top; i < end; i += ROWS) {
        multiply_tile(
            ROWS, b + (size_t)i * pitch + start + k, pitch, 1, q + ((size_t)s * count + k) * STRIP,
            depth, c + (size_t)i * pitch + start + s * STRIP, pitch, min(ROWS, end - i), k > 0);
      }
    }
  }
#ifdef LUGPU_DIVIDE
  for (int i = top; i < end; ++i) {
    for (int j = start; j < start + strips * STRIP; j += VECTOR) {
      __global vec* value = (__global vec*)(c + (size_t)i * pitch + j);
      *value = quotient(*value, *(const __global vec*)(x_terms + j), y_terms[0], z_terms[0]);
    }
  }
#endif
}

// C(0:rows, 0:STRIP) divided by the eigenvalues with these terms of x, and of the other axes: one
// term is that of the row, the other one the same for all rows.
inline void divide_strip(__global real* c, size_t width, int rows, const __global real* x_terms,
                         const __global real* y_terms, int y_step, const __global real* z_terms,
                         int z_step) {
  const vec x0 = ((const __global vec*)x_terms)[0], x1 = ((const __global vec*)x_terms)[1];
  for (int i = 0; i < rows; ++i) {
    __global vec* value = (__global vec*)(c + i * width);
    value[0] = quotient(value[0], x0, y_terms[i * y_step], z_terms[i * z_step]);
    value[1] = quotient(value[1], x1, y_terms[i * y_step], z_terms[i * z_step]);
  }
}

// Along y or z: C(half, :) = Q(half) B(half, :) for `fields` matrices B of even + odd rows, `width`
// elements each, which are `lines` lines of `pitch` elements with strips up to `columns`. Q: tiles
// of ROWS of its rows, those of the even half first, in each of which rows alternate. Every
// work-group has `room` for DEPTH rows of a strip. along_z: fields are right-hand sides, lines rows
// along x for each y; otherwise fields are planes of `planes` for each right-hand side.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void along_rows(
    const __global real* b, __global real* c, int width, int lines, int pitch, int columns,
    int fields, const __global real* q, int even, int odd, __global real* room, int along_z,
    int planes, const __global real* x_terms, const __global real* y_terms,
    const __global real* z_terms) {
  const int across = columns / STRIP;
  const long tasks = (long)fields * 2 * lines * across;
  const size_t odd_q = (size_t)((even + ROWS - 1) / ROWS) * even * ROWS;
  room += (size_t)get_group_id(0) * DEPTH * STRIP;
  for (long task = get_group_id(0); task < tasks; task += get_num_groups(0)) {
    const int strip = task % across, line = task / across % lines;
    const int half_ = task / across / lines % 2, field = task / across / lines / 2;
    const int count = half_ ? odd : even, first = half_ ? even : 0;
    const __global real* q_half = q + half_ * odd_q;
    const size_t start =
        ((size_t)field * (even + odd) + first) * width + (size_t)line * pitch + strip * STRIP;
    for (int k = 0; k < count; k += DEPTH) {
      const int depth = min(DEPTH, count - k);
      for (int p = 0; p < depth; ++p) {
        const __global vec* from = (const __global vec*)(b + start + (size_t)(k + p) * width);
        __global vec* to = (__global vec*)(room + p * STRIP);
        to[0] = from[0];
        to[1] = from[1];
      }
      for (int i = 0; i < count; i += ROWS) {
        const int rows = min(ROWS, count - i);
        const __global real* l = q_half + (size_t)i * count + (size_t)k * ROWS;
        __global real* to = c + start + (size_t)i * width;
        if (3 * rows > 2 * ROWS) {
          multiply_tile(ROWS, l, 1, ROWS, room, depth, to, width, rows, k > 0);
        } else if (3 * rows > ROWS) {
          multiply_tile(2 * ROWS / 3, l, 1, ROWS, room, depth, to, width, rows, k > 0);
        } else {
          multiply_tile(ROWS / 3, l, 1, ROWS, room, depth, to, width, rows, k > 0);
        }
      }
    }
#ifdef LUGPU_DIVIDE
    divide_strip(
        c + start, width, count, x_terms + strip * STRIP, y_terms + (along_z ? line : first),
        !along_z, z_terms + (along_z ? first : field % planes), along_z != 0);
#endif
  }
}
