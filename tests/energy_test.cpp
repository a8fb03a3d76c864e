// Counters of energy, by files like those of Linux.
#include "bench/energy.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace lugpu {
namespace {

class ProcessorEnergy : public testing::Test {
 protected:
  ProcessorEnergy() {
    std::string name = (std::filesystem::temp_directory_path() / "energyXXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ProcessorEnergy() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& zone, const char* file, unsigned long long number) const {
    std::filesystem::create_directories(folder_ / zone);
    std::ofstream(folder_ / zone / file) << number << '\n';
  }
  void set(const std::string& zone, unsigned long long microjoules) const {
    write(zone, "energy_uj", microjoules);
    write(zone, "max_energy_range_uj", 1000000000);
  }
  EnergyCounter counter() const { return processor_energy(folder_.string()); }

  std::filesystem::path folder_;
};

TEST_F(ProcessorEnergy, IsTheSumOfTheProcessors) {
  set("intel-rapl:0", 5000000);
  set("intel-rapl:1", 7000000);
  set("intel-rapl:0:0", 1000000);  // the cores of processor 0, which counts them
  const EnergyCounter joules = counter();
  ASSERT_TRUE(joules);
  const double start = joules();
  set("intel-rapl:0", 6500000);
  set("intel-rapl:1", 7250000);
  set("intel-rapl:0:0", 9000000);
  EXPECT_DOUBLE_EQ(joules() - start, 1.75);
  EXPECT_DOUBLE_EQ(joules() - start, 1.75);
}

TEST_F(ProcessorEnergy, GoesOnWhereTheCounterStartsAgain) {
  set("intel-rapl:0", 999000000);
  const EnergyCounter joules = counter();
  const double start = joules();
  set("intel-rapl:0", 500000);
  EXPECT_NEAR(joules() - start, 1.5, 1e-12);
}

TEST_F(ProcessorEnergy, IsAbsentWhereNothingCanBeRead) {
  EXPECT_FALSE(counter());
  EXPECT_FALSE(processor_energy((folder_ / "none").string()));
  write("intel-rapl:0", "name", 1);  // no counter
  EXPECT_FALSE(counter());
}

TEST_F(ProcessorEnergy, StandsStillWhereTheFileIsGone) {
  set("intel-rapl:0", 5000000);
  const EnergyCounter joules = counter();
  const double start = joules();
  std::filesystem::remove(folder_ / "intel-rapl:0/energy_uj");
  EXPECT_DOUBLE_EQ(joules(), start);
}

}  // namespace
}  // namespace lugpu
