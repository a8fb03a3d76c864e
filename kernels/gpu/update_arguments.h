/* What one launch of update_and_factor (gpu/lu_blocked.cl) does. The kernel takes it by value from
   its host, and both include this: 32-bit integers alone, so that both lay it out alike. */
#ifndef LUGPU_UPDATE_ARGUMENTS_H
#define LUGPU_UPDATE_ARGUMENTS_H

#ifdef __OPENCL_VERSION__
typedef int cl_int;
#else
#include <CL/cl_platform.h>
#endif

/* Work-groups 0 : groups update columns column : column_end with columns k : k_end of L and rows k
   : k_end of U, none if k == k_end; then they factor `width` of these columns. */
typedef struct {
  cl_int column, width, column_end, groups, k, k_end;
} update_panel;

/* Columns column : column_end of rows k_end : m get columns k : k_end of L and rows k : k_end of
   U. */
typedef struct {
  cl_int column, column_end, k, k_end;
} update_region;

/* L and U of a block as the matrix units of NVIDIA's compute capability 9.0 take them
   (nvidia/halves_layout.clh): L from row `row` of the matrix on, U from column `column` on, in
   memory that holds `rows` and `columns` of them, multiples of 16. */
typedef struct {
  cl_int row, column, rows, columns;
} split_block;

/* Tiles by tickets (nvidia/tickets.clh): the first of TICKET_WORDS words of the messages for them, and
   how many have been drawn before this launch. Word 0: tiles go by the numbers of work-groups. */
#define TICKET_PLACES 256
#define TICKET_WORDS (3 + TICKET_PLACES)
typedef struct {
  cl_int word, drawn;
} update_tickets;

typedef struct {
  cl_int m; /* rows of the matrix */
  update_panel panel;
  update_tickets tickets;
  update_region near_region, far_region;
  split_block split;  /* for all of the far region, if rows > 0 */
  cl_int split_near;  /* whether for the near region too */
} update_arguments;

/* Of another matrix X, rows row : row_end of columns column : column_end get columns k : k_end of T
   and rows k : k_end of X: the tiles from number `tile` on, column after column of tiles. The first
   element of T that is there is T(t_top, t_left). */
typedef struct {
  cl_int t_top, t_left, row, row_end, column, column_end, k, k_end, tile;
} update_beside;

#endif
