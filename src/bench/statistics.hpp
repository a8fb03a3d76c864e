// Statistics of repeated timings.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace lugpu {

/// From `low` to `high`, both included.
struct Interval {
  double low;
  double high;
};

/// The middle sample, or the mean of the middle two; samples is not empty.
double median(std::vector<double> samples);

/// Standard deviation (n - 1) over the mean; 0 for fewer than two samples.
double relative_deviation(const std::vector<double>& samples);

/// The median absolute deviation from the median (MAD); samples is not empty.
double median_deviation(const std::vector<double>& samples);

/// That over the median; 0 if the median is 0.
double relative_median_deviation(const std::vector<double>& samples);

/// Samples further from the median than five standard deviations as the MAD estimates them, 1.4826
/// MAD; samples is not empty.
std::size_t outliers(const std::vector<double>& samples);

/// 95 % confidence interval of the median by 1000 resamples (the bootstrap), the same for the same
/// samples; absent for fewer than two. samples: in the order in which they were taken. They are
/// drawn in blocks of consecutive ones, a tenth of them each, because neighbours have the machine's
/// clock and other load in common: as single draws, the interval would be much too narrow.
std::optional<Interval> median_interval(const std::vector<double>& samples);

/// The same for median(a) / median(b), both of which are resampled and positive; absent if a or b
/// has fewer than two.
std::optional<Interval> ratio_interval(const std::vector<double>& a, const std::vector<double>& b);

/// The time that a tenth of the samples do not exceed: theirs on an idle machine, as nearly as they
/// show it, since other load only adds to it. samples is not empty.
double low_decile(std::vector<double> samples);

/// Half the width of median_interval over the median: how well the median is known. Infinite for
/// fewer than two samples.
double uncertainty(const std::vector<double>& samples);

}  // namespace lugpu
