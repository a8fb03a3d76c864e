#include "dense/full_pivoting.hpp"

#include <algorithm>

#include "dense/finish.hpp"

namespace lugpu {
namespace {

// DELAY, CHOOSERS, BLOCK_ROWS and the bytes of LINE of dense/full_pivoting.cl.
constexpr std::size_t kDelay = 4;
constexpr std::size_t kChoosers = 256;
constexpr std::size_t kBlockRows = 8;
constexpr std::size_t kLineBytes = 128;

std::size_t ceiling(std::size_t count, std::size_t divisor) {
  return (count + divisor - 1) / divisor;
}

std::size_t kept_bytes(const Problem& problem) {
  return kDelay * ceiling(problem.n, 4) * 4 * element_size(problem.precision);
}

// A work-group's tile: the work-items, the texels of a row, the rows at a time, and into how many
// work-groups for each compute unit a launch is cut, about. Each has a candidate that take_pivot
// looks at.
struct Tile {
  std::size_t lanes, columns, rows, groups_per_unit;
};

// A GPU's images are kept in square blocks, so that tiles of several rows are faster there.
Tile tile_for(const Device& device, const Problem& problem) {
  const std::size_t pack = elements_per_texel(problem.precision, problem.texel);
  if (device.type == "cpu") return {1, 1024 / pack, 16, 8};
  if (problem.storage == Storage::image) {
    return pack == 1 ? Tile{128, 16, 128, 32} : Tile{64, 4, 64, 32};
  }
  return pack == 1 ? Tile{128, 128, 32, 16} : Tile{128, 32, 32, 32};
}

}  // namespace

FullPivoting::FullPivoting(DeviceContext& context, const Problem& problem)
    : context_(context),
      problem_(problem),
      l_(context.allocate(kept_bytes(problem))),
      u_(context.allocate(kept_bytes(problem))) {
  const Tile tile = tile_for(context.device(), problem);
  if (tile.lanes == 1) context.require_long_loops();
  lanes_ = tile.lanes;
  columns_ = tile.columns;
  rows_ = tile.rows;
  // On a GPU each work-item of take_pivot has one row and column; on a CPU, many.
  choosers_ =
      context.device().type == "cpu" ? context.device().compute_units * kChoosers : problem.n;
  most_groups_ = context.device().compute_units * tile.groups_per_unit;
  options_ = " -DLANES=" + std::to_string(lanes_) + " -DCOLUMNS=" + std::to_string(columns_) +
             " -DROWS=" + std::to_string(rows_) + " -DDELAY=" + std::to_string(kDelay) +
             " -DVECTOR=" + std::to_string(context.device().vector_width(problem.precision)) +
             (problem.perturb ? " -DLUGPU_PERTURB" : "");
  const std::size_t pack = elements_per_texel(problem.precision, problem.texel);
  const std::size_t candidates =
      most_groups_ + ceiling(problem.n, pack * columns_) + ceiling(problem.n, rows_) + 1;
  magnitudes_ = context.allocate(candidates * element_size(problem.precision));
  candidates_ = context.allocate(candidates * sizeof(cl_int2));
}

std::uint64_t FullPivoting::workspace(const Problem& problem) {
  return 2 * kept_bytes(problem);
}

void FullPivoting::factor(PingPong& surfaces, Pivoting& pivoting) {
  if (problem_.n == 0) return;
  pivoting.search(surfaces.src, 0);
  candidate_count_ = 0;
  for (std::size_t k = 0; k < problem_.n; ++k) {
    step(surfaces, pivoting, k);
    context_.checkpoint();
  }
  finish_lu(context_, problem_, surfaces, pivoting, kDelay);
  context_.queue().finish();
}

void FullPivoting::step(PingPong& surfaces, Pivoting& pivoting, std::size_t k) {
  const std::size_t n = problem_.n;
  const std::size_t pack = surfaces.src.pack();
  const std::size_t first = k / kDelay * kDelay;
  const bool writes = k + 1 == first + kDelay || k + 1 == n;
  // What is written includes the rows and columns of the block before.
  const std::size_t begin = writes && first > 0 ? first - kDelay : first;
  // The first work-groups begin at a block of rows and at a line.
  const std::size_t blocks = n - begin / kBlockRows * kBlockRows;
  const std::size_t line = kLineBytes / (pack * element_size(problem_.precision));
  const std::size_t texels = ceiling(n, pack) - begin / pack / line * line;
  const std::size_t group_columns = ceiling(texels, columns_);
  // Whole tiles of rows, as many as make about most_groups_ work-groups.
  const std::size_t rows = rows_ * ceiling(blocks * group_columns, rows_ * most_groups_);
  const std::size_t group_rows = ceiling(blocks, rows);
  const cl_int order = static_cast<cl_int>(n);

  const cl_int step = static_cast<cl_int>(k);

  // The candidates are those of the step before; the pivot of the first one is known.
  context_.run(
      "pivot_search", surfaces.src.kernel("dense/full_pivoting.cl", "take_pivot", options_),
      {std::min(n - first, choosers_)}, surfaces.src, magnitudes_, candidates_, pivoting.places(),
      pivoting.values(), l_, u_, step, order, static_cast<cl_int>(candidate_count_));
  context_.run("update",
               surfaces.src.kernel("dense/full_pivoting.cl",
                                   writes ? "write_updates" : "delay_update", options_),
               {group_columns * lanes_, group_rows}, surfaces.src, surfaces.dst, pivoting.places(),
               l_, u_, magnitudes_, candidates_, step, order, static_cast<cl_int>(rows));
  candidate_count_ = group_columns * group_rows;
  // For each step of the block, its row of U and column of L: an element of S, with all of them
  // that there are before, and once for each group of rows or columns. And every element of S once,
  // or once each way.
  const std::uint64_t m = n - begin;
  const std::uint64_t steps = k + 1 - first;
  context_.timeline().add_bytes(
      ((writes ? 2 : 1) * m * m + steps * m * (2 + group_rows + group_columns)) *
      element_size(problem_.precision));
  if (writes) surfaces.swap();
}

}  // namespace lugpu
