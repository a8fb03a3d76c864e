#include "dense/banded_gpu.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace lugpu {
namespace {

// The most work-items of a work-group; each has a register for every column of its row.
constexpr std::size_t kMostItems = 512, kUnit = 64;

// Of apply_and_factor() in gpu/banded_lu.cl.
std::size_t local_bytes(std::size_t nb, std::size_t items, Precision precision) {
  constexpr std::size_t kParts = 16;
  return (3 * nb * nb + 4 * nb + items + kParts) * element_size(precision) +
         (items + kParts + 4) * sizeof(cl_int);
}

}  // namespace

// Wide blocks for panels whose rows each have a work-item.
BandedGpu::Plan BandedGpu::plan(const Device& device, const BandSize& size, Precision precision) {
  const std::size_t most = std::min<std::size_t>(kMostItems, device.max_work_group / kUnit * kUnit);
  Plan plan;
  plan.nb = size.lower + 32 <= most ? 32 : 16;
  plan.rows = size.lower + plan.nb;
  plan.items = std::max(kUnit, std::min(most, ceiling(plan.rows, kUnit) * kUnit));
  if (local_bytes(plan.nb, plan.items, precision) > device.local_memory) {
    throw Unsupported(device.name + " has too little local memory for banded LU");
  }
  plan.ld = 2 * size.lower + size.upper + 3 * plan.nb;
  return plan;
}

BandedLu::Layout BandedGpu::layout(const Plan& plan, const BandSize& size) {
  const std::size_t elements = size.n == 0 ? 0 : (size.n + 2 * plan.nb) * (plan.ld + 1);
  return {1, plan.ld, elements, plan.nb};
}

std::uint64_t BandedGpu::workspace(const Plan& plan, const BandSize& size) {
  return ceiling(size.n, plan.nb) * (plan.rows + 1);
}

BandedGpu::BandedGpu(DeviceContext& context, const BandSize& size, Precision precision)
    : BandedGpu(context, size, precision, plan(context.device(), clipped(size), precision)) {}

BandedGpu::BandedGpu(DeviceContext& context, const BandSize& size, Precision precision,
                     const Plan& chosen)
    : BandedLu(context, size, precision, layout(chosen, clipped(size)),
               workspace(chosen, clipped(size))),
      plan_(chosen),
      lower_(static_cast<cl_int>(clipped(size).lower)),
      upper_(static_cast<cl_int>(clipped(size).upper)) {
  options_ = " -DNB=" + std::to_string(plan_.nb) + " -DITEMS=" + std::to_string(plan_.items) +
             " -DROWS=" + std::to_string(ceiling(plan_.rows, plan_.items));
  origin_ = context.allocate(panels() * plan_.rows * sizeof(cl_int));
  last_ = context.allocate(panels() * sizeof(cl_int));
}

KernelId BandedGpu::kernel(const char* file, const char* function) const {
  return {file, function, precision_, Storage::buffer, Texel::r, options_};
}

// Launch s applies panel s to the blocks after it and factors the next one; the first factors panel
// 0 alone.
void BandedGpu::factorize() {
  const std::size_t blocks = ceiling(lower_ + upper_ + plan_.nb, plan_.nb);
  for (std::size_t step = 0; step < panels(); ++step) {
    const std::size_t right = step == 0 ? 1 : std::min(blocks, panels() - step);
    context_.run("factor", kernel("gpu/banded_lu.cl", "apply_and_factor"), {right * plan_.items},
                 a_, static_cast<cl_int>(plan_.ld), static_cast<cl_int>(size_.n), lower_, upper_,
                 static_cast<cl_int>(step) - 1, ipiv_, info_, origin_, last_);
    context_.checkpoint();
  }
}

void BandedGpu::substitute(cl::Buffer& x) {
  context_.run("solve", kernel("gpu/banded_solve.cl", "solve_columns"), {size_.nrhs * plan_.items},
               a_, static_cast<cl_int>(plan_.ld), static_cast<cl_int>(size_.n), lower_, upper_,
               origin_, last_, x);
}

}  // namespace lugpu
