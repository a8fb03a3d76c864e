#include "solvers/fused.hpp"

#include "solvers/finish.hpp"

namespace lugpu {

Fused::Fused(DeviceContext& context, const Problem& problem, std::size_t end,
             Elimination elimination)
    : context_(context),
      problem_(problem),
      end_(end),
      step_kernel_(std::string(elimination == Elimination::lu ? "lu" : "gauss_jordan") + "_step_" +
                   name(problem.pivot)),
      is_lu_(elimination == Elimination::lu),
      tiling_(Tiling::make(context.device(), problem, end)),
      options_(tiling_.options()),
      candidates_(context, tiling_, problem.precision) {
  if (tiling_.tile.lanes == 1) context.require_long_loops();
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
  // LU copies row and column k-1 too; Gauss-Jordan takes all rows, and the columns after k.
  const std::size_t before = k == 0 ? 0 : k - 1;
  const std::size_t first_row = is_lu_ ? before : 0;
  const std::size_t first_column = is_lu_ ? before : k + 1;
  const Tiling::Launch launch = tiling_.launch(first_row, first_column);

  context_.run("update", surfaces.src.kernel("dense/fused.cl", step_kernel_.c_str(), options_),
               {launch.group_columns * tiling_.tile.lanes, launch.group_rows}, surfaces.src,
               surfaces.dst, pivoting.places(), pivoting.values(), candidates_.magnitudes,
               candidates_.places, static_cast<cl_int>(k), static_cast<cl_int>(n),
               static_cast<cl_int>(end_), static_cast<cl_int>(launch.rows));
  // Every element once each way; row k for each group of rows, column k for each group of columns.
  const std::uint64_t m = n - first_row;
  const std::uint64_t width = end_ - first_column / tiling_.pack * tiling_.pack;
  context_.timeline().add_bytes(
      (2 * m * width + launch.group_rows * width + launch.group_columns * m) *
      element_size(problem_.precision));
  surfaces.swap();
  if (problem_.pivot == Pivot::none || k + 1 == n) return;
  if (problem_.pivot == Pivot::rook) {
    pivoting.search(surfaces.src, k + 1);
    return;
  }
  const std::size_t count = problem_.pivot == Pivot::full ? launch.groups() : launch.group_rows;
  context_.run("pivot_search", surfaces.src.kernel("dense/fused.cl", "choose_pivot", options_),
               {Tiling::kChoosers}, candidates_.magnitudes, candidates_.places, pivoting.places(),
               static_cast<cl_int>(k + 1), static_cast<cl_int>(count));
}

}  // namespace lugpu
