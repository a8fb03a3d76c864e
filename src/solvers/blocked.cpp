#include "solvers/blocked.hpp"

#include <algorithm>
#include <cstdlib>

#include "error.hpp"

namespace lugpu {
namespace {

std::size_t ceiling(std::size_t count, std::size_t divisor) {
  return (count + divisor - 1) / divisor;
}

std::size_t env(const char* name, std::size_t d) {
  const char* s = getenv(name);
  return s ? static_cast<std::size_t>(atoi(s)) : d;
}

}  // namespace

Blocked::Blocked(DeviceContext& context, std::size_t m, std::size_t n, Pivot pivot,
                 Precision precision, std::size_t nb)
    : context_(context), m_(m), n_(n), precision_(precision), pivoted_(pivot != Pivot::none) {
  const std::size_t vector = (env("XV", 32)) / element_size(precision);
  strip_ = 2 * vector;
  nb_ = nb > 0 ? nb : block_size(context.device(), std::min(m, n), precision);
  if (nb_ % strip_ != 0) {
    throw Unsupported("Panels of " + std::to_string(nb) + " columns are not possible on " +
                      context.device().name + "; --nb must be a multiple of " +
                      std::to_string(strip_) + ".");
  }
  options_ = " -DNB=" + std::to_string(nb_) + " -DVECTOR=" + std::to_string(vector) +
             " -DROWS=" + std::to_string(env("XROWS", 6));
  const std::size_t size = element_size(precision);
  panel_ = context.allocate(m * nb_ * size);
  next_ = context.allocate(m * nb_ * size);
  block_row_ = context.allocate(ceiling(n, strip_) * strip_ * nb_ * size);
  ipiv_ = context.allocate(std::min(m, n) * sizeof(cl_int));
  info_ = context.allocate(sizeof(cl_int));
}

std::size_t Blocked::block_size(const Device&, std::size_t, Precision) {
  return 64;
}

std::uint64_t Blocked::workspace(std::size_t m, std::size_t n, Precision precision,
                                 std::size_t nb) {
  const std::uint64_t elements = static_cast<std::uint64_t>(nb) * (2 * m + n + 64);
  return elements * element_size(precision) + std::min(m, n) * sizeof(cl_int);
}

KernelId Blocked::kernel(const char* file, const char* function) const {
  return {file, function, precision_, Storage::buffer, Texel::r, options_};
}

void Blocked::factor(Surface& a) {
  const cl_int m = static_cast<cl_int>(m_), n = static_cast<cl_int>(n_);
  const cl_int pivoted = pivoted_;
  const std::size_t steps = std::min(m_, n_);
  context_.run("panel", kernel("lu_blocked_cpu.cl", "factor_first"), {1}, a, panel_, ipiv_, info_, m,
               static_cast<cl_int>(std::min(nb_, n_)), pivoted);
  for (std::size_t k = 0; k < steps; k += nb_) {
    // A(k:k+nb, right) = inv(L11) P A(k:k+nb, right)
    const std::size_t columns = strip_ * env("XC", 4);
    const std::size_t right = std::min(k + nb_, n_);
    context_.run("interchange", kernel("lu_blocked_cpu.cl", "exchange_and_solve"),
                 {ceiling(k, columns) + ceiling(n_ - right, columns)}, a, panel_, block_row_, ipiv_,
                 static_cast<cl_int>(k), static_cast<cl_int>(std::min(nb_, steps - k)), n,
                 static_cast<cl_int>(columns), pivoted);
    // A(next:m, next:n) -= L21 U12; the next panel is factored
    const std::size_t next = k + nb_;
    if (next >= steps) continue;
    const std::size_t block_rows = env("XBR", 96), block_columns = env("XBC", 256);
    const std::size_t next_right = std::min(next + nb_, n_);
    const std::size_t blocks =
        ceiling(m_ - next, block_rows) * ceiling(n_ - next_right, block_columns);
    context_.run("update", kernel("lu_blocked_cpu.cl", "update_and_factor"), {1 + blocks}, a, panel_, block_row_, next_,
                 ipiv_, info_, static_cast<cl_int>(k), m, n,
                 static_cast<cl_int>(next_right - next), static_cast<cl_int>(block_rows),
                 static_cast<cl_int>(block_columns), pivoted);
    std::swap(panel_, next_);
    context_.checkpoint();
  }
}

// x(first:last, :) -= lu(first:last, k:k+nb) x(k:k+nb, :)
void Blocked::subtract_block(const Surface& lu, Surface& x, std::size_t k, std::size_t first,
                             std::size_t last) {
  const std::size_t block_rows = 96, block_columns = 128;
  if (first == last) return;
  context_.run("solve", kernel("solve_cpu.cl", "subtract_block"),
               {ceiling(last - first, block_rows), ceiling(x.columns(), block_columns)}, lu, x,
               static_cast<cl_int>(k), static_cast<cl_int>(std::min(nb_, n_ - k)),
               static_cast<cl_int>(first), static_cast<cl_int>(last),
               static_cast<cl_int>(x.columns()), static_cast<cl_int>(block_rows),
               static_cast<cl_int>(block_columns));
}

void Blocked::solve(const Surface& lu, Surface& x) {
  const std::size_t strips = ceiling(x.columns(), strip_);
  const auto solve_block = [&](const char* function, std::size_t k) {
    context_.run("solve", kernel("solve_cpu.cl", function), {strips}, lu, x,
                 static_cast<cl_int>(k), static_cast<cl_int>(std::min(nb_, n_ - k)));
  };
  for (std::size_t k = 0; k < n_; k += nb_) {
    solve_block("forward_block", k);
    subtract_block(lu, x, k, std::min(k + nb_, n_), n_);
    context_.checkpoint();
  }
  for (std::size_t block = ceiling(n_, nb_); block-- > 0;) {
    solve_block("backward_block", block * nb_);
    subtract_block(lu, x, block * nb_, 0, block * nb_);
    context_.checkpoint();
  }
}

}  // namespace lugpu
