// LU of many matrices of order 33 to 128, without or with partial pivoting. A matrix has ITEMS
// work-items, and COLUMNS of its columns at a time, a window, are in local memory:
//
//   1. They come there, their rows in the order of now (bring_columns).
//   2. Panels of earlier windows, one or two at a time, make their rows of U in them and subtract
//      their products from what is below (update_by_earlier).
//   3. They are factored by panels of NB columns. A panel is in the registers of one team or all,
//      where its rows do not move: their positions are followed (factor_panel). The window's other
//      columns are interchanged (interchange), in the matrix those of earlier windows, too
//      (interchange_earlier), and those right of the panel updated (update).
//   4. They go to the matrix (store_columns).
//
// Build options: LUGPU_RGBA, for 16 bytes in a pack; ORDER and COLUMNS, multiples of NB, COLUMNS
// too of what teams move at once (interchange_earlier) if it is less than ORDER, as it must be
// where teams compare their rows; ITEMS, which divides NB * NB; LUGPU_MATRIX_UNITS, beside
// LUGPU_NVIDIA; those of gpu/batch_places.clh.

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
// Teams that factor a panel: one, unless rows take many registers or nothing is searched.
#if defined(LUGPU_DOUBLE) || PIVOT == NONE
#define PANEL_TEAMS TEAMS
#else
#define PANEL_TEAMS 1
#endif
#define PANEL_ITEMS (PANEL_TEAMS * TEAM)
#define ROWS ((ORDER + PANEL_ITEMS - 1) / PANEL_ITEMS)  // of a work-item
#define CHOSEN 0x8000                  // a position behind all others, as is NOWHERE
#define FETCHES 4                      // packs of the matrix that a work-item asks for at once
#define CHUNK 4                        // packs of a row that are interchanged together
#define CHUNKS 2                       // of these, where they are in the matrix
#define MOVED (2 * NB * CHUNK / TEAM)  // packs of a chunk, by a work-item
#define PANELS (COLUMNS % (2 * NB) == 0 ? 2 : 1)  // of an earlier window, in one product
#define TEAMS_COMPARE (PANEL_TEAMS > 1 && PIVOT != NONE)

#include "gpu/batch_product.clh"

// corner: the first NB rows of L of a panel in an earlier window. row_at, comes_from: the positions
// that rows had at first, and before the panel. ipiv: of pivots, the positions, from the panel's
// first row on. Of pivots, in even and odd columns: scale and inverse; of each team's best, where
// teams compare them, also keys and positions.
typedef struct {
  pack window[ORDER * PITCH / PACK];
#if COLUMNS < ORDER
  pack corner[NB * CORNER_PITCH / PACK];
  uchar row_at[ORDER];
#endif
  uchar comes_from[ORDER], ipiv[NB];
  real of_pivots[2][PANEL_TEAMS][2];
#if TEAMS_COMPARE
  key_type best_keys[2][PANEL_TEAMS];
  uint best_positions[2][PANEL_TEAMS];
#endif
#ifndef LUGPU_NVIDIA
  key_type keys[2][TEAM];
  uint places[2][TEAM];
#endif
} scratch_of;

inline int team_here() { return get_local_id(0) / TEAM; }
inline int number_in_team() { return get_local_id(0) % TEAM; }
inline int number_in_panel() { return get_local_id(0) % PANEL_ITEMS; }

// Waits for the work-items of a team, of a matrix, or of a panel, and for what they wrote. (A
// matrix of one warp has barriers too: after bar.warp.sync alone NVIDIA's compiler takes the warp
// for diverged, and makes more code.)
inline void wait_for_team() {
#ifdef LUGPU_NVIDIA
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
#else
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}
inline void wait_for_matrix() { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }
inline void wait_for_panel() {
#if PANEL_TEAMS > 1
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  wait_for_team();
#endif
}

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

