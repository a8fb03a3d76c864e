// Banded LU by cpu/banded_lu.cl, cpu/banded_solve.cl and, for a few diagonals,
// cpu/banded_narrow.cl: for devices whose work-items are CPU threads.
#pragma once

#include "dense/banded_lu.hpp"

namespace lugpu {

class BandedCpu : public BandedLu {
 public:
  /// Throws as BandedLu::make.
  BandedCpu(DeviceContext& context, const BandSize& size, Precision precision);

 private:
  /// How a band is cut in blocks and tasks.
  struct Plan {
    std::size_t nb = 1;       // columns of a block; 1: column by column
    std::size_t vector = 1;   // elements of a vector
    std::size_t threads = 1;  // work-groups
    std::size_t blocks = 1;   // of a task
    std::size_t tasks = 1;    // of a panel
    std::size_t ld = 0;
  };
  static Plan plan(const Device& device, const BandSize& size, Precision precision);
  static Layout layout(const Plan& plan, const BandSize& size);
  static std::uint64_t workspace(const Plan& plan, const BandSize& size);

  BandedCpu(DeviceContext& context, const BandSize& size, Precision precision, const Plan& plan);

  void factorize() override;
  void substitute(cl::Buffer& x) override;
  void substitute_few(cl::Buffer& x);
  KernelId kernel(const char* file, const char* function) const;
  std::size_t panels() const { return ceiling(size_.n, plan_.nb); }

  const Plan plan_;
  const cl_int lower_, upper_;
  std::string options_;             // build options of the kernels
  cl::Buffer panels_, block_rows_;  // W and V of cpu/banded_lu.cl
  cl::Buffer packed_, noted_rows_;  // of cpu/strip.clh
  cl::Buffer state_, last_;         // of cpu/banded_lu.cl
  cl::Buffer work_;                 // of cpu/team.clh
};

}  // namespace lugpu
