// LU factorization by blocks, right-looking, on a GPU, with two launches for every panel of NB
// columns:
//   exchange_and_solve  brings the panel's interchanges to the other columns, and computes rows of
//                       U;
//   update_and_factor   the first work-groups bring the next panel up to date and factor it,
//                       meanwhile the others update what lies to its right.
// To halve the traffic of C, or better, the columns to the right can be updated with several panels
// at once (BlockedGpu::factorize). U of all of these comes from gpu/rows_of_u.cl.
//
// Parts whose times are noted (common/part_times.clh) of update_and_factor: 0, the panel, 1, the
// tiles.
//
// Build options: PIVOT, 1 or 0, and those of the panel. LUGPU_NVIDIA takes the matrix units of
// NVIDIA's GPUs; with LUGPU_WGMMA, for singles, update_and_factor takes those of compute
// capability 9.0, and the host has to patch the program; with HALVES besides, regions whose L and U
// are there in halves (nvidia/halves_layout.clh) are updated with these, and with pivots their
// tiles may go by tickets (nvidia/tickets.clh). With BESIDE, update_and_factor also updates tiles
// of another matrix, after those of the regions.

#include "common/part_times.clh"
#include "gpu/tile_order.clh"
#include "gpu/update_flat_tile.clh"
#ifdef HALVES
#include "nvidia/halves_layout.clh"
#include "nvidia/halves_rows.clh"
#endif
#if defined(LUGPU_WGMMA) && defined(HALVES)
#include "nvidia/halves_tile.clh"
#endif
#if defined(LOCAL_PIVOTS) && defined(LUGPU_NVIDIA)
#include "gpu/panel_local.clh"
#elif PIVOT
#include "gpu/panel_partial.clh"
#else
#include "gpu/panel_none.clh"
#endif
#include "gpu/strip.clh"
#include "gpu/update_arguments.h"
#if defined(HALVES) && PIVOT
#include "nvidia/tickets.clh"
#endif

#ifdef BESIDE
#define BESIDE_ARGUMENTS \
  , __global const real *t, int t_pitch, __global real *x, int x_pitch, const update_beside beside
#else
#define BESIDE_ARGUMENTS
#endif

inline int tiles_across(int column, int column_end) {
  return max(0, column_end - column + 127) / 128;
}
inline int tiles_of(int column, int column_end, int row, int m) {
  return tiles_across(column, column_end) * ((m - row + 127) / 128);
}

