// The samples of a case while they are taken, and when they are enough.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lugpu {

struct Effort;

/// The most samples that a result keeps: of more, every second, fourth, eighth ... one, so that
/// they are spread evenly over the time. Thus even a run of hours makes a readable record.
inline constexpr std::size_t kMostSamples = 1000;

class Samples {
 public:
  explicit Samples(const Effort& effort);

  /// Adds a sample of so many seconds. Effort::min_time_s and max_time_s count those.
  void add(double seconds) { add(seconds, seconds); }
  /// Adds one that is the mean of several, which took `all_seconds` together.
  void add(double seconds, double all_seconds);

  /// Goes on from `count` samples of an earlier run that kept some of them, at least one. Before
  /// the first add(). The time of those that it did not keep is taken to be their mean.
  void resume(std::span<const double> kept, std::size_t count);

  /// Whether the effort asks for no more of them; its timeout apart.
  bool enough() const;
  /// Of all samples.
  std::size_t count() const { return count_; }
  /// At most kMostSamples of them, in their order.
  const std::vector<double>& kept() const { return kept_; }

 private:
  bool has_least() const;
  void keep(double seconds);

  std::size_t least_;
  double least_s_, most_s_, noise_s_;
  std::optional<double> noise_;
  std::vector<double> kept_;
  std::size_t count_ = 0;
  std::size_t apart_ = 1;      // one of this many is kept
  std::size_t next_look_ = 0;  // at the noise
  double total_s_ = 0;
  bool quiet_ = false;
};

}  // namespace lugpu
