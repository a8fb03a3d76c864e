// Statistics of repeated timings.
#pragma once

#include <vector>

namespace lugpu {

/// The middle sample, or the mean of the middle two; samples is not empty.
double median(std::vector<double> samples);

/// Standard deviation (n - 1) over the mean; 0 for fewer than two samples.
double relative_deviation(const std::vector<double>& samples);

}  // namespace lugpu
