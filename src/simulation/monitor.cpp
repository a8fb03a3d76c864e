#include "simulation/monitor.hpp"

#include <cmath>
#include <utility>

namespace lugpu {

Monitor::Monitor(DeviceContext& context, const VectorLayout& layout)
    : vectors_(context, layout, 2 * kSteps) {}

void Monitor::note(const Surface& v, std::size_t which) {
  vectors_.reduce(Reduction::dot, v, v, 2 * steps_ + which);
}

void Monitor::after(const Surface& v) {
  note(v, 1);
  if (++steps_ == kSteps) collect();
}

void Monitor::collect() {
  with_real(vectors_.layout().precision, [&](auto real) {
    std::vector<decltype(real(0))> squares(2 * steps_);
    if (squares.empty()) return;
    vectors_.context().read_back("left", vectors_.scalars(), 0, squares.size() * sizeof squares[0],
                                 squares.data());
    for (std::size_t step = 0; step < steps_; ++step) {
      const double before = squares[2 * step], after = squares[2 * step + 1];
      known_.push_back(after == 0 ? 0 : std::sqrt(after / before));
    }
  });
  steps_ = 0;
}

std::vector<double> Monitor::take() {
  collect();
  return std::exchange(known_, {});
}

}  // namespace lugpu
