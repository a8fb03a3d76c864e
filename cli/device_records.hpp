// What earlier runs recorded of devices: shown, and forgotten.
#pragma once

#include "exit.hpp"
#include "options.hpp"
#include "solve/device_record.hpp"

namespace lugpu::cli {

/// A subject of records, and what a line of one is called.
struct RecordWords {
  RecordSubject subject;
  const char* label;       ///< at the head of the lines, at most 9 characters
  const char *one, *many;  ///< e.g. "wrong path", "wrong paths"
};

/// Prints the records of every device, driver and set of kernels; of one device if the options name
/// it.
Exit list_records(const RecordWords& words, const Options& options);

/// Removes these records and says whose they were.
Exit forget_records(const RecordWords& words, const Options& options);

}  // namespace lugpu::cli
