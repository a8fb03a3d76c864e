// The processors of this machine, and how many of them this process may use.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace lugpu {

struct Cores {
  unsigned logical = 1;     ///< processors that are online, every hyper-thread counted
  unsigned physical = 1;    ///< cores that they are on
  unsigned numa_nodes = 1;  ///< parts of the machine with memory of their own
  unsigned usable = 1;      ///< logical ones that this process may use at the same time: what its
                            ///< affinity (taskset) and the CPU limits of its cgroups leave
};

/// As the system says when this is first called.
const Cores& cores();

/// How many processors' time the cgroups of a process may take, the least of their limits; absent
/// without a limit. root: where cgroups are mounted, e.g. /sys/fs/cgroup; groups: the lines of
/// /proc/self/cgroup. Version 2 (cpu.max) and version 1 (cpu.cfs_quota_us).
std::optional<double> cgroup_limit(const std::filesystem::path& root, const std::string& groups);

}  // namespace lugpu
