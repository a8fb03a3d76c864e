// LU of many matrices of order 33 to 128, without or with partial pivoting. A matrix has ITEMS
// work-items, and COLUMNS of its columns at a time, a window, are in local memory:
//
//   1. They come there, their rows in the order of now (bring_columns).
//   2. Panels of earlier windows, one or two at a time, make their rows of U in them and subtract
//      their products from what is below (update_by_earlier).
//   3. They are factored by panels of NB columns. A panel is in the registers of a team, where its
//      rows do not move: their positions are followed (factor_panel). The window's other columns
//      are interchanged (interchange), and those right of the panel updated (update).
//   4. They go to the matrix (store_columns), where columns of earlier windows are interchanged.
//
// Build options: LUGPU_RGBA, for 16 bytes in a pack; ORDER and COLUMNS, multiples of NB; ITEMS,
// which divides NB * NB; LUGPU_MATRIX_UNITS, beside LUGPU_NVIDIA; those of gpu/batch_places.clh.

#include "gpu/batch_places.clh"
#ifdef LUGPU_MATRIX_UNITS
#include "nvidia/matrix_units.clh"
#elif defined(LUGPU_NVIDIA)
#include "nvidia/copies.clh"
#endif

#define NB 16
#define PACKS (NB / PACK)  // of a row of a panel
#define PITCH (COLUMNS + PACK)
#define CORNER_PITCH (NB + PACK)
#ifdef LUGPU_NVIDIA
#define TEAM 32  // a warp
#else
#define TEAM ITEMS
#endif
#define TEAMS (ITEMS / TEAM)
#define ROWS ((ORDER + TEAM - 1) / TEAM)    // of a work-item
#define CHOSEN 0x8000                       // a position behind all others, as is NOWHERE
#define FETCHES 4                           // packs of the matrix that a work-item asks for at once
#define CHUNK 4                             // packs of a row that are interchanged together
#define MOVED (2 * NB * CHUNK / TEAM)       // of these, by a work-item
#define PANELS (COLUMNS == 2 * NB ? 2 : 1)  // of an earlier window, in one product

#include "gpu/batch_product.clh"

// corner: the first NB rows of L of a panel in an earlier window. row_at, row_before: the positions
// that rows had at first, and before the window; comes_from: before the panel. ipiv: of pivots, the
// positions, from the panel's first row on. of_pivots: scale and inverse, of even and odd columns.
typedef struct {
  pack window[ORDER * PITCH / PACK];
#if COLUMNS < ORDER
  pack corner[NB * CORNER_PITCH / PACK];
  uchar row_at[ORDER], row_before[ORDER];
#endif
  uchar comes_from[ORDER], ipiv[NB];
  real of_pivots[2][2];
#ifndef LUGPU_NVIDIA
  key_type keys[2][TEAM];
  uint places[2][TEAM];
#endif
} scratch_of;

inline int team_here() { return get_local_id(0) / TEAM; }
inline int number_in_team() { return get_local_id(0) % TEAM; }

// Waits for the work-items of a team, or of a matrix, and for what they wrote. (A matrix of
// one warp has barriers too: after bar.warp.sync alone NVIDIA's compiler takes the warp for
// diverged, and makes more code.)
inline void wait_for_team() {
#ifdef LUGPU_NVIDIA
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
#else
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}
inline void wait_for_matrix() { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }

// An element of the matrix, or a pack, of which so many elements are in the matrix, to local
// memory, where it is after wait_for_copies().
inline void copy_element(__local real* to, const __global real* from) {
#if defined(LUGPU_NVIDIA) && defined(LUGPU_DOUBLE)
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((uint)(size_t)to), "l"(from)
               : "memory");
#elif defined(LUGPU_NVIDIA)
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((uint)(size_t)to), "l"(from)
               : "memory");
#else
  *to = *from;
#endif
}
inline void copy_elements(__local real* to, const __global real* from, int n, int count) {
#ifdef LUGPU_NVIDIA
  if (is_aligned(n)) {
    copy_16_bytes(to, from);
    return;
  }
#endif
  UNROLL
  for (int e = 0; e < PACK; ++e) {
    if (e < count) copy_element(to + e, from + e);
  }
}
inline void wait_for_copies() {
#ifdef LUGPU_NVIDIA
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  wait_for_matrix();
}

