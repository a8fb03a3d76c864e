#include "bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "matrix/random.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kResamples = 1000;
constexpr std::size_t kBlocks = 10;

// The medians of the resamples: of blocks that start anywhere and go on at the first sample after
// the last one (the circular block bootstrap of Politis and Romano, 1992).
std::vector<double> resampled_medians(const std::vector<double>& samples, std::uint64_t seed) {
  const std::size_t count = samples.size();
  const std::size_t length = std::max<std::size_t>(count / kBlocks, 1);
  Random random(seed);
  std::vector<double> medians(kResamples), drawn(count);
  for (double& one : medians) {
    for (std::size_t i = 0, next = 0; i < count; ++i, ++next) {
      if (i % length == 0) next = random.bits() % count;
      drawn[i] = samples[next % count];
    }
    one = median(drawn);
  }
  return medians;
}

Interval middle_95_percent(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t outside = values.size() / 40;
  return {values[outside], values[values.size() - 1 - outside]};
}

}  // namespace

double median(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return (*std::max_element(samples.begin(), middle) + *middle) / 2;
}

double relative_deviation(const std::vector<double>& samples) {
  if (samples.size() < 2) return 0;
  const double count = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  return mean > 0 ? std::sqrt(squares / (count - 1)) / mean : 0;
}

double median_deviation(const std::vector<double>& samples) {
  const double middle = median(samples);
  std::vector<double> deviations = samples;
  for (double& value : deviations) value = std::abs(value - middle);
  return median(std::move(deviations));
}

double relative_median_deviation(const std::vector<double>& samples) {
  const double middle = median(samples);
  return middle > 0 ? median_deviation(samples) / middle : 0;
}

std::size_t outliers(const std::vector<double>& samples) {
  constexpr double kDeviations = 5, kScale = 1.4826;  // of normal samples
  const double middle = median(samples);
  const double most = kDeviations * kScale * median_deviation(samples);
  return static_cast<std::size_t>(std::count_if(samples.begin(), samples.end(), [&](double sample) {
    return std::abs(sample - middle) > most;
  }));
}

std::optional<Interval> median_interval(const std::vector<double>& samples) {
  if (samples.size() < 2) return std::nullopt;
  return middle_95_percent(resampled_medians(samples, 1));
}

std::optional<Interval> ratio_interval(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  std::vector<double> ratios = resampled_medians(a, 1);
  const std::vector<double> below = resampled_medians(b, 2);
  std::transform(ratios.begin(), ratios.end(), below.begin(), ratios.begin(), std::divides<>());
  return middle_95_percent(std::move(ratios));
}

double low_decile(std::vector<double> samples) {
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>((samples.size() - 1) / 10);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

double uncertainty(const std::vector<double>& samples) {
  const std::optional<Interval> interval = median_interval(samples);
  if (!interval) return std::numeric_limits<double>::infinity();
  const double middle = median(samples);
  return middle > 0 ? (interval->high - interval->low) / 2 / middle : 0;
}

}  // namespace lugpu
