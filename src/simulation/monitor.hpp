// The norms that a simulation leaves behind at every step, on the device until they are asked for.
#pragma once

#include <vector>

#include "operators/vectors.hpp"

namespace lugpu {

/// Ratios of two sums of squares, one for each time step.
class Monitor {
 public:
  Monitor(DeviceContext& context, const VectorLayout& layout);

  /// Enqueues v . v of a vector of the layout: before and after a step's linear system is solved.
  void before(const Surface& v) { note(v, 0); }
  void after(const Surface& v);

  /// sqrt(after / before) of every step since the last call; 0 where both are 0. Waits.
  std::vector<double> take();

 private:
  static constexpr std::size_t kSteps = 1024;  // that the device keeps

  void note(const Surface& v, std::size_t which);
  void collect();

  Vectors vectors_;
  std::size_t steps_ = 0;  // since collect()
  std::vector<double> known_;
};

}  // namespace lugpu