// Rows top : n of COLUMNS columns of the matrix, n x n, from `column` on to local memory; row i is
// that of rows[i], or itself.
inline void bring_columns(const __global real* a, int n, int top, int column,
                          const __local uchar* rows, __local real* to) {
  const int packs = COLUMNS / PACK, at_once = ITEMS / packs;  // rows
  const int me = get_local_id(0), j = me % packs * PACK, left = n - column - j;
  const int end = me / packs < at_once && left > 0 ? n : 0;
  a += column + j;
  to += j;
  for (int first = top + me / packs; first < end; first += FETCHES * at_once) {
    int from[FETCHES];
    UNROLL
    for (int f = 0; f < FETCHES; ++f) {
      const int i = min(first + f * at_once, n - 1);
      from[f] = rows ? rows[i] : i;
    }
    UNROLL
    for (int f = 0; f < FETCHES; ++f) {
      const int i = first + f * at_once;
      if (i < end) copy_elements(to + (i - top) * PITCH, a + from[f] * n, n, left);
    }
  }
  wait_for_copies();
}

// Rows top : n of the window to COLUMNS columns of the matrix from `column` on.
inline void store_columns(__global real* a, int n, int top, int column,
                          const __local real* window) {
  const int packs = COLUMNS / PACK, at_once = ITEMS / packs;  // rows
  const int me = get_local_id(0), j = me % packs * PACK, left = n - column - j;
  const int end = me / packs < at_once && left > 0 ? n : 0;
  a += column + j;
  window += j;
  for (int i = top + me / packs; i < end; i += at_once) {
    if (is_aligned(n)) {
      *(__global pack*)(a + i * n) = *(const __local pack*)(window + i * PITCH);
      continue;
    }
    UNROLL
    for (int e = 0; e < PACK; ++e) {
      if (e < left) a[i * n + e] = window[i * PITCH + e];
    }
  }
  wait_for_matrix();
}

// A row of a panel: its elements; its position, from the panel's first row on, CHOSEN + c if it was
// chosen in column c, NOWHERE if it is none; and a mask for its keys, 0 in these two cases.
typedef struct {
  real x[NB];
  uint position;
  key_type live;
} panel_row;

// The best candidate of a work-item in column c: its key, position and value. Returns 1 << its
// number. (A number that is compared with others the compiler turns into a computed address, and
// the rows go to memory.)
inline uint best_of_rows(const panel_row* rows, const int count, const int c, key_type* best,
                         uint* where, real* value) {
  uint which = 1;
  *best = rank_of(rows[0].x[c]) & rows[0].live;
  *where = rows[0].position;
  *value = rows[0].x[c];
  UNROLL
  for (int r = 1; r < ROWS; ++r) {
    if (r >= count) continue;
    const key_type key = rank_of(rows[r].x[c]) & rows[r].live;
    const bool better = (key > *best) | ((key == *best) & (rows[r].position < *where));
    *best = better ? key : *best;
    *where = better ? rows[r].position : *where;
    *value = better ? rows[r].x[c] : *value;
    which = better ? 1u << r : which;
  }
  return which;
}