// The work-groups of the panel come first, then those with the tiles of the near region, of the far
// region and of BESIDE, 128 x 128 each, in bands (gpu/tile_order.clh). Regions start at multiples
// of 16 columns.
__kernel REQUIRE_SIZE(TILE_ITEMS) void update_and_factor(
    __global real* restrict a, int pitch, const update_arguments launch, __global ulong* messages,
    __global int* pivots, __global int* row_for, __global int* row_goes_to, __global int* info,
    __global const uchar* halves BESIDE_ARGUMENTS PART_TIMES) {
#ifdef LUGPU_WGMMA
  __local ulong2 scratch[WGMMA_PLACEHOLDER_BYTES / 16] __attribute__((aligned(1024)));
#else
  __local ulong2 scratch[TILE_BYTES / 16];
#endif
  const int group = get_group_id(0);
  const int m = launch.m, groups = launch.panel.groups;
  if (group < groups) {
    const int panel = launch.panel.column, width = launch.panel.width;
    const int k = launch.panel.k, k_end = launch.panel.k_end;
#ifdef TICKETS
    if (launch.tickets.word > 0) tell_start(messages + launch.tickets.word, group, panel + 1);
#endif
    if (k_end > k) {
      update_tile(a, pitch, a, pitch, panel + panel_rows_from(group), panel,
                  min(panel + panel_rows_end(group), m), launch.panel.column_end, k, k_end, true,
                  (__local real*)scratch);
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    START_PART(0);
    factor_panel(a, pitch, m, panel, width, groups, group, messages, pivots, row_for, row_goes_to,
                 info, (__local panel_scratch*)scratch);
#ifdef TICKETS
    if (launch.tickets.word > 0) tell_end(messages + launch.tickets.word, group, panel + 1);
#endif
    END_PART(0);
    return;
  }
  // Each member is read into a variable of its own: a pointer to the arguments would put them all
  // into memory.
  int column = launch.near_region.column, column_end = launch.near_region.column_end;
  int k = launch.near_region.k, k_end = launch.near_region.k_end, row = k_end;
  int tile = group - groups;
  const int near_tiles = tiles_of(column, column_end, row, m);
#if defined(TICKETS) || defined(BESIDE)
  int tiles = near_tiles;
  tiles +=
      tiles_of(launch.far_region.column, launch.far_region.column_end, launch.far_region.k_end, m);
#endif
#ifdef TICKETS
  if (launch.tickets.word > 0) {
    tile = draw_ticket(
               messages + launch.tickets.word, launch.panel.column + 1, (__local int*)scratch) -
           launch.tickets.drawn;
    if (tile >= tiles) return;
  }
#endif
#ifdef BESIDE
  if (tile >= tiles) {
    START_PART(1);
    const int2 place = place_of_tile(
        tile + beside.tile - tiles, (beside.row_end - beside.row + 127) / 128,
        tiles_across(beside.column, beside.column_end));
    t -= (size_t)beside.t_top * t_pitch + beside.t_left;
    update_flat_tile(
        t, t_pitch, x, x_pitch, beside.row + place.x * 128, beside.column + place.y * 128,
        beside.row_end, beside.column_end, beside.k, beside.k_end, scratch);
    END_PART(1);
    return;
  }
#endif
  const bool tile_is_far = tile >= near_tiles;
  if (tile_is_far) {
    tile -= near_tiles;
    column = launch.far_region.column, column_end = launch.far_region.column_end;
    k = launch.far_region.k, k_end = launch.far_region.k_end, row = k_end;
  }
  START_PART(1);
#if defined(LUGPU_WGMMA) && defined(HALVES)
  if (launch.split.rows > 0 && (launch.split_near || tile_is_far)) {
    update_halves_tile(launch.split, halves, a, pitch, tile, row, column, m, column_end,
                       (k_end - k) / CHUNK, (__local char*)scratch);
    END_PART(1);
    return;
  }
#endif
  const int2 place = place_of_tile(tile, (m - row + 127) / 128, tiles_across(column, column_end));
  update_flat_tile(a, pitch, a, pitch, row + place.x * 128, column + place.y * 128, m, column_end,
                   k, k_end, scratch);
  END_PART(1);
}

// A strip of columns: left_strips strips start at column `left`, the others at column panel +
// width. All columns get the panel's interchanges. In columns from panel + width to solve_end, its
// rows become rows of U, inverse(L) times what they were. Work-groups behind the strips bring the
// interchanges to L in halves (HALVES).
__kernel __attribute__((reqd_work_group_size(STRIP * PARTS, 1, 1))) void exchange_and_solve(
    __global real* restrict a, int pitch, int n, int panel, int width, int left, int left_strips,
    int solve_end, __global const int* restrict row_for, __global const int* restrict row_goes_to,
    int strips, split_block split, __global uchar* halves) {
#ifdef HALVES
  if (get_group_id(0) >= strips) {
    exchange_halves(panel, width, get_group_id(0) - strips, row_for, row_goes_to, split, halves);
    return;
  }
#endif
  __local real4 l_packs[NB * L_STRIDE / 4];
  __local real u[PART * STRIP];
  __local int from[NB], to[NB];
  __local real* l = (__local real*)l_packs;
  const int me = get_local_id(0), part = me / STRIP;
  const int strip = get_group_id(0);
  const int after = panel + width;
  const int start =
      strip < left_strips ? left + strip * STRIP : after + (strip - left_strips) * STRIP;
  const int c = start + me % STRIP;
  const bool solving = strip >= left_strips && start < solve_end;  // the same for the work-group
  const bool solves = solving && c < solve_end;
  __global real* column = a + min(c, n - 1);

  // This work-item's rows of the panel, as the interchanges leave them.
  real x[PART];
#if PIVOT
  if (me < NB) {
    from[me] = me < width ? row_for[me] : panel;
    to[me] = me < width ? row_goes_to[me] : 0;
  }
  if (solving) fetch_l(a, pitch, panel, width, panel, width, l);
  barrier(CLK_LOCAL_MEM_FENCE);
  real moved[PART];
#pragma unroll
  for (int i = 0; i < PART; ++i) x[i] = column[(size_t)from[part * PART + i] * pitch];
#pragma unroll
  for (int i = 0; i < PART; ++i) {
    if (to[part * PART + i] >= after) moved[i] = column[(size_t)(panel + part * PART + i) * pitch];
  }
  barrier(CLK_LOCAL_MEM_FENCE |
          CLK_GLOBAL_MEM_FENCE);  // everything overwritten below has been read
  if (c < n) {
#pragma unroll
    for (int i = 0; i < PART; ++i) {
      if (to[part * PART + i] >= after) column[(size_t)to[part * PART + i] * pitch] = moved[i];
      if (!solves && part * PART + i < width)
        column[(size_t)(panel + part * PART + i) * pitch] = x[i];
    }
  }
#else
#pragma unroll
  for (int i = 0; i < PART; ++i)
    x[i] = c < n && part * PART + i < width ? column[(size_t)(panel + part * PART + i) * pitch] : 0;
  if (solving) fetch_l(a, pitch, panel, width, panel, width, l);
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  if (!solving) return;

  substitute(true, x, l, u);
#pragma unroll
  for (int i = 0; i < PART; ++i) {
    if (solves && part * PART + i < width) column[(size_t)(panel + part * PART + i) * pitch] = x[i];
  }
}
