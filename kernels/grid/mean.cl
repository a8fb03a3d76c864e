// Takes the mean of each part of a grid off a vector. A part is a list of cells, cut into chunks;
// a work-group takes a chunk. A cell is number x + nx (y + ny z); row y + ny z of the vector starts
// at lead + pitch times the row. Without the build option UNIFORM cells of a list without a link
// are not of its part: obstacles, which are held, and others, where the vector becomes 0.

#include "common/vectors.clh"

// The cells first : end of the list, of a part that has the chunks first_chunk : end_chunk.
typedef struct {
  int first, end, first_chunk, end_chunk;
} chunk_of_part;

inline size_t place_in(int cell, int columns, int pitch, int lead) {
  return lead + (size_t)(cell / columns) * pitch + cell % columns;
}

// What is stored of the grid in fields (grid/cells.clh).
#define STORED \
  __global const real *restrict held, __global const real *restrict inverse_d, int field_pitch
#ifdef UNIFORM
#define IS_LINKED(cell) true
#define HELD(cell) ((real)0)
#else
#define LEAD 32
#define IS_LINKED(cell) (inverse_d[place_in(cell, columns, field_pitch, LEAD)] != 0)
#define HELD(cell) held[place_in(cell, columns, field_pitch, LEAD)]
#endif

// partials(chunk) = the sum over its cells, partials(chunks + chunk) = their number.
__kernel WORK_GROUP void sum_chunks(
    __global const real* restrict vector, int columns, int pitch, int lead,
    __global const int* restrict list, __global const chunk_of_part* restrict chunks,
    __global real* restrict partials, STORED) {
  __local real scratch[GROUP];
  const chunk_of_part chunk = chunks[MY_GROUP];
  real mine = 0, my_cells = 0;
  for (int i = chunk.first + MY_LANE; i < chunk.end; i += GROUP) {
    if (!IS_LINKED(list[i])) continue;
    mine += vector[place_in(list[i], columns, pitch, lead)];
    my_cells += 1;
  }
  const real sum = sum_of_group(mine, scratch);
  if (MY_LANE == 0) partials[MY_GROUP] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  const real cells = sum_of_group(my_cells, scratch);
  if (MY_LANE == 0) partials[get_num_groups(0) + MY_GROUP] = cells;
}

// vector -= the mean of the part.
__kernel WORK_GROUP void subtract_mean(
    __global real* vector, int columns, int pitch, int lead, __global const int* restrict list,
    __global const chunk_of_part* restrict chunks, __global const real* restrict partials, STORED) {
  __local real scratch[GROUP];
  const chunk_of_part chunk = chunks[MY_GROUP];
  const int count = chunk.end_chunk - chunk.first_chunk;
  __global const real* const sums = partials + chunk.first_chunk;
  const real sum = sum_of_partials(sums, count, scratch);
  const real mean = sum / sum_of_partials(sums + get_num_groups(0), count, scratch);
  for (int i = chunk.first + MY_LANE; i < chunk.end; i += GROUP) {
    const int cell = list[i];
    const size_t at = place_in(cell, columns, pitch, lead);
    vector[at] = IS_LINKED(cell) ? vector[at] - mean : HELD(cell) * vector[at];
  }
}
