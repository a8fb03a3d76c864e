#include "base/cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "base/cgroups.hpp"

namespace lugpu {
namespace {

namespace fs = std::filesystem;

// What a cgroup of either version allows in its folder.
std::optional<double> limit_in(const fs::path& folder) {
  double quota = 0, period = 0;
  std::istringstream both(text_of(folder / "cpu.max"));  // "max 100000" if there is no limit
  if (!(both >> quota >> period)) {
    std::istringstream(text_of(folder / "cpu.cfs_quota_us")) >> quota;  // -1 if there is none
    std::istringstream(text_of(folder / "cpu.cfs_period_us")) >> period;
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

unsigned usable(unsigned logical) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    logical = std::min(logical, static_cast<unsigned>(CPU_COUNT(&allowed)));
  }
  if (const auto limit = cgroup_limit("/sys/fs/cgroup", text_of("/proc/self/cgroup"))) {
    logical = std::min(logical, static_cast<unsigned>(std::ceil(std::min(*limit, 1e6))));
  }
  return std::max(logical, 1u);
}

// The entries of a folder of the system whose names are `prefix` and a number.
std::set<fs::path> numbered(const fs::path& folder, const std::string& prefix) {
  std::set<fs::path> found;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    const std::string name = entry.path().filename();
    if (name.size() > prefix.size() && name.starts_with(prefix) &&
        name.find_first_not_of("0123456789", prefix.size()) == std::string::npos) {
      found.insert(entry.path());
    }
  }
  return found;
}

Cores count() {
  Cores all;
  all.logical = static_cast<unsigned>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  std::set<std::string> siblings;
  for (const fs::path& processor : numbered("/sys/devices/system/cpu", "cpu")) {
    const std::string list = text_of(processor / "topology" / "thread_siblings_list");
    if (!list.empty()) siblings.insert(list);
  }
  all.physical = siblings.empty() ? all.logical : static_cast<unsigned>(siblings.size());
  const std::size_t nodes = numbered("/sys/devices/system/node", "node").size();
  all.numa_nodes = static_cast<unsigned>(std::max<std::size_t>(nodes, 1));
  all.usable = usable(all.logical);
  return all;
}

}  // namespace

std::optional<double> cgroup_limit(const fs::path& root, const std::string& groups) {
  std::optional<double> least;
  for (const fs::path& folder : cgroup_folders(root, groups, "cpu")) {
    const auto limit = limit_in(folder);
    if (limit && (!least || *limit < *least)) least = limit;
  }
  return least;
}

const Cores& cores() {
  static const Cores all = count();
  return all;
}

}  // namespace lugpu
