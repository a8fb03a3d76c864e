// The memory that this process may have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace lugpu {

/// Bytes that the process may have at most: the physical memory, or less where its cgroups or its
/// limits (ulimit -v, -d) say so.
std::uint64_t host_memory();

/// Bytes that it can still get without swapping, by the same limits.
double host_memory_left();

/// Bytes that it has.
double resident_memory();
/// Bytes that it has or can still get: the sum of both, but host_memory() at the most, since what
/// it has may be shared, e.g. code of libraries.
double host_memory_in_reach();
/// Bytes of addresses that it has, used or not.
double address_space();

/// E.g. "34.4 GB", three digits.
std::string gigabytes(double bytes);

/// Bytes that any program can still get without swapping, as the lines of this file tell it (Linux:
/// MemAvailable); infinity if it does not.
double available_memory(const std::string& meminfo = "/proc/meminfo");

/// Bytes, infinity without a limit.
struct GroupMemory {
  double limit, left;
};

/// The least of what the cgroups of a process allow, version 1 or 2; what the system would give up
/// of its copies of files counts as left. root, groups: as of cgroup_folders().
GroupMemory cgroup_memory(const std::filesystem::path& root, const std::string& groups);

/// A sentence if a limit of the process (ulimit -s, -v, -d) is so low that the libraries that it
/// uses crash or wait without end; empty otherwise.
std::string too_low_limit();

}  // namespace lugpu
