// What a matrix of doubles in two planes of words gives to factors.

#include "gpu/double_words.clh"

// target = A(:, first : first + count)
__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void join_columns(
    PLANES, __global double* restrict target, int n, int first, int count) {
  const int i = get_global_id(0), j = get_global_id(1);
  if (i >= n || j >= count) return;
  const size_t at = (size_t)(first + j) * pitch + i;
  target[(size_t)j * n + i] = of_words(upper[at], lower[at]);
}

// The same, rounded to single.
__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void round_columns(
    PLANES, __global float* restrict target, int n, int first, int count) {
  const int i = get_global_id(0), j = get_global_id(1);
  if (i >= n || j >= count) return;
  const size_t at = (size_t)(first + j) * pitch + i;
  target[(size_t)j * n + i] = (float)of_words(upper[at], lower[at]);
}

// The same, by the upper words alone.
__kernel __attribute__((reqd_work_group_size(64, 4, 1))) void round_upper_words(
    __global const uint* restrict upper, int pitch, __global float* restrict target, int n,
    int first, int count) {
  const int i = get_global_id(0), j = get_global_id(1);
  if (i >= n || j >= count) return;
  target[(size_t)j * n + i] = (float)of_words(upper[(size_t)(first + j) * pitch + i], 0);
}

#define TILE 16

// The words of an n x n plane change places with those on the other side of its diagonal.
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void transpose_words(
    __global uint* restrict plane, int pitch, int n) {
  __local uint below[TILE][TILE + 1], above[TILE][TILE + 1];
  const int x = get_local_id(0), y = get_local_id(1);
  const int rows = get_global_id(0) - x, columns = get_global_id(1) - y;
  if (rows < columns) return;
  const size_t at_below = (size_t)(columns + y) * pitch + rows + x;
  const size_t at_above = (size_t)(rows + y) * pitch + columns + x;
  const bool is_below = rows + x < n && columns + y < n;
  const bool is_above = rows + y < n && columns + x < n;
  if (is_below) below[y][x] = plane[at_below];
  if (is_above) above[y][x] = plane[at_above];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (is_below) plane[at_below] = above[x][y];
  if (is_above && rows > columns) plane[at_above] = below[x][y];
}
