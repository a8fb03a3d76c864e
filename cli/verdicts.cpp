#include "verdicts.hpp"

#include <iostream>

#include "base/printable.hpp"
#include "solve/failed_paths.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

std::vector<FailedPathsRecord> chosen_records(const Options& options) {
  std::vector<FailedPathsRecord> records = all_failed_paths();
  if (options.platform.empty() && options.device.empty()) return records;
  const Device device = choose_device(options.platform, options.device);
  std::erase_if(records, [&](const FailedPathsRecord& record) {
    return record.platform != device.platform || record.device != device.name;
  });
  return records;
}

std::string device_of(const FailedPathsRecord& record) {
  return record.device + " (" + record.platform + "), driver " + record.driver;
}

}  // namespace

Exit list_verdicts(const Options& options) {
  const std::vector<FailedPathsRecord> records = chosen_records(options);
  if (records.empty()) std::cout << "No wrong paths are recorded.\n";
  for (const FailedPathsRecord& record : records) {
    std::cout << "device    " << wrapped(device_of(record), 10, 10) << "\nkernels   "
              << (record.of_embedded_kernels ? "of this program" : "others") << ", "
              << printable(record.kernels) << "\nwrong";
    for (std::size_t i = 0; i < record.paths.size(); ++i) {
      std::cout << std::string(i == 0 ? 5 : 10, ' ') << printable(record.paths[i]) << '\n';
    }
  }
  return Exit::ok;
}

Exit forget_verdicts(const Options& options) {
  const std::vector<FailedPathsRecord> records = chosen_records(options);
  if (records.empty() && options.prints()) std::cout << "No wrong paths are recorded.\n";
  for (const FailedPathsRecord& record : records) {
    forget(record);
    if (!options.prints()) continue;
    std::cout << wrapped("Forgot " + std::to_string(record.paths.size()) +
                             (record.paths.size() == 1 ? " wrong path of " : " wrong paths of ") +
                             device_of(record) + ".",
                         0, 0)
              << '\n';
  }
  return Exit::ok;
}

}  // namespace lugpu::cli
