#include "solvers/failed_paths.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "digest.hpp"
#include "error.hpp"
#include "opencl/kernel_digest.hpp"
#include "output_file.hpp"

namespace lugpu {
namespace {

constexpr std::uintmax_t kMostBytes = 1 << 16;
const std::string kEnd = "end\n";  // a file without it is cut off

// What the verdict is about.
std::string head(const Device& device, const std::string& kernel_dir) {
  return "wrong by lugpu verify\nplatform " + device.platform + "\ndevice " + device.name +
         "\ndriver " + device.driver_version + "\nkernels " + kernel_digest(kernel_dir) +
         (device.vendor_kernels ? "\n" : ", no vendor's\n");
}

// Empty if the environment names no place.
std::filesystem::path file_of(const std::string& head) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path folder;
  if (cache && *cache == '/') {
    folder = cache;
  } else if (home && *home == '/') {
    folder = std::filesystem::path(home) / ".cache";
  } else {
    return {};
  }
  return folder / "lugpu" / ("failed-paths-" + digest(head) + ".txt");
}

}  // namespace

std::vector<std::string> read_failed_paths(const Device& device, const std::string& kernel_dir) {
  const std::string expected = head(device, kernel_dir);
  const std::filesystem::path file = file_of(expected);
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none) ||
      std::filesystem::file_size(file, none) > kMostBytes) {
    return {};
  }
  const std::string text = contents(file);
  if (!text.starts_with(expected) || !text.ends_with('\n' + kEnd)) return {};
  std::vector<std::string> paths;
  const std::size_t last = text.size() - kEnd.size();
  for (std::size_t start = expected.size(); start < last;) {
    const std::size_t stop = text.find('\n', start);
    paths.push_back(text.substr(start, stop - start));
    start = stop + 1;
  }
  return paths;
}

void write_failed_paths(const Device& device, const std::string& kernel_dir,
                        const std::vector<std::string>& paths) {
  const std::string first = head(device, kernel_dir);
  const std::filesystem::path file = file_of(first);
  std::error_code problem;
  if (paths.empty()) {
    std::filesystem::remove(file, problem);
    return;
  }
  if (file.empty()) {
    throw Error(Exit::failure,
                "Neither XDG_CACHE_HOME nor HOME names a folder for the paths that "
                "failed.");
  }
  std::filesystem::create_directories(file.parent_path(), problem);
  OutputFile output(file.string());
  std::string text = first;
  for (const std::string& path : paths) text += path + '\n';
  text += kEnd;
  std::fwrite(text.data(), 1, text.size(), output.stream());
  output.commit();
}

}  // namespace lugpu