// COLUMNS columns of the matrix, n x n, from `column` on to local memory; row i is that of rows[i],
// or itself.
inline void bring_columns(const __global real* a, int n, int column, const __local uchar* rows,
                          __local real* to) {
  const int packs = COLUMNS / PACK, at_once = ITEMS / packs;  // rows
  const int me = get_local_id(0), j = me % packs * PACK, left = n - column - j;
  const int end = me / packs < at_once && left > 0 ? n : 0;
  a += column + j;
  to += j;
  for (int first = me / packs; first < end; first += FETCHES * at_once) {
    int from[FETCHES];
    UNROLL
    for (int f = 0; f < FETCHES; ++f) {
      const int i = min(first + f * at_once, n - 1);
      from[f] = rows ? rows[i] : i;
    }
    UNROLL
    for (int f = 0; f < FETCHES; ++f) {
      const int i = first + f * at_once;
      if (i < end) copy_elements(to + i * PITCH, a + from[f] * n, n, left);
    }
  }
  wait_for_copies();
}

// A pack of the matrix, by elements where rows do not begin at packs.
inline pack load_pack(const __global real* from, int n) {
  if (is_aligned(n)) return *(const __global pack*)from;
  real x[PACK];
  UNROLL
  for (int e = 0; e < PACK; ++e) x[e] = from[e];
  return pack_of(x);
}
// So many elements of it.
inline void store_pack(pack x, __global real* to, int n, int count) {
  if (is_aligned(n)) {
    *(__global pack*)to = x;
    return;
  }
  UNROLL
  for (int e = 0; e < PACK; ++e) {
    if (e < count) to[e] = element_of(x, e);
  }
}

// The window to COLUMNS columns of the matrix from `column` on.
inline void store_columns(__global real* a, int n, int column, const __local real* window) {
  const int packs = COLUMNS / PACK, at_once = ITEMS / packs;  // rows
  const int me = get_local_id(0), j = me % packs * PACK, left = n - column - j;
  const int end = me / packs < at_once && left > 0 ? n : 0;
  for (int i = me / packs; i < end; i += at_once)
    store_pack(*(const __local pack*)(window + i * PITCH + j), a + i * n + column + j, n, left);
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

// In column c the row at position `pivot` is chosen: this one, or another.
inline void follow(panel_row* row, const int c, uint pivot, bool this_one) {
#if PIVOT == PARTIAL
  // Who is at position c goes to the pivot's.
  row->position = row->position == c ? pivot : row->position;
#endif
  row->position = this_one ? CHOSEN + c : row->position;
  row->live = this_one ? 0 : row->live;
}

#if TEAMS_COMPARE
// The best row of a team in column c. (Corners are not needed then.)
inline __local pack* best_row(__local scratch_of* shared, int c, int team) {
  return shared->corner + (c % 2 * PANEL_TEAMS + team) * PACKS;
}
// The team that has the best of all, and its position.
inline int best_team(const __local scratch_of* shared, int c, uint* pivot) {
  key_type key = shared->best_keys[c % 2][0];
  int team = 0;
  *pivot = shared->best_positions[c % 2][0];
  UNROLL
  for (int t = 1; t < PANEL_TEAMS; ++t) {
    const uint before = *pivot;
    compare(shared->best_keys[c % 2][t], shared->best_positions[c % 2][t], &key, pivot);
    team = *pivot != before ? t : team;
  }
  return team;
}
#endif

// Column c of L, and its products with the row of U right of it. of_pivot: scale and inverse.
inline void eliminate(panel_row* rows, const int count, const int c, const __local pack* u,
                      const __local real* of_pivot) {
  real l[ROWS];
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    if (r < count) rows[r].x[c] = l[r] = rows[r].x[c] * of_pivot[0] * of_pivot[1];
  }
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

// Column c of a panel with `count` rows to a work-item. u: where its row of U goes. smallest: the
// least magnitude of pivots so far; columns behind the matrix may lower it.
inline void take_step(panel_row* rows, const int count, const int c, __local pack* u,
                      real* smallest, __local scratch_of* shared) {
  key_type key;
  uint where, which = 1, pivot = c;
  real value, scale, inverse;
#if PIVOT == NONE
  where = c;
  value = rows[0].x[c];
  bool mine = number_in_panel() == c;
#else
  which = best_of_rows(rows, count, c, &key, &where, &value);
#ifdef LUGPU_NVIDIA
  pivot = best_of_warp(key, where);
#else
  pivot = best_of(key, where, get_local_id(0), TEAM, shared->keys[c % 2], shared->places[c % 2]);
#endif
  bool mine = where == pivot;
#endif
  mine &= where < CHOSEN;  // in a column behind the matrix no row is left
#if TEAMS_COMPARE
  int team = team_here();
  __local pack* row = best_row(shared, c, team);
  if (where == pivot) {
    shared->best_keys[c % 2][team] = key;
    shared->best_positions[c % 2][team] = where;
  }
#else
  const int team = 0;
  __local pack* row = u;
#endif
  // All take the inverse of their best before they know whose is the pivot.
  reciprocal(value, &scale, &inverse);
  __local real* of_pivot = shared->of_pivots[c % 2][team];
  if (mine) {
    of_pivot[0] = scale;
    of_pivot[1] = inverse;
    if (!TEAMS_COMPARE) shared->ipiv[c] = where;
  }
  uint chosen = mine ? which : 0;
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    if (r >= count) continue;
    if (chosen >> r & 1) {
      UNROLL
      for (int p = 0; p < PACKS; ++p) {
        if (p >= c / PACK) row[p] = pack_of(rows[r].x + p * PACK);
      }
    }
    if (!TEAMS_COMPARE) follow(&rows[r], c, pivot, chosen >> r & 1);
  }
  wait_for_panel();
#if TEAMS_COMPARE
  team = best_team(shared, c, &pivot);
  row = best_row(shared, c, team);
  of_pivot = shared->of_pivots[c % 2][team];
  chosen = team == team_here() ? chosen : 0;
  const int me = number_in_panel();
  if (me < PACKS && me >= c / PACK) u[me] = row[me];
  if (me == 0) shared->ipiv[c] = pivot;
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    if (r < count) follow(&rows[r], c, pivot, chosen >> r & 1);
  }
