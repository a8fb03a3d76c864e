#include "base/other_load.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>

namespace lugpu {
namespace {

// Seconds that all processors together were busy since the system started.
std::optional<double> busy_seconds() {
  std::ifstream stream("/proc/stat");
  std::string label;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, steal = 0;
  stream >> label >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> steal;
  if (!stream || label != "cpu") return std::nullopt;
  return (user + nice + system + irq + softirq + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// Of processor time, of all threads of this process.
double own_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

OtherLoad::OtherLoad() : start_(Clock::now()), busy_s_(busy_seconds()), own_s_(own_seconds()) {}

std::optional<double> OtherLoad::share() const {
  constexpr double kShortest = 0.1;
  const std::optional<double> busy = busy_seconds();
  const double seconds = seconds_since(start_);
  if (seconds < kShortest || !busy || !busy_s_) return std::nullopt;
  const double others = *busy - *busy_s_ - (own_seconds() - own_s_);
  const double all = seconds * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  return std::clamp(others / all, 0.0, 1.0);
}

}  // namespace lugpu
