#include "bench/samples.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "bench/measure.hpp"
#include "bench/statistics.hpp"

namespace lugpu {

Samples::Samples(const Effort& effort)
    : least_(static_cast<std::size_t>(effort.runs)),
      least_s_(effort.min_time_s),
      most_s_(effort.max_time_s),
      noise_s_(effort.noise_time_s),
      noise_(effort.noise) {}

void Samples::add(double seconds, double all_seconds) {
  total_s_ += all_seconds;
  keep(seconds);
  // An interval takes milliseconds, so it is not computed anew for every sample.
  if (!noise_ || !has_least() || count_ < next_look_) return;
  quiet_ = uncertainty(kept_) <= *noise_;
  next_look_ = count_ + count_ / 4 + 1;
}

void Samples::resume(std::span<const double> kept, std::size_t count) {
  for (const double seconds : kept) keep(seconds);
  count_ = std::max(count, kept.size());
  apart_ = std::bit_ceil(count_ / kept_.size());
  const double mean =
      std::accumulate(kept.begin(), kept.end(), 0.0) / static_cast<double>(kept.size());
  total_s_ = mean * static_cast<double>(count_);
  quiet_ = noise_ && has_least() && uncertainty(kept_) <= *noise_;
}

bool Samples::enough() const {
  if (count_ > 0 && total_s_ >= most_s_) return true;
  return has_least() && (!noise_ || quiet_ || total_s_ >= noise_s_);
}

bool Samples::has_least() const {
  return count_ >= least_ && total_s_ >= least_s_;
}

void Samples::keep(double seconds) {
  if (count_++ % apart_ != 0) return;
  if (kept_.size() == kMostSamples) {
    for (std::size_t i = 0; i < kMostSamples / 2; ++i) kept_[i] = kept_[2 * i];
    kept_.resize(kMostSamples / 2);
    apart_ *= 2;
  }
  kept_.push_back(seconds);
}

}  // namespace lugpu
