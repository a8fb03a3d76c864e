#include "dense/fused.hpp"

#include <algorithm>

#include "dense/finish.hpp"

namespace lugpu {
namespace {

// CHOOSERS, BLOCK_ROWS and the bytes of LINE of dense/fused.cl.
constexpr std::size_t kChoosers = 256;
constexpr std::size_t kBlockRows = 8;
constexpr std::size_t kLineBytes = 128;

std::size_t ceiling(std::size_t count, std::size_t divisor) {
  return (count + divisor - 1) / divisor;
}

// A work-group's tile: the work-items, the texels of a row, the rows at a time, and into how many
// work-groups for each compute unit a launch is cut, or 0 for a work-group for each tile.
struct Tile {
  std::size_t lanes, columns, rows, groups_per_unit;
};

// A GPU's images are kept in square blocks, so that tiles of several rows are faster there. A GPU
// is busiest with many small work-groups; but with full pivoting each of them has a candidate that
// choose_pivot looks at.
Tile tile_for(const Device& device, const Problem& problem) {
  const std::size_t pack = elements_per_texel(problem.precision, problem.texel);
  if (device.type == "cpu") return {1, 1024 / pack, 16, 8};
  const bool full = problem.pivot == Pivot::full;
  if (problem.storage == Storage::image) {
    if (pack == 1) return full ? Tile{128, 16, 128, 32} : Tile{128, 16, 64, 0};
    return {64, 4, 64, full ? 32u : 0u};
  }
  if (pack == 1) return full ? Tile{128, 128, 32, 16} : Tile{128, 128, 16, 0};
  return {128, 32, 32, full ? 32u : 0u};
}

}  // namespace

Fused::Fused(DeviceContext& context, const Problem& problem, std::size_t end,
             Elimination elimination)
    : context_(context),
      problem_(problem),
      end_(end),
      step_kernel_(std::string(elimination == Elimination::lu ? "lu" : "gauss_jordan") + "_step_" +
                   name(problem.pivot)),
      is_lu_(elimination == Elimination::lu) {
  const std::size_t pack = elements_per_texel(problem.precision, problem.texel);
  const Tile tile = tile_for(context.device(), problem);
  if (tile.lanes == 1) context.require_long_loops();
  lanes_ = tile.lanes;
  columns_ = tile.columns;
  rows_ = tile.rows;
  tile_ = " -DLANES=" + std::to_string(lanes_) + " -DCOLUMNS=" + std::to_string(columns_) +
          " -DROWS=" + std::to_string(rows_);
  most_groups_ = context.device().compute_units * tile.groups_per_unit;
  const std::size_t candidates =
      most_groups_ + ceiling(end, pack * columns_) + ceiling(problem.n, rows_);
  magnitudes_ = context.allocate(candidates * element_size(problem.precision));
  candidates_ = context.allocate(candidates * sizeof(cl_int2));
}

void Fused::factor(PingPong& surfaces, Pivoting& pivoting) {
  if (problem_.n == 0) return;
  if (problem_.pivot != Pivot::none) pivoting.search(surfaces.src, 0);
  for (std::size_t k = 0; k < problem_.n; ++k) {
    step(surfaces, pivoting, k);
    context_.checkpoint();
  }
  if (is_lu_) finish_lu(context_, problem_, surfaces, pivoting, 1);
  context_.queue().finish();
}

void Fused::step(PingPong& surfaces, Pivoting& pivoting, std::size_t k) {
  const std::size_t n = problem_.n;
  const std::size_t pack = elements_per_texel(problem_.precision, problem_.texel);
  // LU copies row and column k-1 too; Gauss-Jordan takes all rows, and the columns after k.
  const std::size_t before = k == 0 ? 0 : k - 1;
  const std::size_t first_row = is_lu_ ? before : 0;
  const std::size_t first_texel = (is_lu_ ? before : k + 1) / pack;
  // The first work-groups begin at a block of rows and at a line.
  const std::size_t blocks = n - first_row / kBlockRows * kBlockRows;
  const std::size_t line = kLineBytes / (pack * element_size(problem_.precision));
  const std::size_t texels = ceiling(end_, pack) - first_texel / line * line;
  // At least one, since the first work-group records the pivot.
  const std::size_t group_columns = std::max<std::size_t>(1, ceiling(texels, columns_));
  // Whole tiles of rows, as many as make about most_groups_ work-groups.
  const std::size_t tiles =
      most_groups_ == 0 ? 1 : ceiling(blocks * group_columns, rows_ * most_groups_);
  const std::size_t rows = rows_ * tiles;
  const std::size_t group_rows = ceiling(blocks, rows);

  context_.run("update", surfaces.src.kernel("dense/fused.cl", step_kernel_.c_str(), tile_),
               {group_columns * lanes_, group_rows}, surfaces.src, surfaces.dst, pivoting.places(),
               pivoting.values(), magnitudes_, candidates_, static_cast<cl_int>(k),
               static_cast<cl_int>(n), static_cast<cl_int>(end_), static_cast<cl_int>(rows));
  // Every element once each way; row k for each group of rows, column k for each group of columns.
  const std::uint64_t m = n - first_row;
  const std::uint64_t width = end_ - pack * first_texel;
  context_.timeline().add_bytes((2 * m * width + group_rows * width + group_columns * m) *
                                element_size(problem_.precision));
  surfaces.swap();
  if (problem_.pivot == Pivot::none || k + 1 == n) return;
  if (problem_.pivot == Pivot::rook) {
    pivoting.search(surfaces.src, k + 1);
    return;
  }
  const std::size_t groups =
      problem_.pivot == Pivot::full ? group_columns * group_rows : group_rows;
  context_.run("pivot_search", surfaces.src.kernel("dense/fused.cl", "choose_pivot", tile_),
               {kChoosers}, magnitudes_, candidates_, pivoting.places(), static_cast<cl_int>(k + 1),
               static_cast<cl_int>(groups));
}

}  // namespace lugpu
