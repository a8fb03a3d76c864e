#include "base/host_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/cgroups.hpp"
#include "base/cores.hpp"

namespace lugpu {
namespace {

namespace fs = std::filesystem;

double page_size() {
  return static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

// Of this process, in bytes; infinity without one.
double limit_of(decltype(RLIMIT_AS) resource) {
  rlimit limit = {};
  const bool none = getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY;
  return none ? HUGE_VAL : static_cast<double>(limit.rlim_cur);
}

// A column of /proc/self/statm in bytes: 0 addresses, 1 resident, 5 data.
double taken(int column) {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  for (int i = 0; i <= column; ++i) file >> pages;
  return pages * page_size();
}

// The number in a file; infinity for "max", and where there is none.
double number_in(const fs::path& file) {
  double number = 0;
  constexpr double kNone = 1e18;  // version 1 has the largest number instead of a word
  return std::istringstream(text_of(file)) >> number && number < kNone ? number : HUGE_VAL;
}

// What copies of files take that were not used lately.
double reclaimable(const std::string& statistics, const std::string& key) {
  std::istringstream lines(statistics);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + " ")) return std::strtod(line.c_str() + key.size(), nullptr);
  }
  return 0;
}

GroupMemory memory_in(const fs::path& folder) {
  std::error_code unknown;
  const bool second = fs::exists(folder / "memory.max", unknown);
  const double limit = number_in(folder / (second ? "memory.max" : "memory.limit_in_bytes"));
  if (!std::isfinite(limit)) return {HUGE_VAL, HUGE_VAL};
  double used = number_in(folder / (second ? "memory.current" : "memory.usage_in_bytes"));
  if (!std::isfinite(used)) used = 0;
  used -= reclaimable(text_of(folder / "memory.stat"),
                      second ? "inactive_file" : "total_inactive_file");
  return {limit, std::max(limit - std::max(used, 0.0), 0.0)};
}

GroupMemory own_cgroups() {
  return cgroup_memory("/sys/fs/cgroup", text_of("/proc/self/cgroup"));
}

}  // namespace

std::uint64_t host_memory() {
  const double physical = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * page_size();
  return static_cast<std::uint64_t>(
      std::min({physical, own_cgroups().limit, limit_of(RLIMIT_AS), limit_of(RLIMIT_DATA)}));
}

double host_memory_left() {
  const double addresses = limit_of(RLIMIT_AS) - taken(0), data = limit_of(RLIMIT_DATA) - taken(5);
  return std::max(std::min({available_memory(), own_cgroups().left, addresses, data}), 0.0);
}

double resident_memory() {
  return taken(1);
}

double host_memory_in_reach() {
  return std::min(host_memory_left() + resident_memory(), static_cast<double>(host_memory()));
}

double address_space() {
  return taken(0);
}

std::string gigabytes(double bytes) {
  if (bytes < 0.5e6) return "< 0.001 GB";
  char text[32];
  const char* format = bytes < 1e9 ? "%.3f GB" : bytes < 999.5e9 ? "%.3g GB" : "%.0f GB";
  std::snprintf(text, sizeof text, format, bytes / 1e9);
  return text;
}

double available_memory(const std::string& meminfo) {
  std::ifstream file(meminfo);
  for (std::string line; std::getline(file, line);) {
    double kilobytes = 0.0;
    if (std::sscanf(line.c_str(), "MemAvailable: %lf kB", &kilobytes) == 1) {
      return 1024.0 * kilobytes;
    }
  }
  return HUGE_VAL;
}

GroupMemory cgroup_memory(const fs::path& root, const std::string& groups) {
  GroupMemory least{HUGE_VAL, HUGE_VAL};
  for (const fs::path& folder : cgroup_folders(root, groups, "memory")) {
    const GroupMemory one = memory_in(folder);
    least = {std::min(least.limit, one.limit), std::min(least.left, one.left)};
  }
  return least;
}

std::string too_low_limit() {
  struct Least {
    decltype(RLIMIT_AS) resource;
    double kilobytes;
    const char *what, *flag;
  };
  constexpr Least kLeast[] = {{RLIMIT_STACK, 256, "stack", "-s"},
                              {RLIMIT_AS, 524288, "addresses", "-v"},
                              {RLIMIT_DATA, 262144, "data", "-d"}};
  // OpenCL and BLAS start a thread for each processor, with a stack of its own.
  const double stack = std::isfinite(limit_of(RLIMIT_STACK)) ? limit_of(RLIMIT_STACK) : 8 << 20;
  const double stacks = 2.0 * cores().usable * stack / 1024;
  for (const Least& least : kLeast) {
    const double limit = limit_of(least.resource) / 1024;
    const double needed = least.kilobytes + (least.resource == RLIMIT_STACK ? 0.0 : stacks);
    if (limit >= needed) continue;
    char text[160];
    std::snprintf(text, sizeof text,
                  "The limit of %s, %.0f KiB, is too low for OpenCL and BLAS; set at least "
                  "ulimit %s %.0f.",
                  least.what, limit, least.flag, needed);
    return text;
  }
  return "";
}

}  // namespace lugpu
