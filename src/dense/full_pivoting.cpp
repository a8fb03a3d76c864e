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
  build_options_ = tiling_.options() + " -DDELAY=" + std::to_string(kDelay) +
                   (options.perturb ? " -DLUGPU_PERTURB" : "");
  if (tiling_.several_steps(options)) phases_ = context.zeros(tiling_.phase_ints());
}

std::uint64_t FullPivoting::workspace(const Size& size, const DenseOptions& options) {
  return 2 * kept_bytes(size, options);
}

void FullPivoting::factor(PingPong& surfaces, Pivoting& pivoting) {
  if (size_.n == 0) return;
  pivoting.search(surfaces.src, 0);
  candidate_count_ = 0;
  for (std::size_t k = 0, last = 0; k < size_.n; k = last) {
    last = phases_() ? tiling_.last_of_launch(k) : k + 1;
    steps(surfaces, pivoting, k, last);
    context_.checkpoint();
  }
  finish_lu(context_, size_, options_, surfaces, pivoting, kDelay);
  context_.queue().finish();
}

bool FullPivoting::writes(std::size_t k) const {
  return (k + 1) % kDelay == 0 || k + 1 == size_.n;
}

// The first row and column that step k takes. What is written includes those of the block before.
std::size_t FullPivoting::first_written(std::size_t k) const {
  const std::size_t first = k / kDelay * kDelay;
  return writes(k) && first > 0 ? first - kDelay : first;
}

// For each step of the block, its row of U and column of L: an element of S, with all of them that
// there are before, and once for each group of rows or columns. And every element of S once, or
// once each way.
std::uint64_t FullPivoting::bytes_of(std::size_t k, const Tiling::Launch& launch) const {
  const std::uint64_t m = size_.n - first_written(k);
  const std::uint64_t steps = k % kDelay + 1;
  return ((writes(k) ? 2 : 1) * m * m +
          steps * m * (2 + launch.group_rows + launch.group_columns)) *
         element_size(options_.precision);
}

void FullPivoting::steps(PingPong& surfaces, Pivoting& pivoting, std::size_t first,
                         std::size_t last) {
  if (!phases_()) return step(surfaces, pivoting, first);
  context_.run(
      "update", surfaces.src.kernel("dense/full_pivoting.cl", "full_steps", build_options_),
      {context_.device().compute_units}, surfaces.src, surfaces.dst, pivoting.places(),
      pivoting.values(), l_, u_, candidates_.magnitudes, candidates_.places,
      static_cast<cl_int>(first), static_cast<cl_int>(last), static_cast<cl_int>(size_.n),
      static_cast<cl_int>(candidate_count_), static_cast<cl_int>(tiling_.most_groups), phases_);
  for (std::size_t k = first; k < last; ++k) {
    const Tiling::Launch launch = tiling_.launch(first_written(k), first_written(k));
    context_.timeline().add_bytes(bytes_of(k, launch));
    candidate_count_ = launch.groups();
    if (writes(k)) surfaces.swap();
  }
}

void FullPivoting::step(PingPong& surfaces, Pivoting& pivoting, std::size_t k) {
  const std::size_t n = size_.n;
  const Tiling::Launch launch = tiling_.launch(first_written(k), first_written(k));
  const cl_int step = static_cast<cl_int>(k), order = static_cast<cl_int>(n);

  // The candidates are those of the step before; the pivot of the first one is known.
  context_.run("pivot_search",
               surfaces.src.kernel("dense/full_pivoting.cl", "take_pivot", build_options_),
               {std::min(n - k / kDelay * kDelay, choosers_)}, surfaces.src, candidates_.magnitudes,
               candidates_.places, pivoting.places(), pivoting.values(), l_, u_, step, order,
               static_cast<cl_int>(candidate_count_));
  const char* update = writes(k) ? "write_updates" : "delay_update";
  context_.run("update", surfaces.src.kernel("dense/full_pivoting.cl", update, build_options_),
               {launch.group_columns * tiling_.tile.lanes, launch.group_rows}, surfaces.src,
               surfaces.dst, pivoting.places(), l_, u_, candidates_.magnitudes, candidates_.places,
               step, order, static_cast<cl_int>(launch.rows));
  candidate_count_ = launch.groups();
  context_.timeline().add_bytes(bytes_of(k, launch));
  if (writes(k)) surfaces.swap();
}

}  // namespace lugpu
