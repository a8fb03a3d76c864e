#include "solve/device_record.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/output_file.hpp"
#include "opencl/kernel_digest.hpp"

namespace lugpu {
namespace {

constexpr std::uintmax_t kMostBytes = 1 << 16;
const std::string kEnd = "end\n";  // a file without it is cut off

// What a record is about, after its title: a line for each of these.
constexpr const char* kKeys[] = {"platform ", "device ", "driver ", "kernels "};
constexpr const char* kNoVendors = ", no vendor's";

std::string head(const RecordSubject& subject, const Device& device,
                 const KernelSettings& kernels) {
  const std::string values[] = {device.platform, device.name, device.driver_version,
                                kernel_digest(kernels.folder) + (kernels.vendor ? "" : kNoVendors)};
  std::string text = std::string(subject.title) + '\n';
  for (std::size_t i = 0; i < std::size(kKeys); ++i) text += kKeys[i] + values[i] + '\n';
  return text;
}

// Of the records; empty if the environment names no place.
std::filesystem::path folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache && *cache == '/') return std::filesystem::path(cache) / "lugpu";
  if (home && *home == '/') return std::filesystem::path(home) / ".cache/lugpu";
  return {};
}

std::string file_name(const RecordSubject& subject, const std::string& head) {
  return std::string(subject.file_name) + '-' + digest(head) + ".txt";
}

std::filesystem::path file_of(const RecordSubject& subject, const std::string& head) {
  const std::filesystem::path place = folder();
  return place.empty() ? place : place / file_name(subject, head);
}

// All lines of a record, the title among them; none if it is not a whole one.
std::vector<std::string> lines_of(const RecordSubject& subject, const std::filesystem::path& file) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none) ||
      std::filesystem::file_size(file, none) > kMostBytes) {
    return {};
  }
  const std::string text = contents(file);
  if (!text.starts_with(subject.title) || !text.ends_with('\n' + kEnd)) return {};
  std::vector<std::string> lines;
  const std::size_t last = text.size() - kEnd.size();
  for (std::size_t start = 0; start < last;) {
    const std::size_t stop = text.find('\n', start);
    lines.push_back(text.substr(start, stop - start));
    start = stop + 1;
  }
  return lines;
}

// Nothing if the file is none of write_record.
std::optional<DeviceRecord> record_in(const RecordSubject& subject,
                                      const std::filesystem::path& file) {
  const std::vector<std::string> lines = lines_of(subject, file);
  if (lines.size() <= 1 + std::size(kKeys) || lines[0] != subject.title) return std::nullopt;
  DeviceRecord record;
  std::string* const fields[] = {&record.platform, &record.device, &record.driver, &record.kernels};
  std::string head = lines[0] + '\n';
  for (std::size_t i = 0; i < std::size(kKeys); ++i) {
    const std::string& line = lines[i + 1];
    if (!line.starts_with(kKeys[i])) return std::nullopt;
    *fields[i] = line.substr(std::strlen(kKeys[i]));
    head += line + '\n';
  }
  if (file.filename() != file_name(subject, head)) return std::nullopt;
  record.file = file.string();
  record.of_embedded_kernels = record.kernels.starts_with(kernel_digest(""));
  record.lines.assign(lines.begin() + 1 + std::size(kKeys), lines.end());
  return record;
}

}  // namespace

std::vector<std::string> read_record(const RecordSubject& subject, const Device& device,
                                     const KernelSettings& kernels) {
  const auto record = record_in(subject, file_of(subject, head(subject, device, kernels)));
  return record ? record->lines : std::vector<std::string>();
}

std::vector<DeviceRecord> all_records(const RecordSubject& subject) {
  std::vector<DeviceRecord> records;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder(), none)) {
    if (const auto record = record_in(subject, entry.path())) records.push_back(*record);
  }
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.file < b.file; });
  return records;
}

void forget(const DeviceRecord& record) {
  std::error_code problem;
  std::filesystem::remove(record.file, problem);
  if (problem) {
    throw Error(ErrorKind::failure,
                record.file + ": cannot be removed (" + problem.message() + ").");
  }
}

void write_record(const RecordSubject& subject, const Device& device, const KernelSettings& kernels,
                  const std::vector<std::string>& lines) {
  const std::string first = head(subject, device, kernels);
  const std::filesystem::path file = file_of(subject, first);
  std::error_code problem;
  if (lines.empty()) {
    std::filesystem::remove(file, problem);
    return;
  }
  if (file.empty()) {
    throw Error(ErrorKind::failure,
                "Neither XDG_CACHE_HOME nor HOME names a folder for what is recorded of "
                "devices.");
  }
  std::filesystem::create_directories(file.parent_path(), problem);
  OutputFile output(file.string());
  std::string text = first;
  for (const std::string& line : lines) text += line + '\n';
  text += kEnd;
  std::fwrite(text.data(), 1, text.size(), output.stream());
  output.commit();
}

}  // namespace lugpu
