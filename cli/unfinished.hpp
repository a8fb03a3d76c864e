// The samples of a sweep's cases that do not have all of them yet, as they are in its JSON file.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "bench/measure.hpp"

namespace lugpu::cli {

class Unfinished {
 public:
  explicit Unfinished(const Effort& effort) : effort_(effort) {}

  /// Those of an earlier run, as put_into() wrote them.
  void resume(const nlohmann::json& records) { earlier_ = records; }
  /// The samples that the earlier run took of case number i.
  std::optional<EarlierSamples> take(const Case& what, std::size_t i);
  /// More samples of case number i, seconds each.
  void add(const Case& what, std::size_t i, std::span<const double> seconds);
  /// Case number i has its result.
  void remove(std::size_t i) { own_.erase(i); }

  /// Sets `unfinished` of a report, or removes it if there are none.
  void put_into(nlohmann::json& report) const;

  /// Whether there is time to write the file: that takes at most a twentieth of the time.
  bool is_time_to_write() const { return Clock::now() >= next_; }
  /// Calls action(), which writes the file.
  template <typename Action>
  void write(const Action& action) {
    constexpr int kShare = 20;
    const Clock::time_point start = Clock::now();
    action();
    const Clock::time_point end = Clock::now();
    next_ = end + kShare * (end - start);
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Taken {
    Case what;
    Samples samples;
  };

  const Effort effort_;
  std::map<std::size_t, Taken> own_;  // by the number of the case
  nlohmann::json earlier_ = nlohmann::json::array();
  Clock::time_point next_ = Clock::now();
};

}  // namespace lugpu::cli
