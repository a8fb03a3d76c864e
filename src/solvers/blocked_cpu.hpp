// Blocked LU by lu_blocked_cpu.cl and solve_cpu.cl: for devices whose work-items are CPU threads.
#pragma once

#include "solvers/blocked.hpp"

namespace lugpu {

class BlockedCpu : public Blocked {
 public:
  BlockedCpu(DeviceContext& context, const Shape& shape);
  static std::size_t block_size(std::size_t n);

  void factor(Surface& a) override;
  void solve(const Surface& lu, Surface& x) override;

 private:
  KernelId kernel(const char* file, const char* function) const;
  void subtract_block(const Surface& lu, Surface& x, std::size_t k, std::size_t first,
                      std::size_t last);

  std::size_t strip_;        // columns of a register tile
  std::string options_;      // build options of the kernels
  cl::Buffer panel_, next_;  // W of lu_blocked_cpu.cl, for this panel and the next
  cl::Buffer block_row_;     // V
};

}  // namespace lugpu
