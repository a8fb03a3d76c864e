// LU of many matrices of order 33 to 128, without or with partial pivoting, left-looking by panels
// of NB columns. A matrix has ITEMS work-items. Of each panel,
//
//   1. its rows come to registers (load_panel): the row at position i to work-item i % ITEMS, as
//      its row i / ITEMS;
//   2. the columns left of it make rows of U of it, one after the other, and subtract their
//      products with L from all others (update);
//   3. its columns are factored (take_step). Rows do not move: their places are followed;
//   4. it goes to its place (store_panel). In other columns the rows stay where they are: rows_at
//      has them by their positions (compose), and in the end those of L go there (interchange).
//
// A row of U, or one that has been chosen, goes to local memory, for all to take, and from there to
// the matrix. In registers it may become anything.
//
// Build options: LUGPU_RGBA, for 16 bytes in a pack; ORDER, two or three times ITEMS; ITEMS; those
// of gpu/batch_places.clh.

#include "gpu/batch_places.clh"
#ifdef LUGPU_NVIDIA
#include "nvidia/copies.clh"
#endif

#define ROWS (ORDER / ITEMS)
#define WARP 32
#define WARPS (ITEMS / WARP)
#define NB 16
#define PACKS (NB / PACK)  // of a row of the panel
#define PANELS (ORDER / NB)
#define SLAB 8  // columns
#define SLAB_PACKS (SLAB / PACK)
// Packs of L in a panel's columns that a work-item moves.
#define MOVED (((ORDER - NB) * PACKS + ITEMS - 1) / ITEMS)

// slab: columns of the matrix on their way from or to it, while others are used; rows are read 16
// bytes at a time without bank conflicts. chosen: rows of U. rows_at, for even and odd panels:
// where the row at a position is in the columns of each panel that has been factored, and behind
// these in all others. comes_from: the position that the row now at this one had before the panel.
typedef struct {
  pack slab[2][ORDER][SLAB_PACKS + 1];
  pack chosen[NB][PACKS];
  uchar rows_at[2][PANELS + 1][ORDER], comes_from[ORDER];
#ifndef LUGPU_NVIDIA
  key_type keys[2][ITEMS];
  uint places[2][ITEMS];
#elif WARPS > 1
  key_type keys[2][WARPS];
  uint places[2][WARPS];
#endif
} scratch_of;

// Where the rows are in the columns of a panel while that from column `first` on is factored.
inline const __local uchar* rows_in(int panel, int first, const __local scratch_of* shared) {
  return shared->rows_at[first / NB % 2][panel];
}

// Waits for the work-items of a matrix and for what they wrote.
inline void wait_for_matrix() {
#if defined(LUGPU_NVIDIA) && WARPS == 1
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
#else
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}

