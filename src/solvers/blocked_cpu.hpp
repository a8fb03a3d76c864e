// Blocked LU by lu_blocked_cpu.cl and solve_cpu.cl: for devices whose work-items are CPU threads.
#pragma once

#include "solvers/blocked.hpp"

namespace lugpu {

class BlockedCpu : public Blocked {
 public:
  BlockedCpu(DeviceContext& context, const Shape& shape);
  static std::size_t block_size(std::size_t n);

 private:
  void factorize(Surface& a) override;
  void solve_block(const Triangle& t, Surface& x, std::size_t first, std::size_t rows) override;
  void subtract_block(const Triangle& t, Surface& x, std::size_t k, std::size_t rows,
                      std::size_t first, std::size_t last) override;
  std::size_t solve_rows() const override { return shape_.nb; }
  KernelId kernel(const char* file, const char* function) const;

  std::size_t strip_;        // columns of a register tile
  std::string options_;      // build options of the kernels
  cl::Buffer panel_, next_;  // W of lu_blocked_cpu.cl, for this panel and the next
  cl::Buffer block_row_;     // V
};

}  // namespace lugpu
