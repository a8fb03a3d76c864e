// How far a run is, and when it will be done.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace lugpu::cli {

class Progress {
 public:
  /// work: of each case, in any unit that their times are about proportional to. The clock starts
  /// now.
  explicit Progress(const std::vector<double>& work);

  /// A case of so much work is done; or was done by an earlier run, and took no time in this one.
  void finish(double work);
  void skip(double work);

  /// E.g. "[12/40] 23 %, 2 min left"; the time as soon as a case is done.
  std::string text() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::size_t cases_, done_ = 0;
  double all_ = 0, finished_ = 0, skipped_ = 0;
};

}  // namespace lugpu::cli
