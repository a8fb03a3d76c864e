// Rows of row-major matrices, in packs of 16 bytes (build with LUGPU_RGBA): the interchanges of a
// panel, as lists of `count` rows that move, in `columns` packs of A from pack `first` on. Through
// `moved`, a row for each: some go where others come from. A row that came to the device wrong
// moves another one of A, which the checks find.
//
// Build option: LUGPU_BY_ROWS, for CPUs: a work-item moves whole rows, one after another, as 64
// packs are too little work for a work-group there.

#ifdef LUGPU_BY_ROWS
#define ITEMS 1
#else
#define ITEMS 64
#endif

// moved(i, :) = A(rows(start + i), :)
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void take_rows(
    __global const real* restrict a, int pitch, __global real* restrict moved, int moved_pitch,
    __global const int* restrict rows, int start, int n, int first, int count, int columns) {
  for (int i = get_global_id(1); i < count; i += get_global_size(1)) {
    __global const pack* row =
        (__global const pack*)(a + (size_t)clamp(rows[start + i], 0, n - 1) * pitch) + first;
    __global pack* to = (__global pack*)(moved + (size_t)i * moved_pitch) + first;
    for (int j = get_global_id(0); j < columns; j += get_global_size(0)) to[j] = row[j];
  }
}

// A(rows(start + i), :) = moved(i, :)
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void put_rows(
    __global real* restrict a, int pitch, __global const real* restrict moved, int moved_pitch,
    __global const int* restrict rows, int start, int n, int first, int count, int columns) {
  for (int i = get_global_id(1); i < count; i += get_global_size(1)) {
    __global pack* row =
        (__global pack*)(a + (size_t)clamp(rows[start + i], 0, n - 1) * pitch) + first;
    __global const pack* from = (__global const pack*)(moved + (size_t)i * moved_pitch) + first;
    for (int j = get_global_id(0); j < columns; j += get_global_size(0)) row[j] = from[j];
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
