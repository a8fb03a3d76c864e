#include "dense/banded_cpu.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "opencl/cpu_tile.hpp"
#include "opencl/surface.hpp"

namespace lugpu {
namespace {

// Bands of no more diagonals on either side are factored column by column.
constexpr std::size_t kNarrow = 24;
// From so many diagonals below the main one on, threads share the work.
constexpr std::size_t kShared = 192;
// Tasks of a panel for each thread, so that none waits long for the others.
constexpr std::size_t kTasks = 4;
// The most columns that are solved for one by one, and the strips of a work-group otherwise.
constexpr std::size_t kFewColumns = 4, kStrips = 4;
// WORKSPACES and STATE_INTS of cpu/banded_lu.cl; NOTES and 2 NOTE_INTS, and WORK_INTS of
// cpu/team.clh; UNIT of cpu/strip.clh, in vectors.
constexpr std::size_t kWorkspaces = 3, kStateInts = 32, kTeamInts = 16 + 32 + 192, kUnit = 4;
// A launch takes no more panels once it has so much to do: some milliseconds.
constexpr std::uint64_t kMultiplyAdds = 500'000'000;

// Columns of a block: the wider the band, the more they are worth.
std::size_t block_columns(std::size_t lower, std::size_t strip) {
  const std::size_t wanted = lower < 192 ? 16 : lower < 1400 ? 32 : 64;
  return std::max(wanted, strip);
}

}  // namespace

BandedCpu::Plan BandedCpu::plan(const Device& device, const BandSize& size, Precision precision) {
  Plan plan;
  plan.vector = vector_width(device, precision);
  const std::size_t strip = 2 * plan.vector, filled = size.lower + size.upper;
  if (size.lower <= kNarrow && size.upper <= kNarrow) {
    plan.ld = size.lower + filled + plan.vector;
    return plan;
  }
  plan.nb = block_columns(size.lower, strip);
  const std::size_t right = ceiling(plan.nb + filled, strip) * strip;
  // Rows begin at whole vectors, an odd number of them apart.
  plan.ld = (ceiling(size.lower + plan.nb + right, plan.vector) | 1) * plan.vector;
  plan.threads = size.lower < kShared ? 1 : device.compute_units;
  const std::size_t blocks = std::max<std::size_t>(ceiling(filled, plan.nb), 1) - 1;
  plan.blocks =
      std::max<std::size_t>(plan.threads == 1 ? blocks : blocks / (kTasks * plan.threads), 1);
  plan.tasks = 1 + ceiling(blocks, plan.blocks);
  return plan;
}

BandedLu::Layout BandedCpu::layout(const Plan& plan, const BandSize& size) {
  const std::size_t elements = size.n == 0 ? 0 : size.n * (plan.ld + 1) + plan.ld;
  return {plan.ld, 1, elements, plan.nb};
}

std::uint64_t BandedCpu::workspace(const Plan& plan, const BandSize& size) {
  return plan.nb * (kWorkspaces * (size.lower + plan.nb) + plan.threads * plan.blocks * plan.nb) +
         2 * plan.vector * (size.lower + plan.nb + kUnit * plan.vector);
}

BandedCpu::BandedCpu(DeviceContext& context, const BandSize& size, Precision precision)
    : BandedCpu(context, size, precision, plan(context.device(), clipped(size), precision)) {}

BandedCpu::BandedCpu(DeviceContext& context, const BandSize& size, Precision precision,
                     const Plan& chosen)
    : BandedLu(context, size, precision, layout(chosen, clipped(size)),
               workspace(chosen, clipped(size))),
      plan_(chosen),
      lower_(static_cast<cl_int>(clipped(size).lower)),
      upper_(static_cast<cl_int>(clipped(size).upper)) {
  context.require_long_loops();
  options_ = cpu_tile_options(context.device(), precision);
  if (plan_.nb == 1) return;
  options_ += " -DNB=" + std::to_string(plan_.nb);
  const std::size_t strip = 2 * plan_.vector, rows = clipped(size).lower + plan_.nb;
  panels_ = context.allocate(kWorkspaces * rows * plan_.nb * element());
  block_rows_ = context.allocate(plan_.threads * plan_.blocks * plan_.nb * plan_.nb * element());
  packed_ = context.allocate((rows + kUnit * plan_.vector) * strip * element());
  noted_rows_ = context.allocate(4 * strip * element());
  state_ = context.zeros(kStateInts + 2 * panels());
  last_ = context.allocate(panels() * sizeof(cl_int));
  work_ = context.zeros(kTeamInts);
}

KernelId BandedCpu::kernel(const char* file, const char* function) const {
  return {file, function, precision_, Storage::buffer, Texel::r, options_};
}

// As many panels in a launch as take it some time.
void BandedCpu::factorize() {
  const auto n = static_cast<cl_int>(size_.n), ld = static_cast<cl_int>(plan_.ld);
  if (plan_.nb == 1) {
    context_.run("factor", kernel("cpu/banded_narrow.cl", "factor_narrow"), {1}, a_, ld, n, lower_,
                 upper_, ipiv_, info_);
    return;
  }
  const std::uint64_t of_panel =
      std::uint64_t{plan_.nb} * (lower_ + plan_.nb) * (lower_ + upper_ + plan_.nb);
  const std::size_t most = std::max<std::size_t>(kMultiplyAdds / of_panel, 1);
  context_.queue().enqueueFillBuffer(state_, cl_int{0}, 0,
                                     (kStateInts + 2 * panels()) * sizeof(cl_int));
  for (std::size_t first = 0; first < panels(); first += most) {
    const std::size_t last = std::min(first + most, panels());
    context_.queue().enqueueFillBuffer(state_, cl_int{0}, 0, sizeof(cl_int));
    context_.run("factor", kernel("cpu/banded_lu.cl", "factor_band"), {plan_.threads}, a_, ld, n,
                 lower_, upper_, panels_, block_rows_, packed_, noted_rows_, ipiv_, info_, last_,
                 state_, work_, static_cast<cl_int>(panels()), static_cast<cl_int>(first),
                 static_cast<cl_int>(last), static_cast<cl_int>(plan_.tasks),
                 static_cast<cl_int>(plan_.blocks));
    context_.checkpoint();
  }
}

// Column by column, each followed by zeros for a vector that begins in it.
void BandedCpu::substitute_few(cl::Buffer& x) {
  const std::size_t n = size_.n, stride = n + plan_.vector, bytes = n * element();
  const cl::Buffer& padded = context_.scratch(stride * size_.nrhs * element());
  context_.fill(padded, 0, stride * size_.nrhs * element());
  for (std::size_t c = 0; c < size_.nrhs; ++c) {
    context_.queue().enqueueCopyBuffer(x, padded, c * bytes, c * stride * element(), bytes);
  }
  context_.run("solve", kernel("cpu/banded_solve.cl", "solve_columns"), {size_.nrhs}, a_,
               static_cast<cl_int>(plan_.ld), static_cast<cl_int>(n), lower_, ipiv_, last_, padded,
               static_cast<cl_int>(stride));
  for (std::size_t c = 0; c < size_.nrhs; ++c) {
    context_.queue().enqueueCopyBuffer(padded, x, c * stride * element(), c * bytes, bytes);
  }
}

void BandedCpu::substitute(cl::Buffer& x) {
  const auto n = static_cast<cl_int>(size_.n), ld = static_cast<cl_int>(plan_.ld);
  if (plan_.nb == 1) {
    context_.run("solve", kernel("cpu/banded_narrow.cl", "solve_narrow"), {size_.nrhs}, a_, ld, n,
                 lower_, upper_, ipiv_, x, n);
    return;
  }
  if (size_.nrhs <= kFewColumns) return substitute_few(x);
  Surface by_rows(context_, size_.n, size_.nrhs, precision_, Storage::buffer, Texel::r);
  import_columns(context_, x, size_.nrhs, by_rows, 0);
  const std::size_t columns = kStrips * 2 * plan_.vector;
  context_.run("solve", kernel("cpu/banded_solve.cl", "solve_strips"),
               {ceiling(size_.nrhs, columns)}, a_, ld, n, lower_, ipiv_, last_, by_rows,
               static_cast<cl_int>(columns));
  x = export_columns(context_, by_rows, 0, size_.nrhs);
}

}  // namespace lugpu
