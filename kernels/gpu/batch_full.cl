// Steps of LU of many matrices of order 33 (double: 17) to 128 with full pivoting. What is left of
// a matrix, at most ORDER x ORDER, is in the registers of ITEMS work-items: work-item (across,
// down) has a tile of it, ROWS x COLUMNS. Neither rows nor columns move: local memory has the
// positions to which the interchanges have brought them. A step:
//
//   1. The largest that is left by magnitude is found, and of several the first by place (choose).
//   2. The pivot's row and column go to local memory (publish), and the row to its place in the
//      matrix; what it has in columns that were chosen earlier becomes L on the way (keep_row).
//   3. Their product is subtracted from every tile (eliminate). The pivot's row becomes NaN, which
//      no search finds; its column keeps its elements. (A multiplier that is infinite or NaN makes
//      NaN of L left of it in its row.)
//
// After the launch's last step what is left goes to its position (store_rest), the columns of U to
// theirs (move_columns), and so do the rows of L left of this launch's columns (move_rows). A
// launch of a smaller ORDER takes the next steps.
//
// Build options: LUGPU_RGBA, for 16 bytes in a pack; ORDER: 32, 64, 96 or 128; ITEMS; those of
// gpu/batch_places.clh.

#include "gpu/batch_places.clh"

#define DOWN (ITEMS < 256 ? 8 : 16)
#define ACROSS (ITEMS / DOWN)
#define ROWS (ORDER / DOWN)  // multiples of four
#define COLUMNS (ORDER / ACROSS)
#define OWN ((ORDER + ITEMS - 1) / ITEMS)

#ifdef LUGPU_NVIDIA
#define TEAM 32  // work-items that compare before the others, a warp
#else
#define TEAM 1
#endif
#define TEAMS (ITEMS / TEAM)

// The best candidate of each team; the pivot's row and column; what makes L of the columns that
// were chosen, 1 of the others; positions.
typedef struct {
  key_type keys[TEAMS];
  uint places[TEAMS];
  pack row[ORDER / PACK], column[ORDER / PACK];
  real scale[ORDER], inverse[ORDER];
  uchar row_position[ORDER], column_position[ORDER];
} scratch_of;

// What is left of the matrix: m x m, rows n elements apart.
typedef struct {
  __global real* a;
  int n, m;
} rest_of;

// The rows and columns of a work-item's tile that are left: a bit for each.
typedef struct {
  uint rows, columns;
} remainder_of;

// Of the rows and columns me + e ITEMS: where they are, and what makes L of the columns.
typedef struct {
  int row_position[OWN], column_position[OWN];
  real scale[OWN], inverse[OWN];
} own_of;

// Of the tile of this work-item; those of a warp are 4 across and 8 down.
inline int first_row() {
  const int block = get_local_id(0) / 32 / (ACROSS / 4);
  return (block * 8 + get_local_id(0) / 4 % 8) * ROWS;
}
inline int first_column() {
  const int block = get_local_id(0) / 32 % (ACROSS / 4);
  return (block * 4 + get_local_id(0) % 4) * COLUMNS;
}

// Wait for 32 work-items that follow one another, or for all of a matrix, and for what they wrote.
inline void wait_for_warp() {
#ifdef LUGPU_NVIDIA
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
#else
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}
inline void wait_for_matrix() {
#if ITEMS == 32
  wait_for_warp();
#else
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}

#ifdef LUGPU_NVIDIA
inline uint largest_of_team(uint x) { return warp_max(x); }
inline uint smallest_of_team(uint x) { return warp_min(x); }
#else
inline uint largest_of_team(uint x) { return x; }
inline uint smallest_of_team(uint x) { return x; }
#endif

