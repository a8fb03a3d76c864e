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

/* Work-groups with tiles keep away from multiprocessors of the panel: word `word` of the mail is the
   first of WATCH_WORDS for that, and `drawn` tickets have been drawn before this launch. They do not
   if word is 0. */
#define WATCH_PLACES 256
#define WATCH_WORDS (3 + WATCH_PLACES)
typedef struct {
  cl_int word, drawn;
} update_watch;

typedef struct {
  cl_int m; /* rows of the matrix */
  update_panel panel;
  update_watch watch;
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
