// The products of the fast diagonalization on GPUs. Fields are halved (dense/fold.cl), so the
// matrix of an axis has two blocks, for its even and for its odd eigenvectors; it is the same for
// all lines along the axis. Blocks of matrices are stored by rows, padded with zeros to multiples
// of TILE_DEPTH; `q_even` is the pitch of the even one, which comes first, `q_odd` of the other.
//
// Build options: LUGPU_NVIDIA takes the matrix units of NVIDIA's GPUs; LUGPU_DIVIDE divides by the
// eigenvalues.

#ifdef LUGPU_NVIDIA
#include "nvidia/product.clh"
#else
#include "gpu/product.clh"
#endif
#include "dense/eigenvalues.clh"

// The part of a field that a product goes to: `rows` rows of `width` elements, of which the first
// `columns` count. The terms of the eigenvalues: x_terms of columns; those of y and z at each line
// of `pitch` elements of a row, or at each row.
struct target {
  __global real* c;
  int rows, columns, width, pitch;
  __global const real *x_terms, *y_terms, *z_terms;
  int y_of_row, y_of_line, z_of_row;  // 1 or 0
};

inline void put_piece(const struct target* to, int row, int column, piece value) {
  if (row >= to->rows || column >= to->columns) return;
#ifdef LUGPU_DIVIDE
  const int line = column / to->pitch;
  value = quotient(
      value, *(__global const piece*)(to->x_terms + (column - line * to->pitch)),
      to->y_terms[to->y_of_row * row + to->y_of_line * line], to->z_terms[to->z_of_row * row]);
#endif
  *(__global piece*)(to->c + (size_t)row * to->width + column) = value;
}

// Along x: C(:, half) = B(:, half) Q(half), for `rows` rows of `pitch` elements, whose odd half
// begins at odd_x. A work-group for each tile, of which `across` stand side by side in a half.
__kernel __attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1))) void along_x(
    __global const real* b, __global real* c, int rows, int pitch, int across,
    __global const real* q, int q_even, int q_odd, int odd_x, __global const real* x_terms,
    __global const real* y_terms, __global const real* z_terms) {
  __local ulong2 stages[TILE_BYTES / 16];
  const int group = get_group_id(0), half_ = group / across % 2;
  const int depth = half_ ? q_odd : q_even, start = half_ ? odd_x : 0;
  const int row = group / across / 2 * TILE, column = group % across * TILE;
  if (column >= depth) return;  // the same for the work-group
  if (half_) q += (size_t)q_even * q_even;
  const struct target to = {
      c + start, rows, depth, pitch, pitch, x_terms + start, y_terms, z_terms, 0, 0, 0};
  multiply_tile(b + start, pitch, rows, q, depth, depth, depth, depth, row, column,
                (__local real*)stages, &to);
}

// Along y or z: C(half, :) = Q(half) B(half, :) for `fields` matrices B of even + odd rows of
// `width` elements, a multiple of TILE_DEPTH, in lines of `pitch`. along_z: fields are right-hand
// sides, and lines go along x for each y; otherwise fields are planes, `planes` for each right-hand
// side. A work-group for each tile, of which `across` stand side by side in a half and `down` below
// one another.
__kernel __attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1))) void along_rows(
    __global const real* b, __global real* c, int width, int pitch, int across, int down,
    __global const real* q, int even, int odd, int q_even, int q_odd, int along_z, int planes,
    __global const real* x_terms, __global const real* y_terms, __global const real* z_terms) {
  __local ulong2 stages[TILE_BYTES / 16];
  const int group = get_group_id(0), half_ = group / across / down % 2;
  const int field = group / across / down / 2;
  const int count = half_ ? odd : even, depth = half_ ? q_odd : q_even, first = half_ ? even : 0;
  const int row = group / across % down * TILE, column = group % across * TILE;
  if (row >= count) return;  // the same for the work-group
  if (half_) q += (size_t)q_even * q_even;
  const size_t start = ((size_t)field * (even + odd) + first) * width;
  const struct target to = {
      c + start,
      count,
      width,
      width,
      pitch,
      x_terms,
      y_terms + (along_z ? 0 : first),
      z_terms + (along_z ? first : field % planes),
      !along_z,
      along_z,
      along_z};
  multiply_tile(q, depth, count, b + start, width, count, width, depth, row, column,
                (__local real*)stages, &to);
}
