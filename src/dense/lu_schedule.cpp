#include "dense/lu_schedule.hpp"

#include <algorithm>

#include "opencl/context.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kTileSide = 128;        // rows and columns: parts are of whole ones
constexpr std::size_t kRegionAlignment = 16;  // of the first column of a region

// Columns from `column` on, as many parts as launches, with columns k : k_end of L.
class FarColumns {
 public:
  FarColumns() = default;
  FarColumns(std::size_t column, std::size_t n, std::size_t parts, std::size_t k, std::size_t k_end)
      : whole_{column, n, k, k_end},
        width_(ceiling(ceiling(n - std::min(n, column), parts), kTileSide) * kTileSide) {}

  LuUpdate part(std::size_t i) const {
    LuUpdate part = whole_;
    part.column = std::min(whole_.column_end, whole_.column + i * width_);
    part.column_end = std::min(whole_.column_end, part.column + width_);
    return part;
  }

 private:
  LuUpdate whole_;
  std::size_t width_ = 0;
};

// What step.first takes from `next` and `near`, which get the products of a whole block.
void update_first(const LuPlan& plan, LuStep& step) {
  const std::size_t rows = ceiling(plan.m - step.next.k_end, kTileSide);
  const std::size_t columns = std::max<std::size_t>(plan.first_tiles / rows, 1) * kTileSide;
  step.first = step.next;
  step.first.column_end = std::clamp(step.next.column + columns, step.next.column_end,
                                     std::max(step.next.column_end, step.near.column_end));
  step.next.k = step.next.k_end;
  step.near.column = std::max(step.near.column, step.first.column_end);
}

}  // namespace

std::vector<LuStep> lu_schedule(const LuPlan& plan) {
  const std::size_t n = plan.n, last = std::min(plan.m, n);
  std::vector<LuStep> steps;
  FarColumns far;
  for (std::size_t panel = 0; panel < plan.end; panel += plan.panel) {
    const std::size_t block = panel / plan.block * plan.block;
    const std::size_t block_end = std::min(block + plan.block, plan.end);
    LuStep step;
    step.panel = panel, step.block = block;
    const std::size_t after = step.panel_end = std::min(panel + plan.panel, plan.end);
    step.block_ends = after == block_end;
    // A block of one panel needs no rows of U besides that panel's.
    step.solve_end = !step.block_ends ? block_end : plan.block == plan.panel ? n : after;
    step.exchange_end = plan.interchanges ? n : step.solve_end;
    if (after == last) {
      // nothing is left to update
    } else if (after == plan.end) {
      step.near = {after, n, block, after};
    } else {
      step.next_width = std::min(plan.panel, plan.end - after);
      const std::size_t next_panel = after + step.next_width;
      if (step.block_ends) {
        // Columns next to a last panel that ends anywhere go with it, as far as regions may start.
        const std::size_t next_block = std::min(after + plan.block, plan.end);
        const std::size_t aligned =
            std::min(n, ceiling(next_block, kRegionAlignment) * kRegionAlignment);
        const std::size_t parts = next_block - after == plan.block ? plan.block / plan.panel : 1;
        far = FarColumns(aligned, n, parts, block, after);
        step.next = {after, next_block == next_panel ? aligned : next_panel, block, after};
        step.near = {step.next.column_end, aligned, block, after};
        if (plan.first_tiles > 0) update_first(plan, step);
        step.far = far.part(0);
      } else {
        step.next = {after, next_panel, panel, after};
        step.near = {next_panel, block_end, panel, after};
        step.far = far.part((panel - block) / plan.panel + 1);
      }
    }
    steps.push_back(step);
  }
  return steps;
}

}  // namespace lugpu