// Column c of a panel with `count` rows to a work-item. u: where its row of U goes, for all to
// take. smallest: the least magnitude of pivots so far; columns behind the matrix may lower it.
inline void take_step(panel_row* rows, const int count, const int c, __local pack* u,
                      real* smallest, __local scratch_of* shared) {
  key_type key;
  uint where;
  real value, scale, inverse;
#if PIVOT == NONE
  const uint which = 1;
  where = c;
  value = rows[0].x[c];
  bool mine = number_in_team() == c;
#else
  const uint which = best_of_rows(rows, count, c, &key, &where, &value);
#ifdef LUGPU_NVIDIA
  const int winner = highest_lane(winning_lane(key, where));
  bool mine = number_in_team() == winner;
  const uint pivot = from_lane(where, winner);
#else
  const uint pivot =
      best_of(key, where, get_local_id(0), TEAM, shared->keys[c % 2], shared->places[c % 2]);
  bool mine = pivot == where;
#endif
#endif
  mine &= where < CHOSEN;  // in a column behind the matrix no row is left
  // All take the inverse of their best before they know whose is the pivot.
  reciprocal(value, &scale, &inverse);
  __local real* of_pivot = shared->of_pivots[c % 2];
  if (mine) {
    of_pivot[0] = scale;
    of_pivot[1] = inverse;
    shared->ipiv[c] = where;
  }
  const uint chosen = mine ? which : 0;
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    if (r >= count) continue;
    const bool this_one = chosen >> r & 1;
    if (this_one) {
      UNROLL
      for (int p = 0; p < PACKS; ++p) {
        if (p >= c / PACK) u[p] = pack_of(rows[r].x + p * PACK);
      }
    }
#if PIVOT == PARTIAL
    // Who is at position c goes to the pivot's.
    rows[r].position = rows[r].position == c ? pivot : rows[r].position;
#endif
    rows[r].position = this_one ? CHOSEN + c : rows[r].position;
    rows[r].live = this_one ? 0 : rows[r].live;
  }
  wait_for_team();
  real l[ROWS];
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    if (r < count) rows[r].x[c] = l[r] = rows[r].x[c] * of_pivot[0] * of_pivot[1];
  }
  *smallest = fmin(*smallest, fabs(((const __local real*)u)[c]));
  UNROLL
  for (int p = 0; p < PACKS; ++p) {
    if (p < c / PACK) continue;
    const pack of_u = u[p];
    UNROLL
    for (int e = 0; e < PACK; ++e) {
      UNROLL
      for (int r = 0; r < ROWS; ++r) {
        const int j = p * PACK + e;
        if (r < count && j > c) rows[r].x[j] = fma(-l[r], element_of(of_u, e), rows[r].x[j]);
      }
    }
  }
#if PIVOT == NONE && defined(LUGPU_NVIDIA)
  // Otherwise the compiler leaves rows without pivots to the end, and keeps all rows of U for them.
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    UNROLL
    for (int j = 0; j < NB; ++j) {
      if (r < count) rows[r].x[j] = calculated_now(rows[r].x[j]);
    }
  }
#endif
}

// P W = L U of a panel with `left` rows from row `first` of the matrix on, by one team, `count`
// rows to a work-item. Returns whether a pivot may be zero.
inline bool factor_rows(int left, const int count, int first, __local pack* panel,
                        __local scratch_of* shared) {
  panel_row rows[ROWS];
  real smallest = INFINITY;
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    if (r >= count) continue;
    const int i = number_in_team() + TEAM * r;
    rows[r].position = i < left ? i : NOWHERE;
    rows[r].live = i < left ? ~(key_type)0 : 0;
    UNROLL
    for (int p = 0; p < PACKS; ++p) {
      const pack values = panel[min(i, left - 1) * (PITCH / PACK) + p];
      UNROLL
      for (int e = 0; e < PACK; ++e) rows[r].x[p * PACK + e] = element_of(values, e);
    }
  }
  wait_for_team();
#define STEP(c) take_step(rows, count, c, panel + (c) * (PITCH / PACK), &smallest, shared);
#ifdef UNROLLED
#define STEPS_4(c) STEP(c) STEP(c + 1) STEP(c + 2) STEP(c + 3)
  STEPS_4(0)
  STEPS_4(4)
  STEPS_4(8)
  STEPS_4(12)
#else
  for (int c = 0; c < NB; ++c) STEP(c)
#endif
  // What is not in its place: L, and of a row that was chosen in column c the packs left of it.
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    if (r >= count || rows[r].position == NOWHERE) continue;
    const bool chosen = rows[r].position >= CHOSEN;
    const int c = chosen ? rows[r].position - CHOSEN : NB;
    const int position = chosen ? c : (int)rows[r].position;
    shared->comes_from[first + position] = first + number_in_team() + TEAM * r;
    UNROLL
    for (int p = 0; p < PACKS; ++p) {
      if (p < c / PACK) panel[position * (PITCH / PACK) + p] = pack_of(rows[r].x + p * PACK);
    }
  }
  return smallest == 0;
}

// That with as few rows to a work-item as there are. Returns the first pivot (1-based) that is
// zero, or INT_MAX.
inline int factor_panel(int n, int first, __local pack* panel, __local scratch_of* shared) {
  const int left = n - first;
  bool zero_pivot;
#ifdef UNROLLED
  if (left <= TEAM) zero_pivot = factor_rows(left, 1, first, panel, shared);
#if ROWS > 2
  else if (left <= 2 * TEAM)
    zero_pivot = factor_rows(left, 2, first, panel, shared);
#endif
  else
#endif
    zero_pivot = factor_rows(left, ROWS, first, panel, shared);
  int zero = INT_MAX;
  for (int c = min(NB, left) - 1; c >= 0 && zero_pivot; --c) {
    if (((const __local real*)panel)[c * PITCH + c] == 0) zero = first + c + 1;
  }
  return zero;
}

