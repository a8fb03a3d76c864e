// LU of many matrices of order 33 to 128 with full pivoting, each in the registers of SIDE x SIDE
// work-items: work-item (across, down) has a tile of it, the rows TILE down + i and the columns
// TILE across + j. Neither rows nor columns move: local memory has the positions to which the
// interchanges have brought them. A step:
//
//   1. All work-items compare what is left of their tiles by magnitude, and those that have the
//      largest by place (choose).
//   2. The pivot's row goes to its place in the matrix and, where columns are left, to local
//      memory, and so does its column (publish). What the row has in columns that were chosen
//      earlier becomes L on the way.
//   3. The product is subtracted from every tile (eliminate). The pivot's row becomes NaN, which no
//      search finds; its column keeps its elements.
//
// In the end the elements of every row go to the positions of their columns.
//
// Build options: LUGPU_RGBA, for 16 bytes in a pack; ORDER; ITEMS, (ORDER / 8)^2; those of
// gpu/batch_places.clh.

#include "gpu/batch_places.clh"

#define TILE 8
#define SIDE (ORDER / TILE)

#ifdef LUGPU_NVIDIA
#define TEAM 32  // work-items that compare before the others
#else
#define TEAM 1
#endif

// The largest of each team, and the place of the largest of all (for even and odd steps); the
// pivot's row, 0 in columns that were chosen, its column, and itself; of each column that was
// chosen, what makes L of it; positions, and what is there.
typedef struct {
  key_type keys[2][ITEMS / TEAM];
  uint place[2];
  pack row[ORDER / PACK], column[ORDER / PACK];
  real pivot, scale[ORDER], inverse[ORDER];
  uchar row_position[ORDER], row_at[ORDER], column_position[ORDER], column_at[ORDER];
} scratch_of;

inline int across() { return get_local_id(0) % SIDE; }
inline int down() { return get_local_id(0) / SIDE; }

// A row of a tile of the matrix, n x n, from its place; `outside` where there is none.
inline void load_row(const __global real* a, int n, int i, real* x, real outside) {
  const int left = TILE * across();
  UNROLL
  for (int j = 0; j < TILE; ++j) x[j] = outside;
  if (i < n && is_aligned(n)) {
    UNROLL
    for (int j = 0; j < TILE; j += PACK) {
      if (left + j >= n) continue;
      const pack values = *(const __global pack*)(a + i * n + left + j);
      UNROLL
      for (int e = 0; e < PACK; ++e) x[j + e] = element_of(values, e);
    }
  } else if (i < n) {
    UNROLL
    for (int j = 0; j < TILE; ++j) {
      if (left + j < n) x[j] = a[i * n + left + j];
    }
  }
}

// It to row k of the matrix.
inline void store_row(__global real* a, int n, int k, const real* x) {
  const int left = TILE * across();
  if (is_aligned(n)) {
    UNROLL
    for (int j = 0; j < TILE; j += PACK) {
      if (left + j < n) *(__global pack*)(a + k * n + left + j) = pack_of(x + j);
    }
  } else {
    UNROLL
    for (int j = 0; j < TILE; ++j) {
      if (left + j < n) a[k * n + left + j] = x[j];
    }
  }
}

// The elements of some packs in local memory; and the reverse.
inline void read_packs(const __local pack* from, real* x) {
  UNROLL
  for (int j = 0; j < TILE; j += PACK) {
    const pack values = from[j / PACK];
    UNROLL
    for (int e = 0; e < PACK; ++e) x[j + e] = element_of(values, e);
  }
}

inline void write_packs(const real* x, __local pack* to) {
  UNROLL
  for (int j = 0; j < TILE; j += PACK) to[j / PACK] = pack_of(x + j);
}

// X -= l u of a tile
inline void subtract_product(real (*x)[TILE], const real* l, const real* u) {
  UNROLL
  for (int i = 0; i < TILE; ++i) {
    UNROLL
    for (int j = 0; j < TILE; ++j) x[i][j] = fma(-l[i], u[j], x[i][j]);
  }
}

// What is left of the work-item's tile: a bit for each row and column.
typedef struct {
  uint rows, columns;
} remainder_of;

