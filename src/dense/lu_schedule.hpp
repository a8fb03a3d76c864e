// The launches of blocked LU on GPUs (dense/blocked_gpu.hpp) in their order.
#pragma once

#include <cstddef>
#include <vector>

namespace lugpu {

/// What is factored by panels, and in which blocks.
struct LuPlan {
  std::size_t m = 0, n = 0;   ///< rows and columns of the matrix
  std::size_t end = 0;        ///< columns of panels: min(m, n), or a whole number of blocks before
  std::size_t panel = 0;      ///< columns of a panel
  std::size_t block = 0;      ///< columns of a block, a whole number of panels
  bool interchanges = false;  ///< whether rows are interchanged
  std::size_t first_tiles = 0;  ///< of LuStep::first, 128 x 128 each; none if 0
};

/// Columns column : column_end get columns k : k_end of L and rows k : k_end of U, in all rows from
/// k_end on; nothing if there are no such columns.
struct LuUpdate {
  std::size_t column = 0, column_end = 0, k = 0, k_end = 0;

  bool empty() const { return column >= column_end; }
};

/// What is enqueued once columns panel : panel_end are factored, one after the other:
///   1. the panel's interchanges in all columns left of it and, right of it, in those up to
///      exchange_end; its rows of U in columns panel_end : solve_end;
///   2. if the panel ends its block (`block_ends`), rows block : panel_end of U in the columns from
///      solve_end on, which do not have them yet;
///   3. `first` is updated: with the products of a whole block the next panel's columns, and of
///      those next to them as many as make plan.first_tiles;
///   4. one launch: `next` is updated, unless `first` has been, and its first next_width columns,
///      the next panel, are factored; meanwhile `near` and `far` are updated, whose columns are
///      others.
struct LuStep {
  std::size_t panel = 0, panel_end = 0, block = 0;
  bool block_ends = false;
  std::size_t solve_end = 0, exchange_end = 0;
  LuUpdate first, next, near, far;
  std::size_t next_width = 0;  ///< 0 after the last panel
};

/// Right-looking, with an update of the columns right of the next block (far) that is lazy: they
/// get all panels of a block at once, in as many parts as the next block has panels, one in the
/// launch of each. The other columns (near) get a panel as soon as it is factored. Every element
/// gets the products of all panels once and in the order of getrf. The columns after plan.end, if
/// any, have all of these at the end.
std::vector<LuStep> lu_schedule(const LuPlan& plan);

}  // namespace lugpu
