#include "dense/banded_gpu.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "dense/matrix_units.hpp"
#include "dense/proof.hpp"
#include "matrix/random.hpp"

namespace lugpu {
namespace {

// Work-items of a work-group are a multiple of kUnit; so many have 128 registers each for their
// rows of a panel on GPUs with 64 Ki of them.
constexpr std::size_t kUnit = 32, kManyItems = 320, kMostItems = 512, kRegisters = 128;
// Up to so many rows of a panel each have a work-item.
constexpr std::size_t kFewRows = 160;
// As gpu/pivot_search.clh counts them.
constexpr std::size_t kMostRows = 0xffff;

std::size_t round_up(std::size_t count) {
  return ceiling(count, kUnit) * kUnit;
}

// Of apply_and_factor() in gpu/banded_lu.cl: of a panel's tiles or its candidates, and a little.
std::size_t local_bytes(std::size_t nb, std::size_t items, Precision precision) {
  const std::size_t tiles = 3 * nb * (nb + 1) * element_size(precision);
  return std::max(tiles, 4096 + items * 8);
}

Sparse random_band(const BandSize& size) {
  const Matrix values = random_matrix(size.n, size.n, 1);
  std::vector<Triplet> entries;
  for (std::size_t i = 0; i < size.n; ++i) {
    const std::size_t first = i - std::min(i, size.lower);
    for (std::size_t j = first; j < std::min(i + size.upper + 1, size.n); ++j) {
      entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), values(i, j)});
    }
  }
  return {size.n, size.n, std::move(entries)};
}

// ||B - A X|| <= 30 n eps ||A|| ||X||, LAPACK's own limit, in the largest norms.
bool solves(const Sparse& a, const Matrix& b, const Matrix& x, Precision precision) {
  double residual = 0, norm = 0, largest = 0;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    double r = b(i, 0), sum = 0;
    for (std::int64_t k = a.row_begin()[i]; k < a.row_begin()[i + 1]; ++k) {
      r -= a.values()[k] * x(a.columns()[k], 0);
      sum += std::abs(a.values()[k]);
    }
    if (!std::isfinite(r)) return false;
    residual = std::max(residual, std::abs(r)), norm = std::max(norm, sum);
    largest = std::max(largest, std::abs(x(i, 0)));
  }
  return residual <= 30 * static_cast<double>(a.rows()) * epsilon(precision) * norm * largest;
}

}  // namespace

// The widest blocks whose panels fit in registers.
BandedGpu::Plan BandedGpu::plan(const Device& device, const BandSize& size, Precision precision) {
  const std::size_t most = std::min(kMostItems, device.max_work_group / kUnit * kUnit);
  const std::size_t many = std::min(most, kManyItems);
  const std::size_t columns = kRegisters * sizeof(float) / element_size(precision);
  Plan plan;
  plan.nb = size.lower + 32 <= columns / 32 * many ? 32 : 16;
  plan.rows = size.lower + plan.nb;
  const std::size_t rows =
      plan.rows <= kFewRows ? 1 : std::max<std::size_t>(2, ceiling(plan.rows, many));
  plan.items = std::max(kUnit, std::min(most, round_up(ceiling(plan.rows, rows))));
  plan.solve_items =
      std::min({std::size_t{256}, most, std::max(2 * kUnit, round_up(size.lower + size.upper))});
  if (plan.rows >= kMostRows || local_bytes(plan.nb, plan.items, precision) > device.local_memory) {
    throw Unsupported("A band of " + std::to_string(size.lower) +
                      " diagonals below the main one is too wide for banded LU on " + device.name);
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

// A random system of some blocks, by its residual.
bool BandedGpu::suits_nvidia(DeviceContext& context, const BandSize& size, Precision precision) {
  if (!has_warp_instructions(context)) return false;
  constexpr std::size_t kMostDiagonals = 400;  // of the test system on either side
  BandSize test = {0, std::min(size.lower, kMostDiagonals), std::min(size.upper, kMostDiagonals),
                   1};
  test.n = test.lower + 150;
  const Plan chosen = plan(context.device(), test, precision);
  const std::string what = std::string("banded ") + name(precision) + " " +
                           std::to_string(chosen.nb) + " " + std::to_string(chosen.items);
  return proven(context, what, [&] {
    const Sparse a = random_band(test);
    const Matrix b = random_matrix(test.n, 1, 1);
    BandedGpu solver(context, test, precision, chosen, true);
    solver.upload(a);
    solver.factor();
    solver.upload_rhs(b);
    solver.solve();
    Matrix x(test.n, 1);
    solver.download(x.view());
    return solver.outcome().info == 0 && solves(a, b, x, precision);
  });
}

BandedGpu::BandedGpu(DeviceContext& context, const BandSize& size, Precision precision)
    : BandedGpu(context, size, precision, plan(context.device(), clipped(size), precision),
                suits_nvidia(context, clipped(size), precision)) {}

BandedGpu::BandedGpu(DeviceContext& context, const BandSize& size, Precision precision,
                     const Plan& chosen, bool nvidia)
    : BandedLu(context, size, precision, layout(chosen, clipped(size)),
               workspace(chosen, clipped(size))),
      plan_(chosen),
      nvidia_(nvidia),
      lower_(static_cast<cl_int>(clipped(size).lower)),
      upper_(static_cast<cl_int>(clipped(size).upper)) {
  origin_ = context.allocate(panels() * plan_.rows * sizeof(cl_int));
  last_ = context.allocate(panels() * sizeof(cl_int));
}

KernelId BandedGpu::kernel(const char* file, const char* function, std::string options) const {
  options += " -DNB=" + std::to_string(plan_.nb);
  if (nvidia_) options += " -DLUGPU_NVIDIA";
  return {file, function, precision_, Storage::buffer, Texel::r, options};
}

// Launch s applies panel s to the blocks after it and factors the next one; the first factors panel
// 0 alone.
void BandedGpu::factorize() {
  const std::size_t blocks = ceiling(lower_ + upper_ + plan_.nb, plan_.nb);
  const KernelId id = kernel("gpu/banded_lu.cl", "apply_and_factor",
                             " -DPANEL_ITEMS=" + std::to_string(plan_.items) +
                                 " -DROWS=" + std::to_string(ceiling(plan_.rows, plan_.items)));
  for (std::size_t step = 0; step < panels(); ++step) {
    const std::size_t right = step == 0 ? 1 : std::min(blocks, panels() - step);
    context_.run("factor", id, {right * plan_.items}, a_, static_cast<cl_int>(plan_.ld),
                 static_cast<cl_int>(size_.n), lower_, upper_, static_cast<cl_int>(step) - 1, ipiv_,
                 info_, origin_, last_);
    context_.checkpoint();
  }
}

void BandedGpu::substitute(cl::Buffer& x) {
  const KernelId id = kernel("gpu/banded_solve.cl", "solve_columns",
                             " -DITEMS=" + std::to_string(plan_.solve_items));
  context_.run("solve", id, {size_.nrhs * plan_.solve_items}, a_, static_cast<cl_int>(plan_.ld),
               static_cast<cl_int>(size_.n), lower_, upper_, origin_, last_, x);
}

}  // namespace lugpu