// A place: the positions of its column and row, its row and its column. The smallest is chosen.
inline uint full_place(int column_position, int row_position, int row, int column) {
  return (uint)column_position << 21 | (uint)row_position << 14 | (uint)row << 7 | (uint)column;
}
inline int full_row_of(uint place) { return place >> 7 & 127; }
inline int full_column_of(uint place) { return place & 127; }

// The largest magnitude that is left of each column of the tile, -1 if nothing is or all are NaN,
// and of all.
inline real largest_of_tile(real (*x)[TILE], remainder_of left, real* of_column) {
  real largest = -1;
  UNROLL
  for (int j = 0; j < TILE; ++j) {
    of_column[j] = -1;
    UNROLL
    for (int i = 0; i < TILE; ++i) of_column[j] = fmax(of_column[j], fabs(x[i][j]));
    of_column[j] = left.columns >> j & 1 ? of_column[j] : (real)-1;
    largest = fmax(largest, of_column[j]);
  }
  return largest;
}

// The first place of the largest magnitude in the tile, or, if that is -1, of what is left of it.
inline uint place_in_tile(real (*x)[TILE], remainder_of left, real largest, const real* of_column,
                          const __local scratch_of* shared) {
  uint first = NO_PLACE;
  UNROLL
  for (int j = 0; j < TILE; ++j) {
    if (of_column[j] != largest || !(left.columns >> j & 1)) continue;
    const int column = TILE * across() + j;
    UNROLL
    for (int i = 0; i < TILE; ++i) {
      const int row = TILE * down() + i;
      const uint place =
          full_place(shared->column_position[column], shared->row_position[row], row, column);
      const bool here = (left.rows >> i & 1) && (largest < 0 || fabs(x[i][j]) == largest);
      first = here ? min(first, place) : first;
    }
  }
  return first;
}

