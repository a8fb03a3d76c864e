// What `lugpu verify` has recorded of devices: shown, and forgotten.
#pragma once

#include "exit.hpp"
#include "options.hpp"

namespace lugpu::cli {

/// Prints the wrong paths of every device, driver and set of kernels that are recorded; of one
/// device if the options name it.
Exit list_verdicts(const Options& options);

/// Removes these records and says whose they were.
Exit forget_verdicts(const Options& options);

}  // namespace lugpu::cli