// A pack of the matrix to registers.
inline void load_elements(const __global real* from, int n, real* x) {
  if (is_aligned(n)) {
    const pack values = *(const __global pack*)from;
    UNROLL
    for (int e = 0; e < PACK; ++e) x[e] = element_of(values, e);
  } else {
    UNROLL
    for (int e = 0; e < PACK; ++e) x[e] = from[e];
  }
}
// The first `count` elements of a pack to the matrix.
inline void store_elements(__global real* to, int n, int count, pack values) {
  if (is_aligned(n) && count > 0) *(__global pack*)to = values;
  if (is_aligned(n)) return;
  UNROLL
  for (int e = 0; e < PACK; ++e) {
    if (e < count) to[e] = element_of(values, e);
  }
}
// Copies to local memory, where elements arrive by wait_for_slabs().
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
// The first `count` elements of a pack of the matrix; the others become 0.
inline void copy_elements(__local pack* to, const __global real* from, int n, int count) {
  if (is_aligned(n) && count > 0) {
#ifdef LUGPU_NVIDIA
    copy_16_bytes((__local real*)to, from);
#else
    *to = *(const __global pack*)from;
#endif
    return;
  }
  UNROLL
  for (int e = 0; e < PACK; ++e) {
    if (e < count) copy_element((__local real*)to + e, from + e);
    if (e >= count) ((__local real*)to)[e] = 0;
  }
}
inline void end_of_slab() {
#ifdef LUGPU_NVIDIA
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits for all slabs, or for all but the last.
inline void wait_for_slabs(bool but_the_last) {
#ifdef LUGPU_NVIDIA
  if (but_the_last) asm volatile("cp.async.wait_group 1;" ::: "memory");
  if (!but_the_last) asm volatile("cp.async.wait_group 0;" ::: "memory");
#endif
  wait_for_matrix();
}

// Columns column : column + SLAB of the matrix, n x n, from position `top` on to a slab; 0 right of
// the matrix. rows: by their positions.
inline void bring_slab(const __global real* a, int n, int top, int column,
                       const __local uchar* rows, __local pack (*slab)[SLAB_PACKS + 1]) {
#pragma unroll 1
  for (int t = get_local_id(0); t < (n - top) * SLAB_PACKS; t += ITEMS) {
    const int i = top + t / SLAB_PACKS, p = t % SLAB_PACKS, j = column + p * PACK;
    copy_elements(&slab[i][p], a + rows[i] * n + j, n, n - j);
  }
  end_of_slab();
}

// The reverse.
inline void store_slab(__global real* a, int n, int top, int column,
                       const __local pack (*slab)[SLAB_PACKS + 1]) {
#pragma unroll 1
  for (int t = get_local_id(0); t < (n - top) * SLAB_PACKS; t += ITEMS) {
    const int i = top + t / SLAB_PACKS, p = t % SLAB_PACKS, j = column + p * PACK;
    store_elements(a + i * n + j, n, n - j, slab[i][p]);
  }
}

// Where row r of the work-item is in a slab; the last one's place if there is no such row.
inline int place_in_slab(int r, int n) { return min((int)get_local_id(0) + ITEMS * r, n - 1); }

// The panel from column `first` on.
inline void load_panel(real (*x)[NB], const __global real* a, int n, int first,
                       __local scratch_of* shared) {
  bring_slab(a, n, 0, first, rows_in(first / NB, first, shared), shared->slab[0]);
  UNROLL
  for (int s = 0; s < NB / SLAB; ++s) {
    const bool more = s + 1 < NB / SLAB;
    if (more)
      bring_slab(a, n, 0, first + (s + 1) * SLAB, rows_in(first / NB, first, shared),
                 shared->slab[(s + 1) % 2]);
    wait_for_slabs(more);
    UNROLL
    for (int r = 0; r < ROWS; ++r) {
      UNROLL
      for (int p = 0; p < SLAB_PACKS; ++p) {
        const pack values = shared->slab[s % 2][place_in_slab(r, n)][p];
        UNROLL
        for (int e = 0; e < PACK; ++e) x[r][s * SLAB + p * PACK + e] = element_of(values, e);
      }
    }
    wait_for_matrix();
  }
}

// A row to local memory.
inline void publish(const real* x, __local pack* to) {
  UNROLL
  for (int p = 0; p < PACKS; ++p) to[p] = pack_of(x + p * PACK);
}

// Rows top : top + NB, which have been chosen, to the matrix.
inline void store_chosen(__global real* a, int n, int top, int first,
                         const __local scratch_of* shared) {
#pragma unroll 1
  for (int t = get_local_id(0); t < min(NB, n - top) * PACKS; t += ITEMS) {
    const int i = t / PACKS, p = t % PACKS, j = first + p * PACK;
    store_elements(a + (top + i) * n + j, n, n - j, shared->chosen[i][p]);
  }
}

// Column k of the matrix, whose L is l, makes row k of U, and subtracts its product with L from all
// rows but the first `done` of each work-item. (Loops begin at 0 so that the compiler unrolls them
// early, and registers have fixed numbers.)
inline void subtract_row(real (*x)[NB], const int done, int k, const real* l,
                         __local scratch_of* shared) {
  __local pack* u = shared->chosen[k % NB];
  const uint mine = k % ITEMS == get_local_id(0) ? 1u << k / ITEMS : 0;
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    if (r >= done && (mine >> r & 1)) publish(x[r], u);
  }
  wait_for_matrix();
  UNROLL
  for (int p = 0; p < PACKS; ++p) {
    const pack of_u = u[p];
    UNROLL
    for (int e = 0; e < PACK; ++e) {
      UNROLL
      for (int r = 0; r < ROWS; ++r) {
        if (r >= done) x[r][p * PACK + e] = fma(-l[r], element_of(of_u, e), x[r][p * PACK + e]);
      }
    }
  }
}

// That for the SLAB columns from k on.
inline void subtract_slab(real (*x)[NB], const int done, int k, int n,
                          const __local pack (*slab)[SLAB_PACKS + 1], __local scratch_of* shared) {
#pragma unroll 1
  for (int p = 0; p < SLAB_PACKS; ++p) {
    real l[PACK][ROWS];
    UNROLL
    for (int r = 0; r < ROWS; ++r) {
      const pack values = slab[place_in_slab(r, n)][p];
      UNROLL
      for (int e = 0; e < PACK; ++e) l[e][r] = element_of(values, e);
    }
    UNROLL
    for (int e = 0; e < PACK; ++e) subtract_row(x, done, k + p * PACK + e, l[e], shared);
  }
}

