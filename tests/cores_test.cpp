// The processors that a process may use.
#include "base/cores.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "base/host_memory.hpp"

namespace lugpu {
namespace {

namespace fs = std::filesystem;

/// A folder with files, as the system mounts cgroups.
class Cgroups : public testing::Test {
 protected:
  ~Cgroups() override { fs::remove_all(root); }
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
  const fs::path root = fs::temp_directory_path() / ("lugpu-cgroups-" + std::to_string(getpid()));
};

TEST_F(Cgroups, TheLeastLimitOfVersionTwo) {
  EXPECT_FALSE(cgroup_limit(root, "0::/a/b\n"));
  write("a/b/cpu.max", "max 100000\n");
  EXPECT_FALSE(cgroup_limit(root, "0::/a/b\n"));
  write("cpu.max", "800000 100000\n");
  EXPECT_EQ(cgroup_limit(root, "0::/a/b\n"), 8.0);
  EXPECT_EQ(cgroup_limit(root, "0::/\n"), 8.0);
  write("a/cpu.max", "150000 100000\n");
  EXPECT_EQ(cgroup_limit(root, "0::/a/b\n"), 1.5);
  write("a/b/cpu.max", "50000 25000\n");
  EXPECT_EQ(cgroup_limit(root, "0::/a/b\n"), 1.5);
  EXPECT_EQ(cgroup_limit(root, "0::/\n"), 8.0);
}

TEST_F(Cgroups, TheSmallestLimit) {
  write("cpu.max", "1 100000\n");
  EXPECT_EQ(cgroup_limit(root, "0::/\n"), 1e-5);
}

TEST_F(Cgroups, VersionOne) {
  const std::string groups = "5:cpuset:/a\n4:cpu,cpuacct:/a\n1:memory:/a\n";
  write("cpu/a/cpu.cfs_quota_us", "-1\n");
  write("cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(cgroup_limit(root, groups));
  write("cpu/a/cpu.cfs_quota_us", "300000\n");
  EXPECT_EQ(cgroup_limit(root, groups), 3.0);
  EXPECT_FALSE(cgroup_limit(root, "5:cpuset:/a\n"));
}

TEST_F(Cgroups, WhatIsNoLimit) {
  write("cpu.max", "0 0\n");
  for (const char* groups : {"", "\n", "0:", "nonsense", "0::", "0::/../../..", "0::/"}) {
    EXPECT_FALSE(cgroup_limit(root, groups)) << groups;
  }
  write("cpu.max", "words\n");
  EXPECT_FALSE(cgroup_limit(root, "0::/\n"));
}

TEST_F(Cgroups, MemoryOfVersionTwo) {
  EXPECT_EQ(cgroup_memory(root, "0::/a/b\n").limit, HUGE_VAL);
  write("a/b/memory.max", "max\n");
  EXPECT_EQ(cgroup_memory(root, "0::/a/b\n").left, HUGE_VAL);
  write("a/memory.max", "5000\n");
  write("a/memory.current", "3000\n");
  write("a/memory.stat", "anon 2000\ninactive_file 1000\nactive_file 0\n");
  EXPECT_EQ(cgroup_memory(root, "0::/a/b\n").limit, 5000);
  EXPECT_EQ(cgroup_memory(root, "0::/a/b\n").left, 3000);
  write("a/b/memory.max", "2000\n");
  write("a/b/memory.current", "2500\n");
  EXPECT_EQ(cgroup_memory(root, "0::/a/b\n").limit, 2000);
  EXPECT_EQ(cgroup_memory(root, "0::/a/b\n").left, 0);
  EXPECT_EQ(cgroup_memory(root, "0::/\n").limit, HUGE_VAL);
}

TEST_F(Cgroups, MemoryOfVersionOne) {
  const std::string groups = "5:cpu:/c\n4:memory:/a\n";
  write("memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(cgroup_memory(root, groups).limit, HUGE_VAL);
  write("memory/memory.limit_in_bytes", "4000\n");
  write("memory/memory.usage_in_bytes", "2500\n");
  write("memory/memory.stat", "inactive_file 7\ntotal_inactive_file 500\n");
  EXPECT_EQ(cgroup_memory(root, groups).limit, 4000);
  EXPECT_EQ(cgroup_memory(root, groups).left, 2000);
  EXPECT_EQ(cgroup_memory(root, "5:cpu:/c\n").limit, HUGE_VAL);
}

TEST(CoresOfThisMachine, AreConsistent) {
  const Cores& all = cores();
  EXPECT_GE(all.logical, all.physical);
  EXPECT_GE(all.logical, all.usable);
  EXPECT_GE(all.physical, 1u);
  EXPECT_GE(all.usable, 1u);
  EXPECT_GE(all.numa_nodes, 1u);
}

}  // namespace
}  // namespace lugpu
