// The fields of the fast diagonalization in halves: eigenvectors of the one-dimensional matrices
// are even or odd, so each axis of n points has sums b(i) + b(n-1-i) in places 0 : ceil(n / 2) and
// differences in those after them; along x differences start at `odd_x`. The point in the middle
// of an odd axis is its own sum.
//
// size: points along x, y and z. get_global_id(1) < rows says where y, z and the right-hand side
// are. With the build option VECTOR, for CPUs, a work-item takes the whole line along x, at least
// VECTOR sums, as vectors, and what is between the halves of a row is left as it was. Otherwise it
// takes one place x, and fills both halves with zeros up to odd_x elements.

#ifdef VECTOR
#include "common/vector.clh"
#define PIECE VECTOR
#define GROUP_SIZE 1
typedef vec piece;

inline piece load_piece(__global const real* from) { return VECTOR_LOAD(from); }
inline void store_piece(piece value, __global real* to) { VECTOR_STORE(value, to); }
inline piece reversed(piece value) {
#if VECTOR == 16
  return value.sfedcba9876543210;
#elif VECTOR == 8
  return value.s76543210;
#elif VECTOR == 4
  return value.wzyx;
#else
  return value.yx;
#endif
}
inline piece without_last(piece value) {
  ((real*)&value)[VECTOR - 1] = 0;
  return value;
}
#else
#define PIECE 1
#define GROUP_SIZE 64
typedef real piece;

inline piece load_piece(__global const real* from) { return *from; }
inline void store_piece(piece value, __global real* to) { *to = value; }
inline piece reversed(piece value) { return value; }
inline piece without_last(piece value) { return 0; }
#endif

// Whether place i of an axis of n points has a mirror image.
inline bool has_image(int i, int n) { return 2 * i + 1 < n; }

// Four lines of a field in halves, or of one that is not: those of the first octant's y and z, with
// the mirror image or odd half of y, of z, and of both.
struct lines {
  size_t at[4];
  bool there[4];
};

// Of the whole field b, and of the one in halves.
inline struct lines whole_lines(const int4 size, int row, int pitch) {
  const int half_y = (size.y + 1) / 2, half_z = (size.z + 1) / 2;
  const int first_y = row % half_y, first_z = row / half_y % half_z;
  const size_t side = row / half_y / half_z;
  struct lines lines;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int y = i % 2 ? size.y - 1 - first_y : first_y;
    const int z = i / 2 ? size.z - 1 - first_z : first_z;
    lines.at[i] = ((side * size.z + z) * size.y + y) * pitch;
    lines.there[i] =
        (i % 2 == 0 || has_image(first_y, size.y)) && (i / 2 == 0 || has_image(first_z, size.z));
  }
  return lines;
}
inline struct lines halved_lines(const int4 size, int row, int pitch) {
  const int half_y = (size.y + 1) / 2, half_z = (size.z + 1) / 2;
  const int first_y = row % half_y, first_z = row / half_y % half_z;
  const size_t side = row / half_y / half_z;
  struct lines lines;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int y = first_y + i % 2 * half_y, z = first_z + i / 2 * half_z;
    lines.at[i] = ((side * size.z + z) * size.y + y) * pitch;
    lines.there[i] =
        (i % 2 == 0 || has_image(first_y, size.y)) && (i / 2 == 0 || has_image(first_z, size.z));
  }
  return lines;
}

// What is even and odd along y and z, from the four lines; and the lines from these.
inline void combine_lines(const piece* v, piece* result) {
  const piece sum = v[0] + v[1], difference = v[0] - v[1];
  const piece other_sum = v[2] + v[3], other_difference = v[2] - v[3];
  result[0] = sum + other_sum;
  result[1] = difference + other_difference;
  result[2] = sum - other_sum;
  result[3] = difference - other_difference;
}

inline void fold_piece(__global const real* b, const struct lines* from, __global real* folded,
                       const struct lines* to, int x, int points, int odd_x) {
  piece even[4], odd[4], even_parts[4], odd_parts[4];
  const bool mirrored = has_image(x + PIECE - 1, points), inside = 2 * x < points;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    piece left = 0, right = 0;
    if (from->there[i] && inside) {
      left = load_piece(b + from->at[i] + x);
      right = reversed(load_piece(b + from->at[i] + points - PIECE - x));
      if (!mirrored) right = without_last(right);
    }
    even[i] = left + right;
    odd[i] = mirrored ? left - right : without_last(left - right);
  }
  combine_lines(even, even_parts);
  combine_lines(odd, odd_parts);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (!to->there[i]) continue;
    store_piece(even_parts[i], folded + to->at[i] + x);
    store_piece(odd_parts[i], folded + to->at[i] + odd_x + x);
  }
}

inline void unfold_piece(__global const real* folded, const struct lines* from,
                         __global real* whole, const struct lines* to, int x, int points,
                         int odd_x) {
  piece even[4], odd[4], even_lines[4], odd_lines[4];
  const bool mirrored = has_image(x + PIECE - 1, points);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    even[i] = odd[i] = 0;
    if (!from->there[i]) continue;
    even[i] = load_piece(folded + from->at[i] + x);
    odd[i] = load_piece(folded + from->at[i] + odd_x + x);
    if (!mirrored) odd[i] = without_last(odd[i]);
  }
  combine_lines(even, even_lines);
  combine_lines(odd, odd_lines);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (!to->there[i]) continue;
    store_piece(even_lines[i] + odd_lines[i], whole + to->at[i] + x);
    store_piece(reversed(even_lines[i] - odd_lines[i]), whole + to->at[i] + points - PIECE - x);
  }
}

// folded = sums and differences of b(first:), whose rows are b_pitch elements apart, one field for
// each right-hand side.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void fold(
    __global const real* restrict b, ulong first, int b_pitch, __global real* restrict folded,
    const int4 size, int rows, int pitch, int odd_x) {
  const int row = get_global_id(1);
  if (row >= rows) return;
  const struct lines from = whole_lines(size, row, b_pitch), to = halved_lines(size, row, pitch);
#ifdef VECTOR
  // The last piece may overlap the one before it.
  const int sums = (size.x + 1) / 2;
  for (int x = 0; x < sums; x += VECTOR)
    fold_piece(b + first, &from, folded, &to, min(x, sums - VECTOR), size.x, odd_x);
#else
  const int x = get_global_id(0);
  if (x < odd_x) fold_piece(b + first, &from, folded, &to, x, size.x, odd_x);
#endif
}

// The inverse of fold(), with halves of eigenvectors instead of sums: x(first:).
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void unfold(
    __global const real* restrict folded, __global real* restrict x, ulong first, int x_pitch,
    const int4 size, int rows, int pitch, int odd_x) {
  const int row = get_global_id(1);
  if (row >= rows) return;
  const struct lines from = halved_lines(size, row, pitch), to = whole_lines(size, row, x_pitch);
  const int sums = (size.x + 1) / 2;
#ifdef VECTOR
  for (int i = 0; i < sums; i += VECTOR)
    unfold_piece(folded, &from, x + first, &to, min(i, sums - VECTOR), size.x, odd_x);
#else
  const int i = get_global_id(0);
  if (i < sums) unfold_piece(folded, &from, x + first, &to, i, size.x, odd_x);
#endif
}
