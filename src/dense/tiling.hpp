// How the launches of the fused schedules are cut into work-groups: what fused.cpp and
// full_pivoting.cpp have in common. The kernels' part of this is dense/tiling.clh.
#pragma once

#include <cstddef>
#include <string>

#include "dense/options.hpp"
#include "opencl/context.hpp"

namespace lugpu {

/// A work-group's tile.
struct Tile {
  std::size_t lanes;    ///< work-items; 1 where one is a CPU thread
  std::size_t columns;  ///< texels of a row
  std::size_t rows;     ///< at a time
};

/// For the steps of an elimination of n rows and `end` columns.
struct Tiling {
  /// group_columns x group_rows work-groups, the first of which begins at the boundary of cache
  /// lines and of image blocks before what the step takes. Each has tile.columns texels and this
  /// many rows, a multiple of tile.rows, less what is outside of that.
  struct Launch {
    std::size_t group_columns, group_rows, rows;
    std::size_t groups() const { return group_columns * group_rows; }
  };

  static constexpr std::size_t kLineBytes = 128;  ///< of a cache line
  static constexpr std::size_t kBlockRows = 8;    ///< of the blocks in which a GPU keeps images
  static constexpr std::size_t kChoosers = 256;   ///< work-items that choose among candidates
  /// Elements of a row of U and a column of L that a CPU thread takes at once (full pivoting).
  static constexpr std::size_t kTakenAtOnce = 256;

  Tile tile;
  std::size_t most_groups;  ///< into which a launch is cut, about; 0 for one for each tile
  std::size_t n, end;
  std::size_t pack;  ///< elements of a texel
  std::size_t texel_bytes;
  std::size_t vector;  ///< elements of a vector register of a CPU

  /// The fastest for a device, as measured.
  static Tiling make(const Device& device, const Size& size, const DenseOptions& options,
                     std::size_t end);

  /// The launch of a step that takes the rows from first_row and the columns from first_column.
  Launch launch(std::size_t first_row, std::size_t first_column) const;
  /// At least the candidates that a launch leaves: one for each work-group, or for each group_row
  /// if most_groups is 0.
  std::size_t most_candidates() const;
  /// Whether a launch can have several steps: where work-items are CPU threads, which wait for one
  /// another less than for a launch, and the kernels can read and write both surfaces.
  bool several_steps(const DenseOptions& options) const;
  /// The end of the steps of a launch that begins with step `first`: those that update not much
  /// more than 10^9 elements.
  std::size_t last_of_launch(std::size_t first) const;
  /// Counters of such a launch (cpu/phases.clh).
  std::size_t phase_ints() const;
  /// The tile and the constants as build options of the kernels.
  std::string options() const;
};

/// The candidates for the next pivot that the work-groups of a launch leave.
struct Candidates {
  Candidates(DeviceContext& context, const Tiling& tiling, Precision precision);
  cl::Buffer magnitudes;  ///< as many as tiling.most_candidates()
  cl::Buffer places;      ///< theirs, (row, column)
};

}  // namespace lugpu
