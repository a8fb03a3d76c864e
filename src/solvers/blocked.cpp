#include "solvers/blocked.hpp"

#include <algorithm>

#include "solvers/blocked_cpu.hpp"
#include "solvers/blocked_gpu.hpp"

namespace lugpu {

std::unique_ptr<Blocked> Blocked::make(DeviceContext& context, const Shape& shape) {
  Shape complete = shape;
  if (shape.nb == 0) complete.nb = block_size(context.device(), std::min(shape.m, shape.n));
  if (context.device().type == "cpu") return std::make_unique<BlockedCpu>(context, complete);
  return std::make_unique<BlockedGpu>(context, complete);
}

std::size_t Blocked::block_size(const Device& device, std::size_t n) {
  return device.type == "cpu" ? BlockedCpu::block_size(n) : BlockedGpu::block_size(n);
}

std::uint64_t Blocked::workspace(const Shape& shape) {
  const std::uint64_t nb = std::max<std::size_t>(shape.nb, 256);
  return nb * (2 * shape.m + shape.n + 64) * element_size(shape.precision) +
         std::min(shape.m, shape.n) * sizeof(cl_int) + (1 << 20);
}

Blocked::Blocked(DeviceContext& context, const Shape& shape)
    : context_(context),
      shape_(shape),
      ipiv_(context.allocate(std::min(shape.m, shape.n) * sizeof(cl_int))),
      info_(context.allocate(sizeof(cl_int))) {}

void Blocked::factor(Surface& a) {
  transposed_.reset();
  factorize(a);
}

void Blocked::solve(const Surface& lu, Surface& x, Op op) {
  if (op == Op::none) {
    solve_triangle({lu, false, true}, x);  // X = inv(L) X
    solve_triangle({lu, true, false}, x);  // X = inv(U) X
    return;
  }
  if (!transposed_) transposed_ = transpose(context_, lu);
  solve_triangle({*transposed_, false, false}, x);  // X = inv(U') X
  solve_triangle({*transposed_, true, true}, x);    // X = inv(L') X
}

void Blocked::solve_triangle(const Triangle& t, Surface& x) {
  const std::size_t n = shape_.n, nb = solve_rows();
  const std::size_t blocks = ceiling(n, nb);
  for (std::size_t step = 0; step < blocks; ++step) {
    const std::size_t first = (t.upper ? blocks - 1 - step : step) * nb;
    const std::size_t rows = std::min(nb, n - first);
    solve_block(t, x, first, rows);
    const std::size_t from = t.upper ? 0 : first + rows, to = t.upper ? first : n;
    if (from < to) subtract_block(t, x, first, rows, from, to);
    context_.checkpoint();
  }
}

}  // namespace lugpu
