#include "dense/full_pivoting.hpp"

#include <algorithm>

#include "dense/finish.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kDelay = 4;  // DELAY of dense/full_pivoting.cl

std::size_t kept_bytes(const Size& size, const DenseOptions& options) {
  return kDelay * ((size.n + 3) / 4 * 4) * element_size(options.precision);
}

}  // namespace

FullPivoting::FullPivoting(DeviceContext& context, const Size& size, const DenseOptions& options)
    : context_(context),
      size_(size),
      options_(options),
      tiling_(Tiling::make(context.device(), size, options, size.n)),
      candidates_(context, tiling_, options.precision),
      l_(context.allocate(kept_bytes(size, options))),
      u_(context.allocate(kept_bytes(size, options))) {
  if (tiling_.tile.lanes == 1) context.require_long_loops();
  // On a GPU each work-item of take_pivot has one row and column; on a CPU, many.
  choosers_ =
      context.device().type == "cpu" ? context.device().compute_units * Tiling::kChoosers : size.n;
  build_options_ = tiling_.options() + " -DDELAY=" + std::to_string(kDelay) + " -DVECTOR=" +
                   std::to_string(vector_width(context.device(), options.precision)) +
                   (options.perturb ? " -DLUGPU_PERTURB" : "");
}

std::uint64_t FullPivoting::workspace(const Size& size, const DenseOptions& options) {
  return 2 * kept_bytes(size, options);
}

void FullPivoting::factor(PingPong& surfaces, Pivoting& pivoting) {
  if (size_.n == 0) return;
  pivoting.search(surfaces.src, 0);
  candidate_count_ = 0;
  for (std::size_t k = 0; k < size_.n; ++k) {
    step(surfaces, pivoting, k);
    context_.checkpoint();
  }
  finish_lu(context_, size_, options_, surfaces, pivoting, kDelay);
  context_.queue().finish();
}

void FullPivoting::step(PingPong& surfaces, Pivoting& pivoting, std::size_t k) {
  const std::size_t n = size_.n;
  const std::size_t first = k / kDelay * kDelay;
  const bool writes = k + 1 == first + kDelay || k + 1 == n;
  // What is written includes the rows and columns of the block before.
  const std::size_t begin = writes && first > 0 ? first - kDelay : first;
  const Tiling::Launch launch = tiling_.launch(begin, begin);
  const cl_int step = static_cast<cl_int>(k), order = static_cast<cl_int>(n);

  // The candidates are those of the step before; the pivot of the first one is known.
  context_.run("pivot_search",
               surfaces.src.kernel("dense/full_pivoting.cl", "take_pivot", build_options_),
               {std::min(n - first, choosers_)}, surfaces.src, candidates_.magnitudes,
               candidates_.places, pivoting.places(), pivoting.values(), l_, u_, step, order,
               static_cast<cl_int>(candidate_count_));
  const char* update = writes ? "write_updates" : "delay_update";
  context_.run("update", surfaces.src.kernel("dense/full_pivoting.cl", update, build_options_),
               {launch.group_columns * tiling_.tile.lanes, launch.group_rows}, surfaces.src,
               surfaces.dst, pivoting.places(), l_, u_, candidates_.magnitudes, candidates_.places,
               step, order, static_cast<cl_int>(launch.rows));
  candidate_count_ = launch.groups();
  // For each step of the block, its row of U and column of L: an element of S, with all of them
  // that there are before, and once for each group of rows or columns. And every element of S once,
  // or once each way.
  const std::uint64_t m = n - begin;
  const std::uint64_t steps = k + 1 - first;
  context_.timeline().add_bytes(
      ((writes ? 2 : 1) * m * m + steps * m * (2 + launch.group_rows + launch.group_columns)) *
      element_size(options_.precision));
  if (writes) surfaces.swap();
}

}  // namespace lugpu