#endif
  *smallest = fmin(*smallest, fabs(((const __local real*)row)[c]));
  eliminate(rows, count, c, row, of_pivot);
}

// P W = L U of a panel with `left` rows from row `first` of the matrix on, by PANEL_TEAMS teams,
// `count` rows to a work-item. Returns whether a pivot may be zero.
inline bool factor_rows(int left, const int count, int first, __local pack* panel,
                        __local scratch_of* shared) {
  const int me = number_in_panel();
  panel_row rows[ROWS];
  real smallest = INFINITY;
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    if (r >= count) continue;
    const int i = me + PANEL_ITEMS * r;
    rows[r].position = i < left ? i : NOWHERE;
    rows[r].live = i < left ? ~(key_type)0 : 0;
    UNROLL
    for (int p = 0; p < PACKS; ++p) {
      const pack values = panel[min(i, left - 1) * (PITCH / PACK) + p];
      UNROLL
      for (int e = 0; e < PACK; ++e) rows[r].x[p * PACK + e] = element_of(values, e);
    }
  }
  wait_for_panel();
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
    shared->comes_from[first + position] = first + me + PANEL_ITEMS * r;
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
  if (left <= PANEL_ITEMS) zero_pivot = factor_rows(left, 1, first, panel, shared);
#if ROWS > 2
  else if (left <= 2 * PANEL_ITEMS)
    zero_pivot = factor_rows(left, 2, first, panel, shared);
#endif
  else
#endif
    zero_pivot = factor_rows(left, ROWS, first, panel, shared);
  // Rows of U may have come to the panel by other work-items.
  if (TEAMS_COMPARE && zero_pivot) wait_for_panel();
  int zero = INT_MAX;
  for (int c = min(NB, left) - 1; c >= 0 && zero_pivot; --c) {
    if (((const __local real*)panel)[c * PITCH + c] == 0) zero = first + c + 1;
  }
  return zero;
}

#if PIVOT == PARTIAL
// What a work-item of a team moves by a panel's interchanges: packs of rows from[m] to rows to[m].
// Rows come to the panel's first NB positions, and those that were there go to where these come
// from.
typedef struct {
  int to[MOVED], from[MOVED];
} moves_of;
inline moves_of moves_here(int n, int first, const __local uchar* comes_from) {
  moves_of moves;
  UNROLL
  for (int m = 0; m < MOVED; ++m) {
    const int slot = (number_in_team() + TEAM * m) / CHUNK, k = first + slot % NB;
    int to = k >= n ? first : slot < NB ? k : comes_from[k];
    if (slot >= NB && to < first + NB) to = first;  // nothing else to do
    moves.to[m] = to;
    moves.from[m] = comes_from[to];
  }
  return moves;
}

