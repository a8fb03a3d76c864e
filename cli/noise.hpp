// What the tables of a benchmark say of samples that scatter.
#pragma once

#include <cstddef>
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

/// Lines for a table's footer: a sentence about so many noisy rows, and nothing if there are none.
std::string noise_warning(std::size_t noisy_rows);

}  // namespace lugpu::cli
