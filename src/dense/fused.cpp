#include "dense/fused.hpp"

#include "dense/finish.hpp"
#include "dense/pivot_rules.hpp"

namespace lugpu {

Fused::Fused(DeviceContext& context, const Size& size, const DenseOptions& options, std::size_t end,
             Elimination elimination)
    : context_(context),
      size_(size),
      options_(options),
      end_(end),
      step_kernel_(std::string(elimination == Elimination::lu ? "lu" : "gauss_jordan") + "_step_" +
                   rule_of(options.pivot).step),
      is_lu_(elimination == Elimination::lu),
      tiling_(Tiling::make(context.device(), size, options, end)),
      build_options_(tiling_.options()),
      candidates_(context, tiling_, options.precision) {
  if (tiling_.tile.lanes == 1) context.require_long_loops();
}

void Fused::factor(PingPong& surfaces, Pivoting& pivoting) {
  if (size_.n == 0) return;
  if (exchanges_rows(options_.pivot)) pivoting.search(surfaces.src, 0);
  for (std::size_t k = 0; k < size_.n; ++k) {
    step(surfaces, pivoting, k);
    context_.checkpoint();
  }
  if (is_lu_) finish_lu(context_, size_, options_, surfaces, pivoting, 1);
  context_.queue().finish();
}

void Fused::step(PingPong& surfaces, Pivoting& pivoting, std::size_t k) {
  const std::size_t n = size_.n;
  // LU copies row and column k-1 too; Gauss-Jordan takes all rows, and the columns after k.
  const std::size_t before = k == 0 ? 0 : k - 1;
  const std::size_t first_row = is_lu_ ? before : 0;
  const std::size_t first_column = is_lu_ ? before : k + 1;
  const Tiling::Launch launch = tiling_.launch(first_row, first_column);

  context_.run("update",
               surfaces.src.kernel("dense/fused.cl", step_kernel_.c_str(), build_options_),
               {launch.group_columns * tiling_.tile.lanes, launch.group_rows}, surfaces.src,
               surfaces.dst, pivoting.places(), pivoting.values(), candidates_.magnitudes,
               candidates_.places, static_cast<cl_int>(k), static_cast<cl_int>(n),
               static_cast<cl_int>(end_), static_cast<cl_int>(launch.rows));
  // Every element once each way; row k for each group of rows, column k for each group of columns.
  const std::uint64_t m = n - first_row;
  const std::uint64_t width = end_ - first_column / tiling_.pack * tiling_.pack;
  context_.timeline().add_bytes(
      (2 * m * width + launch.group_rows * width + launch.group_columns * m) *
      element_size(options_.precision));
  surfaces.swap();
  if (!exchanges_rows(options_.pivot) || k + 1 == n) return;
  if (!rule_of(options_.pivot).step_finds_next) {
    pivoting.search(surfaces.src, k + 1);
    return;
  }
  const std::size_t count =
      rule_of(options_.pivot).search == Search::matrix ? launch.groups() : launch.group_rows;
  context_.run("pivot_search",
               surfaces.src.kernel("dense/fused.cl", "choose_pivot", build_options_),
               {Tiling::kChoosers}, candidates_.magnitudes, candidates_.places, pivoting.places(),
               static_cast<cl_int>(k + 1), static_cast<cl_int>(count));
}

}  // namespace lugpu
