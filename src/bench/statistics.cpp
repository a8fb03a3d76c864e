#include "bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lugpu {

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

double relative_deviation(const std::vector<double>& samples) {
  if (samples.size() < 2) return 0;
  const double count = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  return mean > 0 ? std::sqrt(squares / (count - 1)) / mean : 0;
}

}  // namespace lugpu
