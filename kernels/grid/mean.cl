// Takes the mean of each part of a grid off a vector. A part is a list of cells, cut into chunks;
// a work-group takes a chunk. A cell is number x + nx (y + ny z); row y + ny z of the vector starts
// at lead + pitch times the row.

#include "common/vectors.clh"

// The cells first : end of the list, of a part that has `cells` cells in the chunks first_chunk :
// end_chunk.
typedef struct {
  int first, end, first_chunk, end_chunk, cells;
} chunk_of_part;

inline size_t place_in(int cell, int columns, int pitch, int lead) {
  return lead + (size_t)(cell / columns) * pitch + cell % columns;
}

// partials(chunk) = the sum over its cells.
__kernel WORK_GROUP void sum_chunks(
    __global const real* restrict vector, int columns, int pitch, int lead,
    __global const int* restrict list, __global const chunk_of_part* restrict chunks,
    __global real* restrict partials) {
  __local real scratch[GROUP];
  const chunk_of_part chunk = chunks[MY_GROUP];
  real mine = 0;
  for (int i = chunk.first + MY_LANE; i < chunk.end; i += GROUP)
    mine += vector[place_in(list[i], columns, pitch, lead)];
  const real sum = sum_of_group(mine, scratch);
  if (MY_LANE == 0) partials[MY_GROUP] = sum;
}

// vector -= the mean of the part.
__kernel WORK_GROUP void subtract_mean(
    __global real* vector, int columns, int pitch, int lead, __global const int* restrict list,
    __global const chunk_of_part* restrict chunks, __global const real* restrict partials) {
  __local real scratch[GROUP];
  const chunk_of_part chunk = chunks[MY_GROUP];
  const real sum =
      sum_of_partials(partials + chunk.first_chunk, chunk.end_chunk - chunk.first_chunk, scratch);
  const real mean = sum / chunk.cells;
  for (int i = chunk.first + MY_LANE; i < chunk.end; i += GROUP)
    vector[place_in(list[i], columns, pitch, lead)] -= mean;
}
