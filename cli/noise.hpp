// What the tables of a benchmark say of samples that scatter.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lugpu::cli {

/// Whether a median of these is uncertain by more than 5 %; a single sample says nothing of that.
bool is_noisy(const std::vector<double>& times_s);

/// Lines for a table's footer: a sentence about so many noisy rows, and nothing if there are none.
std::string noise_warning(std::size_t noisy_rows);

}  // namespace lugpu::cli
