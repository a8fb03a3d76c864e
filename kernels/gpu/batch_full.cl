// Steps of LU of many matrices with full pivoting, from order 33 (double: 17) on. What is left of a
// matrix, at most ORDER x ORDER, is in the registers of ITEMS work-items: a row has PARTS of them,
// which follow one another, with COLUMNS of its elements each. Neither rows nor columns move:
// each has a position, to which the interchanges have brought it. A step:
//
//   1. The largest that is left by magnitude is found, and of several the first by place. Where one
//      work-item alone has it, its warp looks for the column when the row is in local memory
//      (find_pivot).
//   2. The pivot's row is in local memory for all. It goes to row k of the rest in the matrix, its
//      columns where they are.
//   3. Its product with the multipliers is subtracted from every row, and every row's largest found
//      at once (eliminate). The pivot's row and column become NaN, which no search finds; the
//      multipliers stay in local memory.
//
// After the launch's last step the columns of U go to their positions (move_columns), and so do the
// multipliers (store_multipliers), what is left (store_rest), and the rows of L left of this
// launch's columns (move_rows). A launch of a smaller ORDER takes the next steps.
//
// Build options: LUGPU_RGBA, for 16 bytes in a pack; ORDER: 32, 48, 64, 96, 128, 160, 192 or 224;
// ITEMS; those of gpu/batch_places.clh.

#include "gpu/batch_places.clh"

#define ROWS ((ORDER + 31) / 32 * 32)
#define PARTS (ITEMS / ROWS)
#define COLUMNS (ORDER / PARTS)  // a multiple of 16
#define MOST_STEPS 32            // of a launch

#ifdef LUGPU_NVIDIA
#define TEAM 32  // work-items that compare before the others, a warp
#else
#define TEAM 1
#endif
#define TEAMS (ITEMS / TEAM)
#define WARPS (ITEMS / 32)  // 32 work-items, also where they do not run as one
#define ROWS_OF_WARP (ROWS / WARPS)

// The pivot's row, with NaN instead of the pivot; the pivot; the places of all steps' pivots; the
// multipliers of each row in all steps, or 32 of its elements on their way from or to the matrix;
// what the teams propose; the position of each column, and after the last step the row at each
// position.
typedef struct {
  pack u[ORDER / PACK];
  real pivot;
  uint pivots[MOST_STEPS];
  real slab[ROWS][32 + 1];
  key_type keys[TEAMS];
  uint places[TEAMS];
#ifdef LUGPU_NVIDIA
  uint upper[TEAMS];
  int winners[TEAMS];
#endif
  uchar column_position[ORDER], row_at[ROWS];
} scratch_of;

// What is left of the matrix: m x m, rows n elements apart.
typedef struct {
  __global real* a;
  int n, m;
} rest_of;

// Of a work-item.
inline int row_here() { return get_local_id(0) / PARTS; }
inline int part_here() { return get_local_id(0) % PARTS; }
inline int first_column() { return part_here() * COLUMNS; }

// Wait for 32 work-items that follow one another, or for all of a matrix, and for what they wrote.
// Without NVIDIA's instructions all work-items of a matrix must come to both.
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

// Rows come from the matrix and go there by 32 columns at a time, WIDTH of each part, so that
// neighbours load and store neighbouring elements: the column of a work-item, if the parts are at
// their column `from`; -1 if it has none.
#define WIDTH (32 / PARTS)
inline int column_of_lane(int from) {
  const int lane = get_local_id(0) % 32, of_part = from + lane % WIDTH;
  return of_part < COLUMNS ? lane / WIDTH * COLUMNS + of_part : -1;
}

// The rest to registers; NaN where there is none.
inline void load_rest(rest_of rest, real* x, __local scratch_of* shared) {
  UNROLL
  for (int from = 0; from < COLUMNS; from += WIDTH) {
    const int column = column_of_lane(from);
    const bool there = column >= 0 && column < rest.m;
    for (int first = get_local_id(0) / 32; first < ROWS; first += WARPS * 8) {
      real values[8];
      UNROLL
      for (int t = 0; t < 8; ++t) {
        const int i = first + t * WARPS;
        values[t] = there && i < rest.m ? rest.a[i * rest.n + column] : (real)NAN;
      }
      // No signalling NaN, whose upper word may be that of infinity.
      UNROLL
      for (int t = 0; t < 8; ++t) {
        const real value = isnan(values[t]) ? (real)NAN : values[t];
        shared->slab[first + t * WARPS][get_local_id(0) % 32] = value;
      }
    }
    wait_for_matrix();
    UNROLL
    for (int j = 0; j < WIDTH; ++j) {
      if (from + j < COLUMNS) x[from + j] = shared->slab[row_here()][part_here() * WIDTH + j];
    }
    wait_for_matrix();
  }
}