// Row i of the rest to a row of the tile; NaN where there is none.
inline void load_row(rest_of rest, int i, real* x) {
  const int left = first_column();
  UNROLL
  for (int j = 0; j < COLUMNS; ++j) x[j] = NAN;
  if (i < rest.m && is_aligned(rest.n)) {
    UNROLL
    for (int j = 0; j < COLUMNS; j += PACK) {
      if (left + j >= rest.m) continue;
      const pack values = *(const __global pack*)(rest.a + i * rest.n + left + j);
      UNROLL
      for (int e = 0; e < PACK; ++e) x[j + e] = element_of(values, e);
    }
  } else if (i < rest.m) {
    UNROLL
    for (int j = 0; j < COLUMNS; ++j) {
      if (left + j < rest.m) x[j] = rest.a[i * rest.n + left + j];
    }
  }
}

// A magnitude in two words. The upper one, in single all of it, is larger for larger magnitudes; in
// double it is negative for NaN.
#ifdef LUGPU_DOUBLE
#define UPPER_OFFSET 0x000fffff  // between that of infinity and the largest integer
inline int upper_of(real x) { return as_int((as_uint2(x).y & 0x7fffffff) + UPPER_OFFSET); }
inline uint lower_of(real x) { return as_uint2(x).x; }
#else
inline int upper_of(real x) { return as_int(fabs(x)); }
inline uint lower_of(real x) { return 0; }
#endif

// The largest upper word of a column of the tile; -1 if all are NaN.
inline int largest_of_column(real (*x)[COLUMNS], int j) {
#ifdef LUGPU_DOUBLE
  int largest = -1;
  UNROLL
  for (int i = 0; i < ROWS; ++i) largest = max(largest, upper_of(x[i][j]));
  return largest;
#else
  real largest = -1;
  UNROLL
  for (int i = 0; i < ROWS; ++i) largest = fmax(largest, fabs(x[i][j]));
  return max(as_int(largest), -1);
#endif
}

// A place: the positions of its column and row, its row and its column. The smallest is chosen.
inline uint full_place(int column_position, int row_position, int row, int column) {
  return (uint)column_position << 21 | (uint)row_position << 14 | (uint)row << 7 | (uint)column;
}
inline int full_column_position_of(uint place) { return place >> 21; }
inline int full_row_position_of(uint place) { return place >> 14 & 127; }
inline int full_row_of(uint place) { return place >> 7 & 127; }
inline int full_column_of(uint place) { return place & 127; }

// The first place of the tile's largest magnitude, whose upper word is `upper`, and its lower word.
// If upper is -1, the first of all that are left.
inline uint place_in_tile(real (*x)[COLUMNS], remainder_of left, int upper, const int* of_column,
                          uint* lower, const __local scratch_of* shared) {
  uint first = NO_PLACE;
  *lower = 0;
  UNROLL
  for (int j = 0; j < COLUMNS; ++j) {
    if (of_column[j] != upper || !(left.columns >> j & 1)) continue;
    uint largest = 0, rows = 0;
    UNROLL
    for (int i = 0; i < ROWS; ++i) {
      largest = max(largest, upper_of(x[i][j]) == upper ? lower_of(x[i][j]) : 0);
    }
    UNROLL
    for (int i = 0; i < ROWS; ++i) {
      rows |= upper_of(x[i][j]) == upper && lower_of(x[i][j]) == largest ? 1u << i : 0;
    }
    if (upper < 0) rows = left.rows;
    if (largest < *lower) continue;
    if (largest > *lower) first = NO_PLACE;
    *lower = largest;
    const int column = first_column() + j;
    while (rows != 0) {
      const int i = 31 - clz(rows), row = first_row() + i;
      first =
          min(first,
              full_place(shared->column_position[column], shared->row_position[row], row, column));
      rows ^= 1u << i;
    }
  }
  return first;
}

