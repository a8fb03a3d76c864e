#include "simulation/monitor.hpp"

#include <cmath>
#include <utility>

namespace lugpu {

Monitor::Monitor(DeviceContext& context, const VectorLayout& layout)
    : vectors_(context, layout, 2 * kSteps) {}

void Monitor::before(const Surface& v) {
  if (steps_ == kSteps) collect();
  vectors_.reduce(Reduction::dot, v, v, 2 * steps_++);
}

void Monitor::after(const Surface& v) {
  vectors_.reduce(Reduction::dot, v, v, 2 * steps_ - 1);
}

// Of `count` steps from the first on.
std::vector<double> Monitor::read(std::size_t first, std::size_t count) {
  std::vector<double> ratios;
  with_real(vectors_.layout().precision, [&](auto real) {
    std::vector<decltype(real(0))> squares(2 * count);
    if (squares.empty()) return;
    vectors_.context().read_back("left", vectors_.scalars(), 2 * first * sizeof squares[0],
                                 squares.size() * sizeof squares[0], squares.data());
    for (std::size_t step = 0; step < count; ++step) {
      const double of_before = squares[2 * step], of_after = squares[2 * step + 1];
      ratios.push_back(of_after == 0 ? 0 : std::sqrt(of_after / of_before));
    }
  });
  return ratios;
}

double Monitor::last() {
  return steps_ > 0 ? read(steps_ - 1, 1)[0] : known_.back();
}

void Monitor::collect() {
  const std::vector<double> ratios = read(0, steps_);
  known_.insert(known_.end(), ratios.begin(), ratios.end());
  steps_ = 0;
}

std::vector<double> Monitor::take() {
  collect();
  return std::exchange(known_, {});
}

}  // namespace lugpu
