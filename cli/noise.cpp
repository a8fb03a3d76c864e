#include "noise.hpp"

#include <CLI/CLI.hpp>
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

void NoiseWarning::add(const std::vector<double>& times_s, std::optional<double> other_load) {
  noisy_ += is_noisy(times_s);
  // Where samples hardly scatter, what is far from them is still near.
  constexpr double kScattered = 0.1;
  scattered_ +=
      10 * outliers(times_s) >= times_s.size() && relative_deviation(times_s) > kScattered;
  other_load_ = std::max(other_load_, other_load.value_or(0));
}

std::string NoiseWarning::text() const {
  constexpr double kMuch = 0.1;
  std::vector<std::string> found;
  if (noisy_ > 0) {
    found.push_back((noisy_ == 1 ? "one median is" : format("%zu medians are", noisy_)) +
                    " uncertain by more than 5 %");
  }
  if (scattered_ > 0) {
    found.push_back((scattered_ == 1 ? "one row has" : format("%zu rows have", scattered_)) +
                    " outliers for a tenth of the samples or more");
  }
  if (other_load_ >= kMuch) {
    found.push_back(
        format("other programs had up to %.0f %% of the processors", 100 * other_load_));
  }
  if (found.empty()) return "";
  std::string text = "Noise: " + CLI::detail::join(found, ", ") + "; stop other programs";
  if (noisy_ > 0) {
    text +=
        ", or add --noise 5%, which takes samples until no median is (but not beyond --max-time)";
  }
  return wrapped(text + '.', 0, 0) + '\n';
}

}  // namespace lugpu::cli