#if PIVOT == PARTIAL
// The interchanges of the panel from `column` on in the window's other columns. Rows come to the
// panel's first NB positions, and those that were there go to where these come from.
inline void interchange(int n, int first, int column, __local scratch_of* shared) {
  const int me = number_in_team();
  int to[MOVED], from[MOVED];
  UNROLL
  for (int m = 0; m < MOVED; ++m) {
    const int slot = (me + TEAM * m) / CHUNK, k = first + slot % NB;
    to[m] = k >= n ? first : slot < NB ? k : shared->comes_from[k];
    if (slot >= NB && to[m] < first + NB) to[m] = first;  // nothing else to do
    from[m] = shared->comes_from[to[m]];
  }
  for (int chunk = team_here(); chunk < COLUMNS / PACK / CHUNK; chunk += TEAMS) {
    if (chunk * CHUNK / PACKS == column / NB) continue;
    __local pack* there = shared->window + chunk * CHUNK + me % CHUNK;
    pack moved[MOVED];
    UNROLL
    for (int m = 0; m < MOVED; ++m) moved[m] = there[from[m] * (PITCH / PACK)];
    wait_for_team();
    UNROLL
    for (int m = 0; m < MOVED; ++m) {
      if (from[m] != to[m]) there[to[m] * (PITCH / PACK)] = moved[m];
    }
  }
}

#if COLUMNS < ORDER
// Interchanges in rows: rows[i] = rows[comes_from[i]], i >= first.
inline void compose(int n, int first, const __local uchar* comes_from, __local uchar* rows) {
  uchar of_mine[(ORDER + ITEMS - 1) / ITEMS];
  UNROLL
  for (int m = 0; m < (ORDER + ITEMS - 1) / ITEMS; ++m) {
    const int i = min((int)get_local_id(0) + ITEMS * m, n - 1);
    of_mine[m] = rows[i < first ? i : comes_from[i]];
  }
  wait_for_matrix();
  UNROLL
  for (int m = 0; m < (ORDER + ITEMS - 1) / ITEMS; ++m)
    rows[min((int)get_local_id(0) + ITEMS * m, n - 1)] = of_mine[m];
  wait_for_matrix();
}
#endif
#endif

// X = inv(L) X in NB rows and so many columns, one to a work-item. L is unit lower triangular.
inline void make_rows_of_u(__local real* x, const __local real* l, const int pitch, int columns) {
  for (int j = get_local_id(0); j < columns; j += ITEMS) {
    real u[NB];
    UNROLL
    for (int i = 0; i < NB; ++i) u[i] = x[i * PITCH + j];
    UNROLL
    for (int p = 0; p < PACKS; ++p) {
      UNROLL
      for (int i = 1; i < NB; ++i) {
        if (i <= p * PACK) continue;
        const pack of_l = *(const __local pack*)(l + i * pitch + p * PACK);
        UNROLL
        for (int e = 0; e < PACK; ++e) {
          if (p * PACK + e < i) u[i] = fma(-element_of(of_l, e), u[p * PACK + e], u[i]);
        }
      }
    }
    UNROLL
    for (int i = 1; i < NB; ++i) x[i * PITCH + j] = u[i];
  }
  wait_for_matrix();
}

// With the panel at row `first` of the window: rows of U in so many columns from x on, and X -= L U
// below. x, panel: row 0 of these columns and of the panel's.
inline void update(int n, int first, __local real* x, int columns, const __local real* panel) {
  __local real* u = x + first * PITCH;
  const columns_of_l l = {false, panel, 0, PITCH};
  rows_of_l room;
  make_rows_of_u(u, panel + first * PITCH, PITCH, columns);
  subtract_product(x, &l, 1, u, first + NB, n, columns, &room);
  wait_for_matrix();
}