// The place of the pivot.
inline uint choose(real (*x)[COLUMNS], remainder_of left, __local scratch_of* shared) {
  int of_column[COLUMNS], mine = -1;
  UNROLL
  for (int j = 0; j < COLUMNS; ++j) {
    const int is_left = -(int)(left.columns >> j & 1);
    of_column[j] = largest_of_column(x, j) | ~is_left;
    mine = max(mine, of_column[j]);
  }
  const int upper = (int)(largest_of_team((uint)mine + 1) - 1);
  uint lower = 0, place = NO_PLACE;
  if (mine == upper) place = place_in_tile(x, left, upper, of_column, &lower, shared);
#ifdef LUGPU_DOUBLE
  const uint largest = largest_of_team(lower);
  if (lower != largest) place = NO_PLACE;
  lower = largest;
#endif
  place = smallest_of_team(place);
#if TEAMS > 1
#ifdef LUGPU_DOUBLE
  key_type best = (ulong)((uint)upper + 1) << 32 | lower;
#else
  key_type best = (uint)upper + 1;
#endif
  const int me = get_local_id(0);
  if (me % TEAM == 0) {
    shared->keys[me / TEAM] = best;
    shared->places[me / TEAM] = place;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef LUGPU_NVIDIA
  const int team = min(me % TEAM, TEAMS - 1);
  place = best_of_warp(shared->keys[team], shared->places[team]);
#else
  for (int t = 0; t < TEAMS; ++t) compare(shared->keys[t], shared->places[t], &best, &place);
#endif
#else
  wait_for_warp();
#endif
  return place;
}

// Four elements to local memory, if i is `chosen`, which is so for all work-items that come here or
// for none. Of an if, the compiler makes one store for all i, of a value from a computed address,
// for which the tile has to be in memory.
inline void store_if_chosen(int i, int chosen, real a, real b, real c, real d, __local real* to) {
#if defined(LUGPU_NVIDIA) && defined(LUGPU_DOUBLE)
  asm volatile(
      "{ .reg .pred p; setp.ne.s32 p, %0, %1; @p bra.uni OTHER; st.shared.f64 [%2], %3; "
      "st.shared.f64 [%2+8], %4; st.shared.f64 [%2+16], %5; st.shared.f64 [%2+24], %6; OTHER: }" ::
          "r"(i),
      "r"(chosen), "r"((uint)(size_t)to), "d"(a), "d"(b), "d"(c), "d"(d)
      : "memory");
#elif defined(LUGPU_NVIDIA)
  asm volatile(
      "{ .reg .pred p; setp.ne.s32 p, %0, %1; @p bra.uni OTHER; st.shared.f32 [%2], %3; "
      "st.shared.f32 [%2+4], %4; st.shared.f32 [%2+8], %5; st.shared.f32 [%2+12], %6; OTHER: }" ::
          "r"(i),
      "r"(chosen), "r"((uint)(size_t)to), "f"(a), "f"(b), "f"(c), "f"(d)
      : "memory");
#else
  if (i != chosen) return;
  to[0] = a;
  to[1] = b;
  to[2] = c;
  to[3] = d;
#endif
}

// Whether a row, or column, is one of the tile's.
inline bool has_row(int row) { return row >= first_row() && row < first_row() + ROWS; }
inline bool has_column(int column) {
  return column >= first_column() && column < first_column() + COLUMNS;
}

// The row and the column of the pivot to local memory.
inline void publish(real (*x)[COLUMNS], int row, int column, __local scratch_of* shared) {
  if (has_row(row)) {
    __local real* to = (__local real*)shared->row + first_column();
    UNROLL
    for (int i = 0; i < ROWS; ++i) {
      UNROLL
      for (int j = 0; j < COLUMNS; j += 4) {
        store_if_chosen(i, row % ROWS, x[i][j], x[i][j + 1], x[i][j + 2], x[i][j + 3], to + j);
      }
    }
  }
  if (has_column(column)) {
    __local real* to = (__local real*)shared->column + first_row();
    UNROLL
    for (int j = 0; j < COLUMNS; ++j) {
      UNROLL
      for (int i = 0; i < ROWS; i += 4) {
        store_if_chosen(
            j, column % COLUMNS, x[i][j], x[i + 1][j], x[i + 2][j], x[i + 3][j], to + i);
      }
    }
  }
}

// What is at position k and what was chosen change places.
inline void exchange(int i, int k, int chosen, int position_of_chosen, int* mine,
                     __local uchar* all) {
  if (i == chosen) {
    *mine = all[i] = k;
  } else if (*mine == k) {
    *mine = all[i] = position_of_chosen;
  }
}

// Row k of the matrix from the pivot's row, with L in the columns that were chosen before.
inline void keep_row(rest_of rest, int k, int column, real scale, real inverse, own_of* own,
                     const __local scratch_of* shared) {
  UNROLL
  for (int e = 0; e < OWN; ++e) {
    const int i = get_local_id(0) + e * ITEMS;
    if (i >= rest.m) continue;
    const real value = ((const __local real*)shared->row)[i];
    rest.a[k * rest.n + i] = value * own->scale[e] * own->inverse[e];
    own->scale[e] = i == column ? scale : own->scale[e];
    own->inverse[e] = i == column ? inverse : own->inverse[e];
  }
}

// The elimination, which makes the pivot's row NaN.
inline void eliminate(real (*x)[COLUMNS], remainder_of left, int row, real scale, real inverse,
                      const __local scratch_of* shared) {
  real l[ROWS], u[COLUMNS];
  UNROLL
  for (int i = 0; i < ROWS; i += PACK) {
    const pack values = shared->column[(first_row() + i) / PACK];
    UNROLL
    for (int e = 0; e < PACK; ++e) l[i + e] = element_of(values, e);
  }
  UNROLL
  for (int j = 0; j < COLUMNS; j += PACK) {
    const pack values = shared->row[(first_column() + j) / PACK];
    UNROLL
    for (int e = 0; e < PACK; ++e) {
      u[j + e] = left.columns >> (j + e) & 1 ? element_of(values, e) : (real)0;
    }
  }
  UNROLL
  for (int i = 0; i < ROWS; ++i) {
    l[i] = first_row() + i == row ? (real)NAN : l[i] * scale * inverse;
    UNROLL
    for (int j = 0; j < COLUMNS; ++j) x[i][j] = fma(-l[i], u[j], x[i][j]);
  }
}

// What is left to its position, with L in the columns that were chosen.
inline void store_rest(real (*x)[COLUMNS], remainder_of left, rest_of rest, const own_of* own,
                       __local scratch_of* shared) {
  UNROLL
  for (int e = 0; e < OWN; ++e) {
    const int i = get_local_id(0) + e * ITEMS;
    if (i >= ORDER) continue;
    shared->scale[i] = own->scale[e];
    shared->inverse[i] = own->inverse[e];
  }
  wait_for_matrix();
  UNROLL
  for (int j = 0; j < COLUMNS; ++j) {
    const int column = first_column() + j, position = shared->column_position[column];
    const real scale = shared->scale[column], inverse = shared->inverse[column];
    UNROLL
    for (int i = 0; i < ROWS; ++i) {
      if (!(left.rows >> i & 1) || column >= rest.m) continue;
      rest.a[shared->row_position[first_row() + i] * rest.n + position] = x[i][j] * scale * inverse;
    }
  }
}

// Columns to their positions, in the first `rows` rows: a warp takes AT_ONCE of them.
#define AT_ONCE 8
#define PARTS (ORDER / 32)
inline void move_columns(__global real* top, int rows, int n, int m,
                         const __local scratch_of* shared) {
  const int warp = get_local_id(0) / 32, lane = get_local_id(0) % 32;
  int position[PARTS];
  UNROLL
  for (int p = 0; p < PARTS; ++p) {
    position[p] = lane + p * 32 < m ? shared->column_position[lane + p * 32] : 0;
  }
  for (int from = 0; from < rows; from += ITEMS / 32 * AT_ONCE) {
    const int first = from + warp * AT_ONCE;
    real values[AT_ONCE][PARTS];
    UNROLL
    for (int i = 0; i < AT_ONCE; ++i) {
      UNROLL
      for (int p = 0; p < PARTS; ++p) {
        const int j = lane + p * 32;
        if (first + i < rows && j < m) values[i][p] = top[(first + i) * n + j];
      }
    }
    wait_for_warp();
    UNROLL
    for (int i = 0; i < AT_ONCE; ++i) {
      UNROLL
      for (int p = 0; p < PARTS; ++p) {
        if (first + i < rows && lane + p * 32 < m) {
          top[(first + i) * n + position[p]] = values[i][p];
        }
      }
    }
  }
}

// Rows to their positions, in the `columns` columns left of the rest: 32 of them at a time.
#define ROWS_OF_WARP (ORDER * 32 / ITEMS)
inline void move_rows(rest_of rest, int columns, const __local scratch_of* shared) {
  const int warp = get_local_id(0) / 32, lane = get_local_id(0) % 32;
  for (int from = -columns; from < 0; from += 32) {
    const int column = from + lane;
    real values[ROWS_OF_WARP];
    UNROLL
    for (int t = 0; t < ROWS_OF_WARP; ++t) {
      const int i = warp + t * (ITEMS / 32);
      if (i < rest.m && column < 0) values[t] = rest.a[i * rest.n + column];
    }
    wait_for_matrix();
    UNROLL
    for (int t = 0; t < ROWS_OF_WARP; ++t) {
      const int i = warp + t * (ITEMS / 32);
      if (i < rest.m && column < 0) {
        rest.a[shared->row_position[i] * rest.n + column] = values[t];
      }
    }
  }
}

// Steps first : first + steps of P A Q = L U of the matrices, n x n, by rows, as
// gpu/batch_blocked.cl's; n - first <= ORDER; where n is a multiple of PACK, so is first. jpiv: as
// ipiv, of columns.
__kernel REQUIRE_SIZE(ITEMS) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count, int first, int steps) {
  __local scratch_of shared;
  const int me = get_local_id(0);
  const size_t matrix = get_group_id(0);
  __global real* a = matrices + matrix * n * n;
  const rest_of rest = {a + first * (n + 1), n, n - first};
  real x[ROWS][COLUMNS];
  remainder_of left = {0, 0};
  UNROLL
  for (int i = 0; i < ROWS; ++i) {
    load_row(rest, first_row() + i, x[i]);
    if (first_row() + i < rest.m) left.rows |= 1u << i;
  }
  UNROLL
  for (int j = 0; j < COLUMNS; ++j) {
    if (first_column() + j < rest.m) left.columns |= 1u << j;
    // No signalling NaN, whose upper word may be that of infinity.
    UNROLL
    for (int i = 0; i < ROWS; ++i) x[i][j] = isnan(x[i][j]) ? (real)NAN : x[i][j];
  }
  own_of own;
  UNROLL
  for (int e = 0; e < OWN; ++e) {
    const int i = me + e * ITEMS;
    own.row_position[e] = own.column_position[e] = i;
    own.scale[e] = own.inverse[e] = 1;
    if (i < ORDER) shared.row_position[i] = shared.column_position[i] = i;
  }
  wait_for_matrix();  // what was read may be overwritten
  int zero = 0;
  for (int k = 0; k < steps; ++k) {
    const uint place = choose(x, left, &shared);
    const int row = full_row_of(place), column = full_column_of(place);
    publish(x, row, column, &shared);
    UNROLL
    for (int e = 0; e < OWN; ++e) {
      const int i = me + e * ITEMS;
      exchange(i, k, row, full_row_position_of(place), &own.row_position[e], shared.row_position);
      exchange(i, k, column, full_column_position_of(place), &own.column_position[e],
               shared.column_position);
    }
    if (has_row(row)) left.rows &= ~(1u << row % ROWS);
    if (has_column(column)) left.columns &= ~(1u << column % COLUMNS);
    wait_for_matrix();
    if (me == 0) {
      ipiv[matrix * n + first + k] = first + full_row_position_of(place);
      jpiv[matrix * n + first + k] = first + full_column_position_of(place);
    }
    const real pivot = ((const __local real*)shared.row)[column];
    if (pivot == 0 && zero == 0) zero = first + k + 1;
    real scale, inverse;
    reciprocal(pivot, &scale, &inverse);
    keep_row(rest, k, column, scale, inverse, &own, &shared);
    eliminate(x, left, row, scale, inverse, &shared);
  }
  if (me == 0 && (first == 0 || info[matrix] == 0)) info[matrix] = zero;
  store_rest(x, left, rest, &own, &shared);
  wait_for_matrix();
  move_columns(a + first, first + steps, n, rest.m, &shared);
  move_rows(rest, first, &shared);
}