// The columns left of the panel.
inline void update(real (*x)[NB], __global real* a, int n, int first, __local scratch_of* shared) {
  if (first > 0) bring_slab(a, n, 0, 0, rows_in(0, first, shared), shared->slab[0]);
  for (int k = 0; k < first; k += SLAB) {
    const int next = k + SLAB;
    if (next < first)
      bring_slab(
          a, n, next, next, rows_in(next / NB, first, shared), shared->slab[next / SLAB % 2]);
    wait_for_slabs(next < first);
    const __local pack(*slab)[SLAB_PACKS + 1] = shared->slab[k / SLAB % 2];
#ifdef UNROLLED
    if (k / ITEMS == 0) subtract_slab(x, 0, k, n, slab, shared);
    if (k / ITEMS == 1) subtract_slab(x, 1, k, n, slab, shared);
    if (k / ITEMS == 2) subtract_slab(x, 2, k, n, slab, shared);
#else
    subtract_slab(x, k / ITEMS, k, n, slab, shared);
#endif
    wait_for_matrix();
    if (next % NB == 0) store_chosen(a, n, next - NB, first, shared);
    wait_for_matrix();
  }
}

#if PIVOT == PARTIAL
// The place of the best candidate of the matrix, in column c of the panel.
inline uint best_of_matrix(key_type key, uint place, int c, __local scratch_of* shared) {
#ifndef LUGPU_NVIDIA
  return best_of(key, place, get_local_id(0), ITEMS, shared->keys[c % 2], shared->places[c % 2]);
#elif WARPS == 1
  return best_of_warp(key, place);
#else
  const key_type largest = largest_of_warp(key);
  const uint proposed = warp_min(key == largest ? place : NO_PLACE);
  if (get_local_id(0) % WARP == 0) {
    shared->keys[c % 2][get_local_id(0) / WARP] = largest;
    shared->places[c % 2][get_local_id(0) / WARP] = proposed;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  key_type best = 0;
  uint where = NO_PLACE;
  UNROLL
  for (int w = 0; w < WARPS; ++w)
    compare(shared->keys[c % 2][w], shared->places[c % 2][w], &best, &where);
  return where;
#endif
}
#endif

// Column c of the panel, which is k of the matrix. places: of the rows, NO_PLACE where there is
// none or it has been chosen. pivot_of_me: of column me of the panel. Returns whether the pivot is
// zero.
inline bool take_step(real (*x)[NB], uint* places, const int c, int k, uint* pivot_of_me,
                      __local scratch_of* shared) {
  const int me = get_local_id(0);
#if PIVOT == NONE
  const uint pivot = place_of(0, k, k);
#else
  key_type keys[ROWS], best = 0;
  uint where = NO_PLACE;
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    keys[r] = places[r] == NO_PLACE ? 0 : rank_of(x[r][c]);
    best = max(best, keys[r]);
  }
  UNROLL
  for (int r = 0; r < ROWS; ++r) where = min(where, keys[r] == best ? places[r] : NO_PLACE);
  const uint pivot = best_of_matrix(best, where, c, shared);
  *pivot_of_me = me == c ? pivot : *pivot_of_me;
#endif
  // (A comparison of r itself the compiler turns into a computed address, and the rows go to
  // memory.)
  const uint mine = row_of(pivot) % ITEMS == me ? 1u << row_of(pivot) / ITEMS : 0;
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
    if (mine >> r & 1) {
      publish(x[r], shared->chosen[c]);
      places[r] = NO_PLACE;
      shared->comes_from[k] = row_of(pivot);
    }
  }
  wait_for_matrix();
  const __local pack* u = shared->chosen[c];
  const real value = ((const __local real*)u)[c];
  real scale = 1, inverse = inverse_of(value), l[ROWS];
  if (!has_inverse(value)) reciprocal(value, &scale, &inverse);
  UNROLL
  for (int r = 0; r < ROWS; ++r) {
#if PIVOT == PARTIAL
    // Who is at position k goes to the pivot's.
    const uint moved = place_of(0, row_position_of(pivot), row_of(places[r]));
    places[r] = places[r] < place_of(0, k + 1, 0) ? moved : places[r];
#endif
    l[r] = x[r][c] * scale * inverse;
    x[r][c] = l[r];
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
        if (j > c) x[r][j] = fma(-l[r], element_of(of_u, e), x[r][j]);
      }
    }
  }
  return value == 0;
}

