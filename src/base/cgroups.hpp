// The control groups that a process is in, by which containers limit it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lugpu {

/// The folders that say what limits a process: that of its own group, and of all that this is in.
/// root: where cgroups are mounted, e.g. /sys/fs/cgroup; groups: the lines of /proc/self/cgroup;
/// controller: of version 1, e.g. "cpu"; version 2 has all in one hierarchy.
std::vector<std::filesystem::path> cgroup_folders(const std::filesystem::path& root,
                                                  const std::string& groups,
                                                  const std::string& controller);

/// The whole text of a file; empty if it cannot be read.
std::string text_of(const std::filesystem::path& path);

}  // namespace lugpu