#if COLUMNS < ORDER
// The same in all columns of the window with PANELS panels of an earlier one, from row and column
// `first` of the matrix on. All that the first products need is asked for at once.
inline void update_by_earlier(const __global real* a, int n, int first, __local real* window,
                              int columns, __local real* corner) {
  enum { OF_CORNER = NB * NB / ITEMS };  // elements of a corner in a work-item
  const int me = get_local_id(0);
  __local real* u = window + first * PITCH;
  real corners[PANELS][OF_CORNER];
  columns_of_l l[PANELS];
  rows_of_l middle, below[PANELS];
  UNROLL
  for (int p = 0; p < PANELS; ++p) {
    const int k = first + p * NB;
    l[p] = (columns_of_l){true, 0, a + k, n};
    UNROLL
    for (int e = 0; e < OF_CORNER; ++e) {
      const int place = me + ITEMS * e;
      corners[p][e] = element_of_l(l[p], k + place / NB, place % NB);
    }
  }
  if (PANELS > 1) fetch_l(&middle, l[0], first + NB, n);
  UNROLL
  for (int p = 0; p < PANELS; ++p)
    fetch_l(&below[p], l[p], first + PANELS * NB + team_here() * 16, n);
  UNROLL
  for (int p = 0; p < PANELS; ++p) {
    UNROLL
    for (int e = 0; e < OF_CORNER; ++e) {
      const int place = me + ITEMS * e;
      corner[place / NB * CORNER_PITCH + place % NB] = corners[p][e];
    }
    wait_for_matrix();
    make_rows_of_u(u + p * NB * PITCH, corner, CORNER_PITCH, columns);
    if (p + 1 < PANELS) {
      subtract_product(window, l, 1, u, first + NB, first + 2 * NB, columns, &middle);
      wait_for_matrix();
    }
  }
  subtract_product(window, l, PANELS, u, first + PANELS * NB, n, columns, below);
  wait_for_matrix();
}
#endif

// P A = L U of the matrices, n x n, by rows: unit lower L below the diagonal, U on and above it.
// ipiv: n of each matrix, 0-based: row k was interchanged with that one. info: of each, the first
// pivot (1-based) that is exactly zero, 0 if there is none.
__kernel REQUIRE_SIZE(ITEMS) void factor_batch(
    __global real* matrices, __global int* ipiv, __global int* jpiv, __global int* info, int n,
    int count) {
  __local scratch_of shared;
  const int me = get_local_id(0);
  const size_t matrix = get_group_id(0);
  __global real* a = matrices + matrix * n * n;
  __local real* window = (__local real*)shared.window;
  int zero = INT_MAX;
#if COLUMNS < ORDER
  for (int i = me; i < ORDER; i += ITEMS) shared.row_at[i] = i;
  wait_for_matrix();
#endif
  for (int start = 0; start < n; start += COLUMNS) {
    const int columns = min(COLUMNS, n - start);
#if COLUMNS < ORDER
    bring_columns(a, n, 0, start, shared.row_at, window);
    for (int first = 0; first < start; first += PANELS * NB)
      update_by_earlier(a, n, first, window, columns, (__local real*)shared.corner);
    for (int i = me; i < ORDER; i += ITEMS) shared.row_before[i] = i;
#else
    bring_columns(a, n, 0, start, 0, window);
#endif
    for (int column = 0; column < columns; column += NB) {
      const int first = start + column;
      if (team_here() == 0) {
        __local pack* panel = shared.window + (first * PITCH + column) / PACK;
        const int found = factor_panel(n, first, panel, &shared);
        zero = min(zero, found);
      }
      wait_for_matrix();
#if PIVOT == PARTIAL
      if (me < NB && first + me < n) ipiv[matrix * n + first + me] = first + shared.ipiv[me];
      interchange(n, first, column, &shared);
      wait_for_matrix();
#if COLUMNS < ORDER
      compose(n, first, shared.comes_from, shared.row_before);
#endif
#endif
      if (column + NB < columns)
        update(n, first, window + column + NB, columns - column - NB, window + column);
    }
    store_columns(a, n, 0, start, window);
#if PIVOT == PARTIAL && COLUMNS < ORDER
    for (int earlier = 0; earlier < start; earlier += COLUMNS) {
      bring_columns(a, n, start, earlier, shared.row_before, window + start * PITCH);
      store_columns(a, n, start, earlier, window);
    }
    compose(n, 0, shared.row_before, shared.row_at);
#endif
  }
  if (me == 0) info[matrix] = zero == INT_MAX ? 0 : zero;
}
