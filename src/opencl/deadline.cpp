#include "opencl/deadline.hpp"

namespace lugpu {

void Deadline::set(double seconds, int pace) {
  // A deadline more than a century away is no deadline.
  deadline_ = seconds < 3e9 ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                 std::chrono::duration<double>(seconds))
                            : Clock::time_point::max();
  last_wait_ = Clock::now();
  steps_between_waits_ = pace;
  steps_since_wait_ = 0;
}

void Deadline::checkpoint(const cl::CommandQueue& queue) {
  if (followers_ == 0) {
    if (++steps_since_wait_ < steps_between_waits_) return;
    queue.finish();
  }
  const auto now = Clock::now();
  if (now > deadline_) throw TimedOut();
  if (followers_ > 0) {
    last_wait_ = now;
    return;
  }
  // Waits cost some 10 to 100 microseconds: a few per second cost almost nothing.
  const double seconds = std::chrono::duration<double>(now - last_wait_).count();
  if (seconds < 0.05) steps_between_waits_ *= 2;
  if (seconds > 0.2 && steps_between_waits_ > 1) steps_between_waits_ /= 2;
  last_wait_ = now;
  steps_since_wait_ = 0;
}

}  // namespace lugpu
