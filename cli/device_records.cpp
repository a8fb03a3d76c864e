#include "device_records.hpp"

#include <iostream>

#include "base/printable.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

std::vector<DeviceRecord> chosen_records(const RecordSubject& subject, const Options& options) {
  std::vector<DeviceRecord> records = all_records(subject);
  if (options.platform.empty() && options.device.empty()) return records;
  const Device device = choose_device(options.platform, options.device);
  std::erase_if(records, [&](const DeviceRecord& record) {
    return record.platform != device.platform || record.device != device.name;
  });
  return records;
}

std::string no_records(const RecordWords& words) {
  return std::string("No ") + words.many + " are recorded.\n";
}

std::string device_of(const DeviceRecord& record) {
  return record.device + " (" + record.platform + "), driver " + record.driver;
}

}  // namespace

Exit list_records(const RecordWords& words, const Options& options) {
  const std::vector<DeviceRecord> records = chosen_records(words.subject, options);
  if (records.empty()) std::cout << no_records(words);
  for (const DeviceRecord& record : records) {
    std::cout << "device    " << wrapped(device_of(record), 10, 10) << "\nkernels   "
              << (record.of_embedded_kernels ? "of this program" : "others") << ", "
              << printable(record.kernels) << '\n';
    for (std::size_t i = 0; i < record.lines.size(); ++i) {
      std::cout << format("%-10s", i == 0 ? words.label : "") << printable(record.lines[i]) << '\n';
    }
  }
  return Exit::ok;
}

Exit forget_records(const RecordWords& words, const Options& options) {
  const std::vector<DeviceRecord> records = chosen_records(words.subject, options);
  if (records.empty() && options.prints()) std::cout << no_records(words);
  for (const DeviceRecord& record : records) {
    forget(record);
    if (!options.prints()) continue;
    std::cout << wrapped("Forgot " + std::to_string(record.lines.size()) + ' ' +
                             (record.lines.size() == 1 ? words.one : words.many) + " of " +
                             device_of(record) + ".",
                         0, 0)
              << '\n';
  }
  return Exit::ok;
}

}  // namespace lugpu::cli
