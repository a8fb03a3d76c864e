// How busy the machine is with other programs.
#pragma once

#include <optional>

#include "base/clock.hpp"

namespace lugpu {

class OtherLoad {
 public:
  /// Starts to watch.
  OtherLoad();

  /// The share of all processors' time since then that was neither idle nor this process's: 0 to 1,
  /// to a few hundredths. Absent for less than 0.1 s, and where Linux's /proc/stat is not known.
  std::optional<double> share() const;

 private:
  Clock::time_point start_;
  std::optional<double> busy_s_;
  double own_s_;
};

}  // namespace lugpu
