// What is done about work that does not come back: a call of a driver that hangs cannot be ended
// from within, so a thread beside it ends the process.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace lugpu {

class Watchdog {
 public:
  /// late: called once, from another thread, when a time that was set is over; it is to end the
  /// process.
  explicit Watchdog(std::function<void()> late);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// From now on the work has so many seconds, whatever it had left; INFINITY: no limit.
  void set(double seconds);
  /// The work came back. `late` is not called any more, and has not begun, until the next set().
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  void watch(const std::stop_token& stop);

  const std::function<void()> late_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Clock::time_point deadline_ = Clock::time_point::max();
  std::jthread thread_;  // the last member, so that it ends first
};

}  // namespace lugpu
