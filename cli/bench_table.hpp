// The table that `lugpu bench` prints: one row per case, 80 columns.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "bench/result.hpp"

namespace lugpu::cli {

class BenchTable {
 public:
  std::string header() const;
  /// The row of a result, which may take several lines. Its speed-up is over the baseline with the
  /// same n and precision that was given before: getrf, or getc2 for full pivoting.
  std::string row(const Result& result);
  std::string footer() const;
  /// Takes a baseline from an earlier run, if this row of its JSON is one.
  void remember(const nlohmann::json& row);

 private:
  std::string speed_up(const Result& result);

  std::map<std::tuple<std::size_t, Precision, bool>, double> baseline_medians_;
};

}  // namespace lugpu::cli