// A magnitude in two words: larger for larger magnitudes. In single the upper one is all of it. NaN
// is less than ZERO, the upper word of 0.
#ifdef LUGPU_DOUBLE
#define ZERO 0x1fffffu  // infinity is the largest integer
inline uint upper_of(real x) { return as_uint2(x).y * 2 + ZERO; }
inline uint lower_of(real x) { return as_uint2(x).x; }
#else
#define ZERO 0x80000000u
inline uint upper_of(real x) { return as_uint(fmax(fabs(x), -1.0f)) ^ ZERO; }
inline uint lower_of(real x) { return 0; }
#endif

// The largest of a work-item's elements: that of every fourth, so that few comparisons wait for one
// another.
typedef struct {
#ifdef LUGPU_DOUBLE
  uint of[4];
#else
  real of[4];
#endif
} largest_of;
inline largest_of no_element() {
#ifdef LUGPU_DOUBLE
  return (largest_of){{ZERO - 1, ZERO - 1, ZERO - 1, ZERO - 1}};
#else
  return (largest_of){{-1, -1, -1, -1}};
#endif
}
inline void include(real x, int j, largest_of* largest) {
#ifdef LUGPU_DOUBLE
  largest->of[j % 4] = max(largest->of[j % 4], upper_of(x));
#else
  largest->of[j % 4] = fmax(largest->of[j % 4], fabs(x));
#endif
}
// Its upper word; less than ZERO if all elements are NaN.
inline uint upper_of_all(largest_of x) {
#ifdef LUGPU_DOUBLE
  return max(max(x.of[0], x.of[1]), max(x.of[2], x.of[3]));
#else
  return as_uint(fmax(fmax(x.of[0], x.of[1]), fmax(x.of[2], x.of[3]))) ^ ZERO;
#endif
}

// A place: the positions of its column and row, its row and its column. The smallest is chosen.
inline uint full_place(int column_position, int row_position, int row, int column) {
  return (uint)column_position << 24 | (uint)row_position << 16 | (uint)row << 8 | (uint)column;
}
inline int full_column_position_of(uint place) { return place >> 24; }
inline int full_row_position_of(uint place) { return place >> 16 & 255; }
inline int full_row_of(uint place) { return place >> 8 & 255; }
inline int full_column_of(uint place) { return place & 255; }

// The first place of the largest magnitude of a work-item, whose upper word is `upper`, and its
// lower word. If it has no numbers, the first place that is left in step k.
inline uint first_place(const real* x, uint upper, int position, int k, uint* lower,
                        const __local scratch_of* shared) {
  uint first = NO_PLACE;
  *lower = 0;
  if (position < k) return first;
  UNROLL
  for (int j = 0; j < COLUMNS; ++j) {
    const int column = first_column() + j, column_position = shared->column_position[column];
    const bool candidate = upper < ZERO ? column_position >= k : upper_of(x[j]) == upper;
    const uint low = upper < ZERO ? 0 : lower_of(x[j]);
    if (!candidate || low < *lower) continue;
    const uint place = full_place(column_position, position, row_here(), column);
    first = low > *lower ? place : min(first, place);
    *lower = low;
  }
  return first;
}

