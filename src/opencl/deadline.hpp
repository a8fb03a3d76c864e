// A limit to the time of a long computation.
#pragma once

#include <chrono>
#include <exception>
#include <utility>

#include "opencl/opencl.hpp"

namespace lugpu {

/// Thrown by Deadline::checkpoint when the time that was given is over.
class TimedOut : public std::exception {
 public:
  const char* what() const noexcept override { return "the time limit was reached"; }
};

class Deadline {
 public:
  /// From now on checkpoint() throws TimedOut after this many seconds. pace: what pace() was when
  /// the same computation last ran.
  void set(double seconds, int pace = 1);
  /// While it lives, checkpoint() throws nothing: others count on what is under way.
  class Postponed {
   public:
    explicit Postponed(Deadline& deadline)
        : deadline_(deadline), time_(std::exchange(deadline.deadline_, Clock::time_point::max())) {}
    ~Postponed() { deadline_.deadline_ = time_; }
    Postponed(const Postponed&) = delete;
    Postponed& operator=(const Postponed&) = delete;

   private:
    Deadline& deadline_;
    std::chrono::steady_clock::time_point time_;
  };
  /// While it lives, checkpoint() never waits, it only looks at the clock: for a caller that waits
  /// for the device itself, and must have more work enqueued before it runs dry.
  class Followed {
   public:
    explicit Followed(Deadline& deadline) : deadline_(deadline) { ++deadline_.followers_; }
    ~Followed() { --deadline_.followers_; }
    Followed(const Followed&) = delete;
    Followed& operator=(const Followed&) = delete;

   private:
    Deadline& deadline_;
  };
  /// Checkpoints from one wait for the device to the next, as adapted so far.
  int pace() const { return steps_between_waits_; }
  /// Between the steps of a long computation: now and then waits for the queue, so that no more is
  /// enqueued than fits in the time given. Throws TimedOut.
  void checkpoint(const cl::CommandQueue& queue);

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point last_wait_ = Clock::now();
  int steps_between_waits_ = 1;
  int steps_since_wait_ = 0;
  int followers_ = 0;
};

}  // namespace lugpu
