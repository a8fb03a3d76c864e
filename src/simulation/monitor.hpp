// The norms that a simulation leaves behind at every step, on the device until they are asked for.
#pragma once

#include <vector>

#include "operators/vectors.hpp"

namespace lugpu {

/// Ratios of two 2-norms, one for each time step: of what was there before and after a linear
/// system was solved.
class Monitor {
 public:
  Monitor(DeviceContext& context, const VectorLayout& layout);

  /// Enqueue v . v of a vector of the layout. The last after() before the next before() counts.
  void before(const Surface& v);
  void after(const Surface& v);

  /// That of the step that is under way, or was the last one. Waits.
  double last();
  /// Of every step since the last call; 0 where both are 0. Waits.
  std::vector<double> take();

 private:
  static constexpr std::size_t kSteps = 1024;  // that the device keeps

  std::vector<double> read(std::size_t first, std::size_t count);
  void collect();

  Vectors vectors_;
  std::size_t steps_ = 0;  // since collect()
  std::vector<double> known_;
};

}  // namespace lugpu
