#include "progress.hpp"

#include <numeric>

#include "terminal.hpp"

namespace lugpu::cli {
namespace {

std::string time_left(double seconds) {
  constexpr double kMinute = 60, kHour = 3600;
  if (seconds < kMinute) return format("%.0f s left", seconds);
  if (seconds < kHour) return format("%.0f min left", seconds / kMinute);
  return format("%.1f h left", seconds / kHour);
}

}  // namespace

Progress::Progress(const std::vector<double>& work)
    : cases_(work.size()), all_(std::accumulate(work.begin(), work.end(), 0.0)) {}

void Progress::finish(double work) {
  ++done_;
  finished_ += work;
}

void Progress::skip(double work) {
  ++done_;
  skipped_ += work;
}

std::string Progress::text() const {
  const double done = finished_ + skipped_;
  std::string text = format("[%zu/%zu] %.0f %%", done_, cases_, 100 * done / all_);
  if (finished_ == 0) return text;
  const std::chrono::duration<double> so_far = std::chrono::steady_clock::now() - start_;
  return text + ", " + time_left(so_far.count() * (all_ - done) / finished_);
}

}  // namespace lugpu::cli
