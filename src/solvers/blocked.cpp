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
  nb_ = env("XNB", nb == 0 ? 64 : nb);
  options_ = " -DNB=" + std::to_string(nb_) + " -DVECTOR=" + std::to_string(vector) +
             " -DROWS=" + std::to_string(env("XROWS", 6));
  const std::size_t size = element_size(precision);
  panel_ = context.allocate(m * nb_ * size);
  next_ = context.allocate(m * nb_ * size);
  block_row_ = context.allocate(ceiling(n, strip_) * strip_ * nb_ * size);
  ipiv_ = context.allocate(std::min(m, n) * sizeof(cl_int));
  info_ = context.allocate(sizeof(cl_int));
}

KernelId Blocked::kernel(const char* function) const {
  return {"lu_blocked_cpu.cl", function, precision_, Storage::buffer, Texel::r, options_};
}

void Blocked::factor(Surface& a) {
  const cl_int m = static_cast<cl_int>(m_), n = static_cast<cl_int>(n_);
  const cl_int pivoted = pivoted_;
  const std::size_t steps = std::min(m_, n_);
  context_.run("panel", kernel("factor_first"), {1}, a, panel_, ipiv_, info_, m,
               static_cast<cl_int>(std::min(nb_, n_)), pivoted);
  for (std::size_t k = 0; k < steps; k += nb_) {
    // A(k:k+nb, right) = inv(L11) P A(k:k+nb, right)
    const std::size_t columns = strip_ * env("XC", 4);
    const std::size_t right = std::min(k + nb_, n_);
    context_.run("interchange", kernel("exchange_and_solve"),
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
    context_.run("update", kernel("update_and_factor"), {1 + blocks}, a, panel_, block_row_, next_,
                 ipiv_, info_, static_cast<cl_int>(k), m, n,
                 static_cast<cl_int>(next_right - next), static_cast<cl_int>(block_rows),
                 static_cast<cl_int>(block_columns), pivoted);
    std::swap(panel_, next_);
    context_.checkpoint();
  }
}

}  // namespace lugpu
