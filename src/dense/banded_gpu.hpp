// Banded LU by gpu/banded_lu.cl and gpu/banded_solve.cl.
#pragma once

#include "dense/banded_lu.hpp"

namespace lugpu {

class BandedGpu : public BandedLu {
 public:
  /// Throws as BandedLu::make.
  BandedGpu(DeviceContext& context, const BandSize& size, Precision precision);

 private:
  /// How a band is cut in blocks, and how work-items share the rows of a panel.
  struct Plan {
    std::size_t nb = 0;           // columns of a block
    std::size_t items = 0;        // of a work-group
    std::size_t solve_items = 0;  // likewise, in the solution
    std::size_t rows = 0;         // of a panel
    std::size_t ld = 0;
  };
  static Plan plan(const Device& device, const BandSize& size, Precision precision);
  static Layout layout(const Plan& plan, const BandSize& size);
  static std::uint64_t workspace(const Plan& plan, const BandSize& size);

  BandedGpu(DeviceContext& context, const BandSize& size, Precision precision, const Plan& plan,
            bool nvidia);
  /// Whether NVIDIA's instructions are there and solve a narrower system right.
  static bool suits_nvidia(DeviceContext& context, const BandSize& size, Precision precision);

  void factorize() override;
  void substitute(cl::Buffer& x) override;
  KernelId kernel(const char* file, const char* function, std::string options) const;
  std::size_t panels() const { return ceiling(size_.n, plan_.nb); }

  const Plan plan_;
  const bool nvidia_;
  const cl_int lower_, upper_;
  cl::Buffer origin_, last_;  // of gpu/banded_lu.cl
};

}  // namespace lugpu
