#include "dense/tiling.hpp"

#include <algorithm>

#include "dense/pivot_rules.hpp"

namespace lugpu {
namespace {

// The tile, and into how many work-groups for each compute unit a launch is cut, or 0 for one for
// each tile.
struct Cut {
  Tile tile;
  std::size_t groups_per_unit;
};

// A GPU's images are kept in square blocks, so that tiles of several rows are faster there. A GPU
// is busiest with many small work-groups; but with full pivoting each of them has a candidate that
// must be looked at.
Cut fastest_cut(const Device& device, const DenseOptions& options, std::size_t pack) {
  if (device.type == "cpu") return {{1, 1024 / pack, 16}, 8};
  const bool full = rule_of(options.pivot).search == Search::matrix;
  if (options.storage == Storage::image) {
    if (pack == 1) return full ? Cut{{128, 16, 128}, 32} : Cut{{128, 16, 64}, 0};
    return {{64, 4, 64}, full ? 32u : 0u};
  }
  if (pack == 1) return full ? Cut{{128, 128, 32}, 16} : Cut{{128, 128, 16}, 0};
  return {{128, 32, 32}, full ? 32u : 0u};
}

}  // namespace

Tiling Tiling::make(const Device& device, const Size& size, const DenseOptions& options,
                    std::size_t end) {
  const std::size_t pack = elements_per_texel(options.precision, options.texel);
  const Cut cut = fastest_cut(device, options, pack);
  return {cut.tile,
          device.compute_units * cut.groups_per_unit,
          size.n,
          end,
          pack,
          pack * element_size(options.precision),
          vector_width(device, options.precision)};
}

Tiling::Launch Tiling::launch(std::size_t first_row, std::size_t first_column) const {
  const std::size_t rows = n - first_row / kBlockRows * kBlockRows;
  const std::size_t line = kLineBytes / texel_bytes;
  const std::size_t texels = ceiling(end, pack) - first_column / pack / line * line;
  // At least one, since the first work-group records the pivot.
  const std::size_t group_columns = std::max<std::size_t>(1, ceiling(texels, tile.columns));
  // Whole tiles of rows, as many as make about most_groups work-groups.
  const std::size_t tiles =
      most_groups == 0 ? 1 : ceiling(rows * group_columns, tile.rows * most_groups);
  const std::size_t rows_each = tile.rows * tiles;
  return {group_columns, ceiling(rows, rows_each), rows_each};
}

std::size_t Tiling::most_candidates() const {
  return most_groups + ceiling(end, pack * tile.columns) + ceiling(n, tile.rows);
}

bool Tiling::several_steps(const DenseOptions& options) const {
  return tile.lanes == 1 && options.storage == Storage::buffer;
}

std::size_t Tiling::last_of_launch(std::size_t first) const {
  constexpr std::uint64_t kMostElements = 1'000'000'000;
  std::size_t last = first;
  for (std::uint64_t elements = 0; last < n && elements < kMostElements; ++last) {
    elements += static_cast<std::uint64_t>(n) * (end - std::min(last, end));
  }
  return last;
}

std::size_t Tiling::phase_ints() const {
  constexpr std::size_t kFirstPiece = 64, kLine = 16;  // PHASE_TAKEN and PHASE_LINE
  return kFirstPiece + (most_candidates() + ceiling(n, kTakenAtOnce)) * kLine;
}

std::string Tiling::options() const {
  const auto option = [](const char* name, std::size_t value) {
    return std::string(" -D") + name + "=" + std::to_string(value);
  };
  return option("LANES", tile.lanes) + option("COLUMNS", tile.columns) + option("ROWS", tile.rows) +
         option("LINE_BYTES", kLineBytes) + option("BLOCK_ROWS", kBlockRows) +
         option("CHOOSERS", kChoosers) + option("TAKEN_AT_ONCE", kTakenAtOnce) +
         option("VECTOR", vector);
}

Candidates::Candidates(DeviceContext& context, const Tiling& tiling, Precision precision)
    : magnitudes(context.allocate(tiling.most_candidates() * element_size(precision))),
      places(context.allocate(tiling.most_candidates() * sizeof(cl_int2))) {}

}  // namespace lugpu