// The place of the pivot in step k.
inline uint choose(const real* x, uint upper, int position, int k, __local scratch_of* shared) {
  const int me = get_local_id(0);
  uint lower, place = first_place(x, upper, position, k, &lower, shared);
#ifdef LUGPU_DOUBLE
  key_type key = (ulong)upper << 32 | lower;
#else
  key_type key = upper;
#endif
  if (place == NO_PLACE) key = 0;
#ifdef LUGPU_NVIDIA
  const key_type largest = largest_of_warp(key);
  place = warp_min(key == largest ? place : NO_PLACE);
  key = largest;
#if TEAMS > 1
  if (me % TEAM == 0) {
    shared->keys[me / TEAM] = key;
    shared->places[me / TEAM] = place;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int t = 0; t < TEAMS; ++t) compare(shared->keys[t], shared->places[t], &key, &place);
#endif
  return place;
#else
  return best_of(key, place, me, ITEMS, shared->keys, shared->places);
#endif
}

// Whether the work-item has a part of a row, or of a column.
inline bool has_row(int row) { return row_here() == row; }
inline bool has_column(int column) {
  return column >= first_column() && column < first_column() + COLUMNS;
}

#ifdef LUGPU_NVIDIA
#define NOBODY (-1)

// The work-item that alone has the largest upper word, if that is of a number; NOBODY if several
// have it, so that places or lower words decide.
inline int sole_winner(uint upper, uint* largest, __local scratch_of* shared) {
  const int me = get_local_id(0);
  *largest = warp_max(upper);
  const uint lanes = lanes_where(upper == *largest);
  int winner = (lanes & (lanes - 1)) == 0 ? me / 32 * 32 + highest_lane(lanes) : NOBODY;
#if TEAMS > 1
  if (me % 32 == 0) {
    shared->upper[me / 32] = *largest;
    shared->winners[me / 32] = winner;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  *largest = 0;
  UNROLL
  for (int t = 0; t < TEAMS; ++t) {
    const uint of_warp = shared->upper[t];
    const int winner_of_warp = shared->winners[t];
    winner = of_warp > *largest ? winner_of_warp : of_warp == *largest ? NOBODY : winner;
    *largest = max(*largest, of_warp);
  }
#else
  wait_for_warp();  // the row of the step before has been read
#endif
  return *largest < ZERO ? NOBODY : winner;
}

// The place of the largest element, whose upper word is `upper`, in the row that is in local
// memory.
inline uint place_in_row(uint upper, int row, int row_position, const __local scratch_of* shared) {
  const int lane = get_local_id(0) % 32;
  uint place = NO_PLACE;
  key_type lower = 0;
  UNROLL
  for (int j = lane; j < ORDER; j += 32) {
    const real value = ((const __local real*)shared->u)[j];
    if (upper_of(value) != upper) continue;
    const uint there = full_place(shared->column_position[j], row_position, row, j);
    compare(lower_of(value), there, &lower, &place);
  }
#ifdef LUGPU_DOUBLE
  if (lower != warp_max(lower)) place = NO_PLACE;
#endif
  return warp_min(place);
}
#endif

// A part of the pivot's row to local memory.
inline void publish(const real* x, __local scratch_of* shared) {
  UNROLL
  for (int j = 0; j < COLUMNS; j += PACK) {
    shared->u[(first_column() + j) / PACK] = pack_of(x + j);
  }
}
// The pivot of step k to local memory, and NaN to its column of the row there.
inline void announce(uint place, int k, __local scratch_of* shared) {
  __local real* pivot = (__local real*)shared->u + full_column_of(place);
  shared->pivots[k] = place;
  shared->pivot = *pivot;
  *pivot = NAN;
}

// The pivot of step k, its place and its row to local memory.
inline void find_pivot(const real* x, uint upper, int position, int k, __local scratch_of* shared) {
#ifdef LUGPU_NVIDIA
  const int me = get_local_id(0);
  uint largest, place = NO_PLACE;
  int winner = sole_winner(upper, &largest, shared);
  if (winner == NOBODY) {
    place = choose(x, upper, position, k, shared);
    winner = full_row_of(place) * PARTS;
  }
  if (me / 32 == winner / 32) {
    const int row = winner / PARTS;
    if (has_row(row)) publish(x, shared);
    wait_for_warp();
    if (place == NO_PLACE) {
      place = place_in_row(largest, row, from_lane(position, winner % 32), shared);
    }
    wait_for_warp();
    if (me % 32 == 0) announce(place, k, shared);
  }
#else
  wait_for_matrix();
  const uint place = choose(x, upper, position, k, shared);
  if (has_row(full_row_of(place))) {
    publish(x, shared);
    if (has_column(full_column_of(place))) announce(place, k, shared);
  }
#endif
  wait_for_matrix();
}

// Element j of the columns of a work-item: a branch to the 16 that it is one of, then choices by
// the bits of j. (Of a plain index, the compiler puts the row into memory.)
inline void choose_half(real* x, int j, int distance) {
  const bool second = (j & distance) != 0;
  UNROLL
  for (int i = 0; i < 8; ++i) {
    if (i >= distance) continue;
    const real one = x[i], other = x[i + distance];
    x[i] = second ? other : one;
  }
}
inline real element_at(const real* x, int j) {
  real found = 0;
  UNROLL
  for (int from = 0; from < COLUMNS; from += 16) {
    if (j / 16 != from / 16) continue;
    real of[16];
    UNROLL
    for (int i = 0; i < 16; ++i) of[i] = x[from + i];
    choose_half(of, j, 8);
    choose_half(of, j, 4);
    choose_half(of, j, 2);
    choose_half(of, j, 1);
    found = of[0];
  }
  return found;
}

// The multiplier of a work-item's row in step k, from the part of the row that has the column. It
// is kept in the slab.
inline real multiplier(const real* x, int k, int column, real scale, real inverse,
                       __local scratch_of* shared) {
  const real l = element_at(x, column % COLUMNS) * scale * inverse;
  if (has_column(column)) shared->slab[row_here()][k] = l;
#if PARTS > 1
  wait_for_warp();
  return shared->slab[row_here()][k];
#else
  return l;
#endif
}

// The elimination in the work-item's row, and its largest magnitude then.
inline uint eliminate(real* x, real l, const __local scratch_of* shared) {
  largest_of largest = no_element();
  UNROLL
  for (int j = 0; j < COLUMNS; j += PACK) {
    const pack u = shared->u[(first_column() + j) / PACK];
    UNROLL
    for (int e = 0; e < PACK; ++e) {
      x[j + e] = fma(-l, element_of(u, e), x[j + e]);
      include(x[j + e], j + e, &largest);
    }
  }
  return upper_of_all(largest);
}

// The multipliers of all steps to the rows that were left then: a warp takes a row.
inline void store_multipliers(int steps, rest_of rest, const __local scratch_of* shared) {
  const int lane = get_local_id(0) % 32;
  for (int i = get_local_id(0) / 32; i < rest.m; i += WARPS) {
    if (lane < min(steps, i)) rest.a[i * rest.n + lane] = shared->slab[shared->row_at[i]][lane];
  }
}

// What is left to its position.
inline void store_rest(const real* x, int steps, rest_of rest, __local scratch_of* shared) {
  UNROLL
  for (int from = 0; from < COLUMNS; from += WIDTH) {
    const int column = column_of_lane(from);
    const int to = column >= 0 && column < rest.m ? shared->column_position[column] : -1;
    wait_for_matrix();
    UNROLL
    for (int j = 0; j < WIDTH; ++j) {
      if (from + j < COLUMNS) shared->slab[row_here()][part_here() * WIDTH + j] = x[from + j];
    }
    wait_for_matrix();
    for (int i = steps + get_local_id(0) / 32; i < rest.m; i += WARPS) {
      const real value = shared->slab[shared->row_at[i]][get_local_id(0) % 32];
      if (to >= steps) rest.a[i * rest.n + to] = value;
    }
  }
}

// Columns to their positions, in the first `rows` rows, but in row first + k no column that was
// chosen before step k: a warp takes AT_ONCE of the rows.
#define AT_ONCE 4
#define WARPS_OF_ROW ((ORDER + 31) / 32)
inline void move_columns(__global real* top, int first, int rows, int n, int m,
                         const __local scratch_of* shared) {
  const int warp = get_local_id(0) / 32, lane = get_local_id(0) % 32;
  int position[WARPS_OF_ROW];
  UNROLL
  for (int p = 0; p < WARPS_OF_ROW; ++p) {
    position[p] = lane + p * 32 < m ? shared->column_position[lane + p * 32] : -1;
  }
  for (int from = 0; from < rows; from += WARPS * AT_ONCE) {
    const int begin = from + warp * AT_ONCE;
    real values[AT_ONCE][WARPS_OF_ROW];
    UNROLL
    for (int i = 0; i < AT_ONCE; ++i) {
      UNROLL
      for (int p = 0; p < WARPS_OF_ROW; ++p) {
        if (begin + i < rows && position[p] >= 0) {
          values[i][p] = top[(begin + i) * n + lane + p * 32];
        }
      }
    }
    wait_for_warp();
    UNROLL
    for (int i = 0; i < AT_ONCE; ++i) {
      UNROLL
      for (int p = 0; p < WARPS_OF_ROW; ++p) {
        if (begin + i < rows && position[p] >= max(0, begin + i - first)) {
          top[(begin + i) * n + position[p]] = values[i][p];
        }
      }
    }
  }
}

// Rows to their positions, in the `columns` columns left of the rest: 32 of them at a time.
inline void move_rows(rest_of rest, int columns, const __local scratch_of* shared) {
  const int warp = get_local_id(0) / 32, lane = get_local_id(0) % 32;
  for (int from = -columns; from < 0; from += 32) {
    const int column = from + lane;
    real values[ROWS_OF_WARP];
    UNROLL
    for (int t = 0; t < ROWS_OF_WARP; ++t) {
      const int i = warp + t * WARPS;
      if (i < rest.m && column < 0) values[t] = rest.a[shared->row_at[i] * rest.n + column];
    }
    wait_for_matrix();
    UNROLL
    for (int t = 0; t < ROWS_OF_WARP; ++t) {
      const int i = warp + t * WARPS;
      if (i < rest.m && column < 0) rest.a[i * rest.n + column] = values[t];
    }
  }
}

// Steps first : first + steps of P A Q = L U of the matrices, n x n, by rows, as
// gpu/batch_blocked.cl's; steps <= MOST_STEPS, steps <= n - first <= ORDER. jpiv: as ipiv, of
// columns.
__kernel REQUIRE_SIZE(ITEMS) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count, int first, int steps) {
  __local scratch_of shared;
  const int me = get_local_id(0);
  const size_t matrix = get_group_id(0);
  __global real* a = matrices + matrix * n * n;
  const rest_of rest = {a + first * (n + 1), n, n - first};
  real x[COLUMNS];
  load_rest(rest, x, &shared);
  largest_of largest = no_element();
  UNROLL
  for (int j = 0; j < COLUMNS; ++j) include(x[j], j, &largest);
  uint upper = upper_of_all(largest);
  int position = row_here(), column_position = me;  // of its row, and of column me
  if (me < ORDER) shared.column_position[me] = me;
  wait_for_matrix();
  int zero = 0;
  for (int k = 0; k < steps; ++k) {
    find_pivot(x, upper, position, k, &shared);
    const uint place = shared.pivots[k];
    const real pivot = shared.pivot;
    const int row = full_row_of(place), column = full_column_of(place);
    if (pivot == 0 && zero == 0) zero = first + k + 1;
    if (me < rest.m) {
      rest.a[k * n + me] = me == column ? pivot : ((const __local real*)shared.u)[me];
    }
    // What is at position k and what was chosen change places.
    position = has_row(row) ? k : position == k ? full_row_position_of(place) : position;
    column_position =
        me == column           ? k
        : column_position == k ? full_column_position_of(place)
                               : column_position;
    if (me < ORDER) shared.column_position[me] = column_position;
    real scale, inverse;
    reciprocal(pivot, &scale, &inverse);
    const real l = multiplier(x, k, column, scale, inverse, &shared);
    upper = eliminate(x, has_row(row) ? (real)NAN : l, &shared);
  }
  if (me == 0 && (first == 0 || info[matrix] == 0)) info[matrix] = zero;
  if (me < steps) {
    ipiv[matrix * n + first + me] = first + full_row_position_of(shared.pivots[me]);
    jpiv[matrix * n + first + me] = first + full_column_position_of(shared.pivots[me]);
  }
  if (first_column() == 0) shared.row_at[position] = row_here();
  wait_for_matrix();
  move_columns(a + first, first, first + steps, n, rest.m, &shared);
  wait_for_matrix();
  store_multipliers(steps, rest, &shared);
  if (rest.m > steps) store_rest(x, steps, rest, &shared);
  move_rows(rest, first, &shared);
}
