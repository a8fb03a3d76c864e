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
      prefix_(elimination == Elimination::lu ? "lu" : "gauss_jordan"),
      is_lu_(elimination == Elimination::lu),
      tiling_(Tiling::make(context.device(), size, options, end)),
      build_options_(tiling_.options()),
      candidates_(context, tiling_, options.precision) {
  if (tiling_.tile.lanes == 1) context.require_long_loops();
  const PivotRule& rule = rule_of(options.pivot);
  const bool searches = rule.search != Search::nothing && !rule.step_finds_next;
  if (tiling_.several_steps(options) && !searches) phases_ = context.zeros(tiling_.phase_ints());
}

void Fused::factor(PingPong& surfaces, Pivoting& pivoting) {
  if (size_.n == 0) return;
  if (exchanges_rows(options_.pivot)) pivoting.search(surfaces.src, 0);
  for (std::size_t k = 0, last = 0; k < size_.n; k = last) {
    last = phases_() ? tiling_.last_of_launch(k) : k + 1;
    steps(surfaces, pivoting, k, last);
    context_.checkpoint();
  }
  if (is_lu_) finish_lu(context_, size_, options_, surfaces, pivoting, 1);
  context_.queue().finish();
}

// LU copies row and column k-1 too; Gauss-Jordan takes all rows, and the columns after k.
std::size_t Fused::first_row(std::size_t k) const {
  return is_lu_ && k > 0 ? k - 1 : 0;
}

std::size_t Fused::first_column(std::size_t k) const {
  return is_lu_ ? first_row(k) : k + 1;
}

Tiling::Launch Fused::launch_of(std::size_t k) const {
  return tiling_.launch(first_row(k), first_column(k));
}

// Every element once each way; row k for each group of rows, column k for each group of columns.
std::uint64_t Fused::bytes_of(std::size_t k, const Tiling::Launch& launch) const {
  const std::uint64_t m = size_.n - first_row(k);
  const std::uint64_t width = end_ - first_column(k) / tiling_.pack * tiling_.pack;
  return (2 * m * width + launch.group_rows * width + launch.group_columns * m) *
         element_size(options_.precision);
}

void Fused::steps(PingPong& surfaces, Pivoting& pivoting, std::size_t first, std::size_t last) {
  if (!phases_()) return step(surfaces, pivoting, first);
  const std::string kernel = prefix_ + "_steps_" + rule_of(options_.pivot).step;
  context_.run("update", surfaces.src.kernel("dense/fused.cl", kernel.c_str(), build_options_),
               {context_.device().compute_units}, surfaces.src, surfaces.dst, pivoting.places(),
               pivoting.values(), candidates_.magnitudes, candidates_.places,
               static_cast<cl_int>(first), static_cast<cl_int>(last), static_cast<cl_int>(size_.n),
               static_cast<cl_int>(end_), static_cast<cl_int>(tiling_.most_groups), phases_);
  for (std::size_t k = first; k < last; ++k) {
    context_.timeline().add_bytes(bytes_of(k, launch_of(k)));
    surfaces.swap();
  }
}

void Fused::step(PingPong& surfaces, Pivoting& pivoting, std::size_t k) {
  const std::string kernel = prefix_ + "_step_" + rule_of(options_.pivot).step;
  const Tiling::Launch launch = launch_of(k);
  context_.run("update", surfaces.src.kernel("dense/fused.cl", kernel.c_str(), build_options_),
               {launch.group_columns * tiling_.tile.lanes, launch.group_rows}, surfaces.src,
               surfaces.dst, pivoting.places(), pivoting.values(), candidates_.magnitudes,
               candidates_.places, static_cast<cl_int>(k), static_cast<cl_int>(size_.n),
               static_cast<cl_int>(end_), static_cast<cl_int>(launch.rows));
  context_.timeline().add_bytes(bytes_of(k, launch));
  surfaces.swap();
  if (!exchanges_rows(options_.pivot) || k + 1 == size_.n) return;
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
