#include "noise.hpp"

#include <algorithm>

#include "bench/statistics.hpp"
#include "terminal.hpp"

namespace lugpu::cli {

Cell noise(const std::vector<double>& times_s) {
  const double deviation = relative_median_deviation(times_s);
  const double percent = std::min(100 * deviation, 999.0);
  return {format("%.*f", percent < 9.95 ? 1 : 0, percent), deviation};
}

bool is_noisy(const std::vector<double>& times_s) {
  constexpr double kNoisy = 0.05;
  return times_s.size() > 1 && uncertainty(times_s) > kNoisy;
}

std::string noise_warning(std::size_t noisy_rows) {
  if (noisy_rows == 0) return "";
  const std::string rows =
      noisy_rows == 1 ? "one median is" : format("%zu medians are", noisy_rows);
  return wrapped("Noise: " + rows +
                     " uncertain by more than 5 %; stop other programs, or add --noise 5%, which "
                     "takes samples until no median is (but not beyond --max-time).",
                 0, 0) +
         "\n";
}

}  // namespace lugpu::cli