// The factored panel to the matrix, and where its rows come from.
inline void store_panel(real (*x)[NB], __global real* a, int n, int first, const uint* places,
                        __local scratch_of* shared) {
  store_chosen(a, n, first, first, shared);
  UNROLL
  for (int s = 0; s < NB / SLAB; ++s) {
    UNROLL
    for (int r = 0; r < ROWS; ++r) {
      if (places[r] == NO_PLACE) continue;
      const int position = row_position_of(places[r]);
      if (s == 0) shared->comes_from[position] = row_of(places[r]);
      UNROLL
      for (int p = 0; p < SLAB_PACKS; ++p)
        shared->slab[s % 2][position][p] = pack_of(x[r] + s * SLAB + p * PACK);
    }
    wait_for_matrix();
    store_slab(a, n, first + NB, first + s * SLAB, shared->slab[s % 2]);
  }
  wait_for_matrix();
}

// The interchanges of the panel from column `first` on in rows_at.
inline void compose(int n, int first, __local scratch_of* shared) {
  const int panel = first / NB;
  __local uchar(*after)[ORDER] = shared->rows_at[(panel + 1) % 2];
  for (int i = get_local_id(0); i < ORDER; i += ITEMS) {
    const int before = i >= first && i < n ? shared->comes_from[i] : i;
    for (int p = 0; p < panel; ++p) after[p][i] = shared->rows_at[panel % 2][p][before];
    after[panel][i] = i;
    after[panel + 1][i] = shared->rows_at[panel % 2][panel][before];
  }
  wait_for_matrix();
}

#if PIVOT == PARTIAL
// The rows of L to their positions, in all columns but those of the last panel.
inline void interchange(__global real* a, int n, const __local scratch_of* shared) {
  const int row = get_local_id(0) / PACKS, last = (n - 1) / NB;
#pragma unroll 1
  for (int panel = 0; panel < last; ++panel) {
    const int top = (panel + 1) * NB + row;
    const __local uchar* rows = rows_in(panel, (last + 1) * NB, shared);
    __global real* there = a + panel * NB + get_local_id(0) % PACKS * PACK;
    real moved[MOVED][PACK];
    UNROLL
    for (int s = 0; s < MOVED; ++s) {
      const int i = min(top + s * (ITEMS / PACKS), n - 1);
      load_elements(there + rows[i] * n, n, moved[s]);
    }
    wait_for_matrix();
    UNROLL
    for (int s = 0; s < MOVED; ++s) {
      const int i = top + s * (ITEMS / PACKS);
      if (i < n) store_elements(there + i * n, n, PACK, pack_of(moved[s]));
    }
  }
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
  int zero = INT_MAX;  // the first column whose pivot is zero
  UNROLL
  for (int r = 0; r < ROWS; ++r) shared.rows_at[0][0][me + ITEMS * r] = me + ITEMS * r;
  wait_for_matrix();
  for (int first = 0; first < n; first += NB) {
    real x[ROWS][NB];
    uint places[ROWS], pivot = NO_PLACE;
    UNROLL
    for (int r = 0; r < ROWS; ++r) {
      const int i = me + ITEMS * r;
      places[r] = i >= first && i < n ? place_of(0, i, i) : NO_PLACE;
    }
    load_panel(x, a, n, first, &shared);
    update(x, a, n, first, &shared);
    // (PoCL's compiler takes minutes for a barrier under a condition.)
#ifdef UNROLLED
#define STEP(c)                                                             \
  if (first + c < n && take_step(x, places, c, first + c, &pivot, &shared)) \
    zero = min(zero, first + c);
#define STEPS_8(c) \
  STEP(c) STEP(c + 1) STEP(c + 2) STEP(c + 3) STEP(c + 4) STEP(c + 5) STEP(c + 6) STEP(c + 7)
    STEPS_8(0)
    STEPS_8(8)
#else
    for (int c = 0; c < min(NB, n - first); ++c) {
      const bool is_zero = take_step(x, places, c, first + c, &pivot, &shared);
      zero = is_zero ? min(zero, first + c) : zero;
    }
#endif
    store_panel(x, a, n, first, places, &shared);
#if PIVOT == PARTIAL
    if (me < NB && first + me < n) ipiv[matrix * n + first + me] = row_position_of(pivot);
#endif
    compose(n, first, &shared);
  }
#if PIVOT == PARTIAL
  interchange(a, n, &shared);
#endif
  if (me == 0) info[matrix] = zero == INT_MAX ? 0 : zero + 1;
}
