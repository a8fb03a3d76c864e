// Rows of row-major matrices, in packs of 16 bytes (build with LUGPU_RGBA): the interchanges of a
// panel, as a list of `count` places, in `columns` packs of A from pack `first` on. Through
// `moved`, a row for each: some go where others come from. A pivot that came to the device wrong
// moves another row of A, which the checks find.
//
// Build option: LUGPU_BY_ROWS, for CPUs: a work-item moves whole rows, one after another, as 64
// packs are too little work for a work-group there.

#include "dense/places_of_rows.clh"

#ifdef LUGPU_BY_ROWS
#define ITEMS 1
#else
#define ITEMS 64
#endif

#define LISTED 64  // work-items of a list
#define HELD 1024  // interchanges that are in local memory at a time

// others[i] = top + ipiv[i], i = 0 : count, once nobody needs what was there
inline void hold(__global const int* ipiv, int top, int count, __local int* others) {
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < count; i += LISTED) others[i] = top + ipiv[i];
  barrier(CLK_LOCAL_MEM_FENCE);
}

// The interchanges of rows at + i and top + ipiv[first + i], i = 0 : width, in this order, as a
// list of moves: row rows[start + 2 width + i] becomes what was row rows[start + i], i = 0 : 2
// width, if these are not the same. The first half is what becomes of rows at : at + width, the
// other one where these go if that is below them: a row below goes nowhere else.
__kernel __attribute__((reqd_work_group_size(LISTED, 1, 1))) void list_row_moves(
    __global const int* restrict ipiv, int first, int width, int at, int top,
    __global int* restrict rows, int start) {
  __local int others[HELD];
  const int place = get_global_id(0), end = at + width, last = (width - 1) / HELD * HELD;
  int to = at + place, from = at + place;
  for (int k = 0; k < width; k += HELD) {
    hold(ipiv + first + k, top, min(HELD, width - k), others);
    to = place_after(to, at + k, others, min(HELD, width - k));
  }
  for (int k = last; k >= 0; k -= HELD) {
    hold(ipiv + first + k, top, min(HELD, width - k), others);
    from = place_before(from, at + k, others, min(HELD, width - k));
  }
  if (place >= width) return;
  rows[start + place] = from;
  rows[start + width + place] = at + place;
  rows[start + 2 * width + place] = at + place;
  rows[start + 3 * width + place] = to >= end ? to : at + place;
}

// moved(i, :) = A(rows(from + i), :), for the rows that move
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void take_rows(
    __global const real* restrict a, int pitch, __global real* restrict moved, int moved_pitch,
    __global const int* restrict rows, int from, int to, int n, int first, int count, int columns) {
  for (int i = get_global_id(1); i < count; i += get_global_size(1)) {
    const int place = rows[from + i];
    if (place == rows[to + i]) continue;
    __global const pack* row =
        (__global const pack*)(a + (size_t)clamp(place, 0, n - 1) * pitch) + first;
    __global pack* copy = (__global pack*)(moved + (size_t)i * moved_pitch) + first;
    for (int j = get_global_id(0); j < columns; j += get_global_size(0)) copy[j] = row[j];
  }
}

// A(rows(to + i), :) = moved(i, :), likewise
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void put_rows(
    __global real* restrict a, int pitch, __global const real* restrict moved, int moved_pitch,
    __global const int* restrict rows, int from, int to, int n, int first, int count, int columns) {
  for (int i = get_global_id(1); i < count; i += get_global_size(1)) {
    const int place = rows[to + i];
    if (place == rows[from + i]) continue;
    __global pack* row = (__global pack*)(a + (size_t)clamp(place, 0, n - 1) * pitch) + first;
    __global const pack* copy = (__global const pack*)(moved + (size_t)i * moved_pitch) + first;
    for (int j = get_global_id(0); j < columns; j += get_global_size(0)) row[j] = copy[j];
  }
}

// to(to_row + i, to_first + j) = from(from_row + i, from_first + j), i = 0 : count, j = 0 : columns
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void copy_columns(
    __global const real* restrict from, int from_pitch, __global real* restrict to, int to_pitch,
    int from_row, int from_first, int to_row, int to_first, int count, int columns) {
  for (int i = get_global_id(1); i < count; i += get_global_size(1)) {
    __global const pack* source =
        (__global const pack*)(from + (size_t)(from_row + i) * from_pitch) + from_first;
    __global pack* target = (__global pack*)(to + (size_t)(to_row + i) * to_pitch) + to_first;
    for (int j = get_global_id(0); j < columns; j += get_global_size(0)) target[j] = source[j];
  }
}
