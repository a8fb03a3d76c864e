// The fields of the fast diagonalization in halves: eigenvectors of the one-dimensional matrices
// are even or odd, so each axis of n points has sums b(i) + b(n-1-i) in places 0 : ceil(n / 2) and
// differences in those after them; along x differences start at `odd_x`, and zeros fill both halves
// up to so many elements. The point in the middle of an odd axis is its own sum.
//
// size: points along x, y and z. A work-item has a point of the first octant with its mirror
// images: x = get_global_id(0), and y, z and the right-hand side from get_global_id(1) < rows.

// The lines of a work-item: along x, at y or its mirror image and z or its mirror image.
struct corner {
  int x, y, z, side;  // place in the first octant, and the right-hand side
  int half_y, half_z;
};

inline struct corner my_corner(const int4 size) {
  const int half_y = (size.y + 1) / 2, half_z = (size.z + 1) / 2, row = get_global_id(1);
  const struct corner at = {get_global_id(0),          row % half_y, row / half_y % half_z,
                            row / (half_y * half_z), half_y,       half_z};
  return at;
}

// Whether place i of an axis of n points has a mirror image.
inline bool has_image(int i, int n) { return 2 * i + 1 < n; }

// folded = sums and differences of b(first:), one field for each right-hand side.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void fold(
    __global const real* restrict b, ulong first, __global real* restrict folded, const int4 size,
    int rows, int pitch, int odd_x) {
  if ((int)get_global_id(1) >= rows || (int)get_global_id(0) >= odd_x) return;
  const struct corner at = my_corner(size);
  const bool inside = 2 * at.x < size.x, mirrored = has_image(at.x, size.x);
  real even[4], odd[4];  // of the lines: bit 0 at the image of y, bit 1 at that of z
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const bool there = (line % 2 == 0 || has_image(at.y, size.y)) &&
                       (line / 2 == 0 || has_image(at.z, size.z));
    const int y = line % 2 ? size.y - 1 - at.y : at.y, z = line / 2 ? size.z - 1 - at.z : at.z;
    __global const real* from =
        b + first + ((size_t)at.side * size.z + z) * size.y * size.x + (size_t)y * size.x;
    const real left = there && inside ? from[at.x] : 0;
    const real right = there && mirrored ? from[size.x - 1 - at.x] : 0;
    even[line] = left + right;
    odd[line] = mirrored ? left - right : 0;
  }
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const bool there = (part % 2 == 0 || has_image(at.y, size.y)) &&
                       (part / 2 == 0 || has_image(at.z, size.z));
    if (!there) continue;
    const int y = at.y + part % 2 * at.half_y, z = at.z + part / 2 * at.half_z;
    const real sign_y = part % 2 ? -1 : 1, sign_z = part / 2 ? -1 : 1;
    __global real* to =
        folded + (((size_t)at.side * size.z + z) * size.y + y) * pitch + at.x;
    to[0] = even[0] + sign_y * even[1] + sign_z * (even[2] + sign_y * even[3]);
    to[odd_x] = odd[0] + sign_y * odd[1] + sign_z * (odd[2] + sign_y * odd[3]);
  }
}

// The inverse of fold(): x(first:) from the halves of eigenvectors' sums.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void unfold(
    __global const real* restrict folded, __global real* restrict x, ulong first, const int4 size,
    int rows, int pitch, int odd_x) {
  if ((int)get_global_id(1) >= rows || 2 * (int)get_global_id(0) >= size.x) return;
  const struct corner at = my_corner(size);
  const bool mirrored = has_image(at.x, size.x);
  real even[4], odd[4];  // of the parts: bit 0 odd along y, bit 1 odd along z
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const bool there = (part % 2 == 0 || has_image(at.y, size.y)) &&
                       (part / 2 == 0 || has_image(at.z, size.z));
    const int y = at.y + part % 2 * at.half_y, z = at.z + part / 2 * at.half_z;
    __global const real* from =
        folded + (((size_t)at.side * size.z + z) * size.y + y) * pitch + at.x;
    even[part] = there ? from[0] : 0;
    odd[part] = there && mirrored ? from[odd_x] : 0;
  }
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const bool there = (line % 2 == 0 || has_image(at.y, size.y)) &&
                       (line / 2 == 0 || has_image(at.z, size.z));
    if (!there) continue;
    const int y = line % 2 ? size.y - 1 - at.y : at.y, z = line / 2 ? size.z - 1 - at.z : at.z;
    const real sign_y = line % 2 ? -1 : 1, sign_z = line / 2 ? -1 : 1;
    const real sum = even[0] + sign_y * even[1] + sign_z * (even[2] + sign_y * even[3]);
    const real difference = odd[0] + sign_y * odd[1] + sign_z * (odd[2] + sign_y * odd[3]);
    __global real* to =
        x + first + ((size_t)at.side * size.z + z) * size.y * size.x + (size_t)y * size.x;
    to[at.x] = sum + difference;
    if (mirrored) to[size.x - 1 - at.x] = sum - difference;
  }
}
