#include "base/watchdog.hpp"

#include <utility>

namespace lugpu {

Watchdog::Watchdog(std::function<void()> late)
    : late_(std::move(late)), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void Watchdog::set(double seconds) {
  const std::lock_guard lock(mutex_);
  // A deadline more than a century away is no deadline.
  deadline_ = seconds < 3e9 ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                 std::chrono::duration<double>(seconds))
                            : Clock::time_point::max();
  changed_.notify_one();
}

void Watchdog::clear() {
  const std::lock_guard lock(mutex_);
  deadline_ = Clock::time_point::max();
}

// late_ runs under the mutex, so that the work cannot come back and go on beside it.
void Watchdog::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (Clock::now() >= deadline_) {
      late_();
      return;
    }
    // Without a deadline, until there is one: max() would overflow in the wait.
    const bool waits = deadline_ == Clock::time_point::max();
    const Clock::time_point until = waits ? Clock::now() + std::chrono::hours(24) : deadline_;
    changed_.wait_until(lock, stop, until, [&, before = deadline_] { return deadline_ != before; });
  }
}

}  // namespace lugpu
