// `lugpu solve` with a batch of small systems.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/watchdog.hpp"
#include "exit.hpp"
#include "formats/formats.hpp"
#include "options.hpp"

namespace lugpu::cli {

struct BatchFiles {
  std::string matrix, rhs, output, inverse;  ///< paths; empty if they were not given, but `matrix`
  std::string format;                        ///< of standard input
  Pivot pivot;
  std::optional<Precision> precision;  ///< absent: double where the device has that
};

/// Solves, checks, writes and reports. rhs: a .npy file of count x n, a vector for each member, or
/// count x n x k; without one B = A * ones. Throws InputError for what does not fit together.
/// watchdog: cleared once there is a solution.
Exit solve_batch(DeviceContext& context, const MatrixStack& a, const BatchFiles& files,
                 const Options& options, const std::vector<std::string>& arguments,
                 Watchdog& watchdog);

}  // namespace lugpu::cli
