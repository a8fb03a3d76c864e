// Blocked LU by cpu/lu_blocked.cl, cpu/lu_blocked_image.cl, cpu/solve.cl and cpu/solve_few.cl: for
// devices whose work-items are CPU threads.
#pragma once

#include "dense/blocked.hpp"

namespace lugpu {

class BlockedCpu : public Blocked {
 public:
  BlockedCpu(DeviceContext& context, const Shape& shape);
  static std::size_t block_size(const Shape& shape);
  std::uint64_t multiply(Surface& a) override;
  void solve_columns(const Triangle& t, std::size_t k, std::size_t width,
                     const Columns& x) override;
  /// Of the tiles through which the trailing matrix goes from one surface to another.
  static std::uint64_t tile_bytes(const Device& device, Precision precision);

 private:
  void factorize(Surface& a, const Parts& parts) override;
  void solve_triangle(const Triangle& t, Surface& x) override;
  void solve_block(const Triangle& t, const Columns& x, std::size_t first,
                   std::size_t rows) override;
  void subtract_block(const Triangle& t, const Columns& x, std::size_t k, std::size_t rows,
                      std::size_t first, std::size_t last) override;
  std::size_t solve_block_size() const override { return shape_.nb; }
  void start() override {}  // the first panel does it
  void factor_panel(Surface& lu, std::size_t k) override;
  void exchange_and_solve(Surface& a, std::size_t k) override;
  void update(const PingPong& a, const Surface& lu, std::size_t k) override;

  void factor_columns(Surface& a, std::size_t k);
  KernelId kernel(const char* file, const char* function) const;
  void reserve_block_row(std::size_t columns, std::size_t rows);

  std::size_t strip_;               // columns of a register tile
  std::string options_;             // build options of the kernels
  cl::Buffer panel_, next_;         // W of cpu/lu_blocked.cl, for a panel and the next
  cl::Buffer block_row_;            // V of cpu/lu_blocked.cl and cpu/solve.cl
  std::size_t block_row_size_ = 0;  // its elements
  cl::Buffer tiles_;                // of cpu/lu_blocked_image.cl, one for each compute unit
  cl::Buffer packed_, noted_rows_;  // of cpu/strip.clh
  cl::Buffer work_;                 // of cpu/team.clh
  cl::Buffer solved_;               // of cpu/solve_few.cl
  cl::Buffer state_;
};

}  // namespace lugpu
