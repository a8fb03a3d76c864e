#include "dense/blocked.hpp"

#include <algorithm>

#include "dense/blocked_cpu.hpp"
#include "dense/blocked_gpu.hpp"

namespace lugpu {

std::unique_ptr<Blocked> Blocked::make(DeviceContext& context, const Shape& shape) {
  Shape complete = shape;
  if (shape.nb == 0) complete.nb = block_size(context.device(), shape);
  if (context.device().type == "cpu") return std::make_unique<BlockedCpu>(context, complete);
  return std::make_unique<BlockedGpu>(context, complete);
}

std::size_t Blocked::block_size(const Device& device, const Shape& shape) {
  return device.type == "cpu" ? BlockedCpu::block_size(shape) : BlockedGpu::block_size(shape);
}

std::vector<std::size_t> Blocked::part_ends(const Device& device, std::size_t m, std::size_t n) {
  if (device.type == "cpu") return {n};
  return BlockedGpu::part_ends(m, n);
}

bool Blocked::updates_faster(const Device& device, const Shape& shape) {
  return device.type != "cpu" && BlockedGpu::updates_faster(device, shape);
}

Shortcut Blocked::shortcut(const Device& device, const Shape& shape) {
  return device.type == "cpu" ? Shortcut::none : BlockedGpu::shortcut(device, shape);
}

std::uint64_t Blocked::workspace(const Device& device, const Shape& shape) {
  Shape complete = shape;
  if (shape.nb == 0) complete.nb = block_size(device, shape);
  const std::uint64_t nb = complete.nb;
  const std::uint64_t tiles = shape.ping_pong ? BlockedCpu::tile_bytes(device, shape.precision) : 0;
  const std::uint64_t panels = shape.n > nb ? 2 : 1;
  return (nb * (panels * shape.m + shape.n + 64) + 40 * shape.m) * element_size(shape.precision) +
         std::min(shape.m, shape.n) * sizeof(cl_int) + tiles + (1 << 20) +
         (device.type == "cpu" ? 0 : BlockedGpu::other_workspace(device, complete));
}

Blocked::Blocked(DeviceContext& context, const Shape& shape)
    : context_(context),
      shape_(shape),
      ipiv_(context.allocate(std::min(shape.m, shape.n) * sizeof(cl_int))),
      info_(context.zeros(1)),
      row_for_(context.allocate(shape.nb * sizeof(cl_int))),
      row_goes_to_(context.allocate(shape.nb * sizeof(cl_int))) {}

void Blocked::factor(PingPong& a, Surface& lu) {
  const std::size_t n = shape_.n;
  const std::size_t pack = elements_per_texel(a.src.precision(), a.src.texel());
  const std::uint64_t size = element_size(shape_.precision);
  transposed_.reset();
  start();
  for (std::size_t k = 0; k < n; k += shape_.nb) {
    const std::size_t right = std::min(k + shape_.nb, n), width = right - k, rest = n - right;
    const cl_int step = static_cast<cl_int>(k), end = static_cast<cl_int>(n);
    // lu(k:n, k:k+nb) = A(k:n, k:k+nb), and P lu(k:n, k:k+nb) = L U
    context_.run("panel", a.src.kernel("dense/lu_blocked_image.cl", "copy_panel"),
                 {ceiling(width, pack), n - k}, a.src, lu, step, end, static_cast<cl_int>(right));
    factor_panel(lu, k);
    // lu(k:k+nb, right) = inv(L11) P A(k:k+nb, right), and P lu left of the panel
    context_.run("interchange", a.src.kernel("dense/lu_blocked_image.cl", "copy_rows"),
                 {ceiling(rest, pack), width}, a.src, lu, row_for_, static_cast<cl_int>(width),
                 static_cast<cl_int>(right), end);
    exchange_and_solve(lu, k);
    context_.timeline().add_bytes(2 * width * (n - k + rest) * size);
    if (rest == 0) break;
    // A(right:n, right:n) = P A(right:n, right:n) - L21 U12
    update(a, lu, k);
    context_.timeline().add_bytes(2 * rest * rest * size);
    a.swap();
    context_.checkpoint();
  }
}

void Blocked::factor(Surface& a) {
  factor(a, {}, {});
}

void Blocked::factor(Surface& a, std::span<const std::size_t> ends,
                     const std::function<void()>& enqueued) {
  transposed_.reset();
  shape_.m = a.rows();
  shape_.n = a.columns();
  factorize(a, {ends, enqueued});
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
  const std::size_t n = shape_.n, nb = solve_block_size();
  const std::size_t blocks = ceiling(n, nb);
  for (std::size_t step = 0; step < blocks; ++step) {
    const std::size_t first = (t.upper ? blocks - 1 - step : step) * nb;
    solve_columns(t, first, std::min(nb, n - first), {x, 0, x.columns()});
    context_.checkpoint();
  }
}

void Blocked::solve_columns(const Triangle& t, std::size_t k, std::size_t width, const Columns& x) {
  const std::size_t first = t.upper ? 0 : k + width, last = t.upper ? k : x.of.rows();
  solve_diagonal(t, k, width, x);
  if (first < last) subtract_block(t, x, k, width, first, last);
}

void Blocked::update_columns(const Triangle& l, std::size_t k, std::size_t width,
                             std::span<const Columns> columns) {
  for (const Columns& a : columns) solve_columns(l, k, width, a);
}

void Blocked::factor_beside(Surface& a, const Triangle& l, std::size_t k, std::size_t width,
                            std::span<const Columns> others) {
  factor(a);
  prepare_update(l, k, width);
  update_columns(l, k, width, others);
}

// Those of the rows R that are no whole blocks by themselves: they take a slower way.
void Blocked::solve_rows(const Triangle& t, std::size_t k, std::size_t width, const Columns& x) {
  const std::size_t first = t.upper ? k + width : 0, last = t.upper ? x.of.rows() : k;
  const std::size_t whole = (last - first) / solve_block_size() * solve_block_size();
  if (whole > 0) subtract_block(t, x, first, whole, k, k + width);
  if (first + whole < last) {
    subtract_block(t, x, first + whole, last - first - whole, k, k + width);
  }
  solve_diagonal(t, k, width, x);
}

void Blocked::solve_diagonal(const Triangle& t, std::size_t k, std::size_t width,
                             const Columns& x) {
  const std::size_t end = k + width, nb = solve_block_size(), blocks = ceiling(width, nb);
  for (std::size_t step = 0; step < blocks; ++step) {
    const std::size_t first = k + (t.upper ? blocks - 1 - step : step) * nb;
    const std::size_t rows = std::min(nb, end - first);
    solve_block(t, x, first, rows);
    const std::size_t from = t.upper ? k : first + rows, to = t.upper ? first : end;
    if (from < to) subtract_block(t, x, first, rows, from, to);
  }
}

void Blocked::solve_diagonal_for_few(const Triangle& t, std::size_t k, std::size_t width,
                                     Surface& x) {
  solve_diagonal(t, k, width, {x, 0, x.columns()});
}

}  // namespace lugpu