// The interchanges of the panel from `column` on in the window's other columns.
inline void interchange(int n, int first, int column, __local scratch_of* shared) {
  const moves_of moves = moves_here(n, first, shared->comes_from);
  for (int chunk = team_here(); chunk < COLUMNS / PACK / CHUNK; chunk += TEAMS) {
    if (chunk * CHUNK / PACKS == column / NB) continue;
    __local pack* there = shared->window + chunk * CHUNK + number_in_team() % CHUNK;
    pack moved[MOVED];
    UNROLL
    for (int m = 0; m < MOVED; ++m) moved[m] = there[moves.from[m] * (PITCH / PACK)];
    wait_for_team();
    UNROLL
    for (int m = 0; m < MOVED; ++m) {
      if (moves.from[m] != moves.to[m]) there[moves.to[m] * (PITCH / PACK)] = moved[m];
    }
  }
}

#if COLUMNS < ORDER
// The same in the matrix, in columns of earlier windows: so many.
inline void interchange_earlier(__global real* a, int n, int first, int columns,
                                __local scratch_of* shared) {
  const moves_of moves = moves_here(n, first, shared->comes_from);
  const int width = CHUNK * PACK, mine = number_in_team() % CHUNK * PACK;
  for (int j = team_here() * width + mine; j < columns; j += CHUNKS * TEAMS * width) {
    pack moved[CHUNKS][MOVED];
    UNROLL
    for (int k = 0; k < CHUNKS; ++k) {
      UNROLL
      for (int m = 0; m < MOVED; ++m)
        moved[k][m] = load_pack(a + moves.from[m] * n + j + k * TEAMS * width, n);
    }
    wait_for_team();
    UNROLL
    for (int k = 0; k < CHUNKS; ++k) {
      UNROLL
      for (int m = 0; m < MOVED; ++m) {
        if (moves.from[m] != moves.to[m])
          store_pack(moved[k][m], a + moves.to[m] * n + j + k * TEAMS * width, n, PACK);
      }
    }
  }
}

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
  subtract_product(x, l, 1, u, first + NB, n, columns, &room);
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
  const columns_of_l l = {true, 0, a + first, n};
  real corners[PANELS][OF_CORNER];
  rows_of_l middle, below[PANELS];
  UNROLL
  for (int p = 0; p < PANELS; ++p) {
    UNROLL
    for (int e = 0; e < OF_CORNER; ++e) {
      const int place = p * NB + (me + ITEMS * e) / NB, k = p * NB + (me + ITEMS * e) % NB;
      corners[p][e] = element_of_l(l, first + place, k);
    }
  }
  if (PANELS > 1) fetch_l(&middle, l, first + NB, 0, n);
  UNROLL
  for (int p = 0; p < PANELS; ++p)
    fetch_l(&below[p], l, first + PANELS * NB + team_here() * 16, p, n);
  UNROLL
  for (int p = 0; p < PANELS; ++p) {
    UNROLL
    for (int e = 0; e < OF_CORNER; ++e) {
      const int place = me + ITEMS * e;
      corner[place / NB * CORNER_PITCH + place % NB] = corners[p][e];
    }
    wait_for_matrix();
    make_rows_of_u(u + p * NB * PITCH, corner, CORNER_PITCH, columns);
    if (p + 1 < PANELS)
      subtract_product(window, l, 1, u, first + NB, first + 2 * NB, columns, &middle);
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
    bring_columns(a, n, start, shared.row_at, window);
    for (int first = 0; first < start; first += PANELS * NB)
      update_by_earlier(a, n, first, window, columns, (__local real*)shared.corner);
#else
    bring_columns(a, n, start, 0, window);
#endif
    for (int column = 0; column < columns; column += NB) {
      const int first = start + column;
      if (team_here() < PANEL_TEAMS) {
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
      compose(n, first, shared.comes_from, shared.row_at);
      interchange_earlier(a, n, first, start, &shared);
#endif
#endif
      if (column + NB < columns)
        update(n, first, window + column + NB, columns - column - NB, window + column);
    }
    store_columns(a, n, start, window);
  }
  if (me == 0) info[matrix] = zero == INT_MAX ? 0 : zero;
}