// The pivot of step k.
inline uint choose(real (*x)[TILE], remainder_of left, int k, __local scratch_of* shared) {
  const int me = get_local_id(0);
  real of_column[TILE];
  const real largest = largest_of_tile(x, left, of_column);
  const key_type mine = largest >= 0 ? rank_of(largest) : 0;
#ifdef LUGPU_NVIDIA
  const key_type of_team = largest_of_warp(mine);
#else
  const key_type of_team = mine;
#endif
  if (me % TEAM == 0) shared->keys[k % 2][me / TEAM] = of_team;
  barrier(CLK_LOCAL_MEM_FENCE);
  key_type best = 0;
  for (int i = 0; i < ITEMS / TEAM; ++i) best = max(best, shared->keys[k % 2][i]);
  if (me == 0) shared->place[1 - k % 2] = NO_PLACE;
  if (mine == best) {
    const uint place = place_in_tile(x, left, largest, of_column, shared);
    if (place != NO_PLACE) atomic_min(&shared->place[k % 2], place);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return shared->place[k % 2];
}

// A value that was chosen by a condition among registers. Otherwise the compiler turns the choice
// into one load with a computed address, and the whole tile goes to memory.
inline real in_register(real x) {
#if defined(LUGPU_NVIDIA) && defined(LUGPU_DOUBLE)
  asm("mov.f64 %0, %0;" : "+d"(x));
#elif defined(LUGPU_NVIDIA)
  asm("mov.f32 %0, %0;" : "+f"(x));
#endif
  return x;
}

// The row and the column of the pivot to local memory, and the row to row k of the matrix, where
// its elements in columns that were chosen become those of L.
inline void publish(real (*x)[TILE], remainder_of left, int row, int column, __global real* a,
                    int n, int k, __local scratch_of* shared) {
  const bool in_column = across() == column / TILE;
  real values[TILE];
  if (down() == row / TILE) {
    UNROLL
    for (int i = 0; i < TILE; ++i) {
      if (i != row % TILE) continue;
      UNROLL
      for (int j = 0; j < TILE; ++j) values[j] = in_register(x[i][j]);
    }
    real upper[TILE], pivot = 0;
    UNROLL
    for (int j = 0; j < TILE; ++j) {
      const bool is_left = left.columns >> j & 1, is_pivot = in_column & (j == column % TILE);
      const int place = TILE * across() + j;
      pivot = is_pivot ? values[j] : pivot;
      upper[j] = is_left && !is_pivot ? values[j] : (real)0;
      values[j] = is_left ? values[j] : values[j] * shared->scale[place] * shared->inverse[place];
    }
    store_row(a, n, k, values);
    write_packs(upper, shared->row + TILE * across() / PACK);
    if (in_column) shared->pivot = pivot;
  }
  if (in_column) {
    UNROLL
    for (int j = 0; j < TILE; ++j) {
      if (j != column % TILE) continue;
      UNROLL
      for (int i = 0; i < TILE; ++i) values[i] = in_register(x[i][j]);
    }
    write_packs(values, shared->column + TILE * down() / PACK);
  }
}

// The elimination, which makes the pivot's row NaN. Returns whether the pivot is zero.
inline bool eliminate(real (*x)[TILE], int row, int column, __local scratch_of* shared) {
  real l[TILE], u[TILE], scale, inverse;
  const real pivot = shared->pivot;
  reciprocal(pivot, &scale, &inverse);
  if (get_local_id(0) == 0) {
    shared->scale[column] = scale;
    shared->inverse[column] = inverse;
  }
  read_packs(shared->column + TILE * down() / PACK, l);
  read_packs(shared->row + TILE * across() / PACK, u);
  UNROLL
  for (int i = 0; i < TILE; ++i) {
    l[i] = TILE * down() + i == row ? (real)NAN : l[i] * scale * inverse;
  }
  subtract_product(x, l, u);
  return pivot == 0;
}

// What is at position k and `chosen` change places. Returns the position of the latter.
inline int exchange(__local uchar* position, __local uchar* at, int k, int chosen) {
  const uchar p = position[chosen], other = at[k];
  at[p] = other;
  position[other] = p;
  at[k] = chosen;
  position[chosen] = k;
  return p;
}

// P A Q = L U of the matrices, n x n, by rows, as gpu/batch_blocked.cl's; jpiv: likewise, of
// columns.
__kernel REQUIRE_SIZE(ITEMS) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  __local scratch_of shared;
  const int me = get_local_id(0);
  const size_t matrix = get_group_id(0);
  __global real* a = matrices + matrix * n * n;
  real x[TILE][TILE];
  remainder_of left = {0, 0};
  UNROLL
  for (int i = 0; i < TILE; ++i) {
    load_row(a, n, TILE * down() + i, x[i], NAN);
    if (TILE * down() + i < n) left.rows |= 1u << i;
    if (TILE * across() + i < n) left.columns |= 1u << i;
  }
  for (int i = me; i < ORDER; i += ITEMS) {
    shared.row_position[i] = shared.row_at[i] = i;
    shared.column_position[i] = shared.column_at[i] = i;
    shared.scale[i] = shared.inverse[i] = 0;
  }
  if (me == 0) shared.place[0] = NO_PLACE;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // what was read may be overwritten
  int zero = 0;
  for (int k = 0; k < n; ++k) {
    const uint pivot = choose(x, left, k, &shared);
    const int row = full_row_of(pivot), column = full_column_of(pivot);
    publish(x, left, row, column, a, n, k, &shared);
    if (down() == row / TILE) left.rows &= ~(1u << row % TILE);
    if (across() == column / TILE) left.columns &= ~(1u << column % TILE);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0) ipiv[matrix * n + k] = exchange(shared.row_position, shared.row_at, k, row);
    if (me == ITEMS - 1) {
      jpiv[matrix * n + k] = exchange(shared.column_position, shared.column_at, k, column);
    }
    if (eliminate(x, row, column, &shared) && zero == 0) zero = k + 1;
  }
  if (me == 0) info[matrix] = zero;
  // The columns, which are where they were at the beginning, to their positions.
  const int column = me % ORDER;
  const bool is_column = column < n;
  barrier(CLK_GLOBAL_MEM_FENCE);
  UNROLL
  for (int b = 0; b < TILE * TILE; ++b) {
    const int i = me / ORDER + b * (ITEMS / ORDER);
    x[b / TILE][b % TILE] = is_column && i < n ? a[i * n + column] : (real)0;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  UNROLL
  for (int b = 0; b < TILE * TILE; ++b) {
    const int i = me / ORDER + b * (ITEMS / ORDER);
    if (is_column && i < n) a[i * n + shared.column_position[column]] = x[b / TILE][b % TILE];
  }
}
