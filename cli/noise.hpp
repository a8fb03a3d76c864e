// What the tables of a benchmark say of samples that scatter.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "table.hpp"

namespace lugpu::cli {

/// The column of noise(); `rank` as Column's.
constexpr Column noise_column(int rank) {
  return {"+-%", "rel_mad", 3, rank};
}

/// The median absolute deviation of the samples, of which there are some, over their median: what a
/// few outliers leave as it is.
Cell noise(const std::vector<double>& times_s);

/// Whether a median of these is uncertain by more than 5 %; a single sample says nothing of that.
bool is_noisy(const std::vector<double>& times_s);

/// What disturbed the rows of a table, in one sentence that says what to do.
class NoiseWarning {
 public:
  /// A row's samples, and OtherLoad::share() while they were taken.
  void add(const std::vector<double>& times_s, std::optional<double> other_load);
  /// Lines for the table's footer; nothing if no row was disturbed.
  std::string text() const;

 private:
  std::size_t noisy_ = 0;      // rows: is_noisy()
  std::size_t scattered_ = 0;  // rows of which a tenth of the samples or more are far outliers
  double other_load_ = 0;      // the largest
};

}  // namespace lugpu::cli
